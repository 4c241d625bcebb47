package web

import (
	"fmt"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// The words that Go puts on the page; the others stand in page.html.
const (
	saysForeign     = "This page is not served under this host name. Set public_url (SLUICE_PUBLIC_URL) to the URL at which people reach it, or open it on localhost.\n"
	saysNoLogin     = "This page shows private repositories: beyond this machine it takes a log-in. Set public_url, github.client_id and github.client_secret_file, or open it on localhost.\n"
	saysLogIn       = "Log in with GitHub: you see the repositories that GitHub lets you read."
	saysRefused     = "You are not logged in: GitHub did not confirm it. Go back and try again.\n"
	saysNotAsked    = "GitHub cannot be asked what you may read, so nothing is shown. Reload the page."
	saysCrossOrigin = "This was sent by another page.\n"
	saysNoOrder     = "Nothing was written: it takes the commit, and a reason on one line.\n"
	saysUnwritten   = "Nothing was written, or it is not known: %s\n"
	saysBusy        = "The page is busy. Reload it."
	saysUnread      = "Cannot read the database, so nothing is shown. See the log."
	saysSlow        = "Reading the database takes too long: only the first %d repositories by name are shown."
	saysUndrawn     = "Cannot render the page. See the log.\n"
	logsUnread      = "cannot read pages"
	logsUndrawn     = "cannot render the page"
	logsPanic       = "panic while rendering a page"
	logsNotAsked    = "cannot ask GitHub what somebody may read"
	logsNoLogin     = "somebody could not log in"
	saysNow         = "now"
	saysUnknown     = "There is nothing here: it does not exist, sluice does not know it yet, or GitHub does not let you read it."
	saysNone        = "Not open, or not reconciled yet: sluice has no verdict on it now."

	saysNoInstant  = "%s is not a time: use 2026-11-23T22:00, or 2026-11-23T22:00:00Z"
	saysNoCalendar = "when the windows are open is not known: the file of the default branch is missing or invalid, or was not read since the service began"
	saysTip        = "tip"
)

// wordsOfKind explains a verdict in one line, for the legend.
var wordsOfKind = map[plan.Kind]string{
	plan.Blocked:    "needs action",
	plan.Waiting:    "waiting for checks, a review or GitHub",
	plan.Overridden: "released by an override",
	plan.Release:    "released now",
	plan.Held:       "not released yet: the reason says why",
	plan.Ignored:    "neither held nor merged by sluice",
	plan.Failed:     "Flux failed to apply it",
	plan.Due:        "moving now",
	plan.Current:    "up to date",
	plan.Applied:    "up to date, and applied by Flux",
}

// wordsOfDistance is how far an instant is from now, coarse: "in 3 h 20 min", "2 d ago".
func wordsOfDistance(t, now time.Time) string {
	d := t.Sub(now)
	past := d < 0
	if past {
		d = -d
	}
	text := wordsOfSpan(d)
	switch {
	case text == "":
		return saysNow
	case past:
		return text + " ago"
	}
	return "in " + text
}

// wordsOfSpan is a length of time in its two largest units; "" if it is under a second.
func wordsOfSpan(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day && d%time.Hour < time.Minute:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d%day < time.Hour:
		return fmt.Sprintf("%d d", d/day)
	}
	return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
}
