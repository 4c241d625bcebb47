package client

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicegate/sluice/budget"
)

// maxReason is how long a reason may be, in runes. GitHub's messages are shorter.
const maxReason = 300

// What people read when the client speaks itself, not GitHub.
const (
	wordPace        = "waiting to stay within GitHub's rate limit per minute"
	wordHour        = "the rest of GitHub's hourly rate limit is reserved for openings"
	wordLimit       = "GitHub's rate limit for this installation is reached"
	wordSuspended   = "the App's installation is suspended"
	wordUninstalled = "the App is not installed there"
	wordNotThere    = "not found, or not accessible to the App"
	wordTooLong     = "GitHub's answer is too long"
	wordNoAnswer    = "no answer from GitHub"
	wordUnreadable  = "cannot read GitHub's answer"
	wordEmpty       = "GitHub's answer is empty"
	wordRedirect    = "GitHub redirects to another host"
	wordShortList   = "GitHub lists fewer entries than it counts"
	wordUnnamed     = "an unnamed field"
)

// wordsOfKind is what the log calls a kind whose name is not what people say.
var wordsOfKind = map[Kind]string{Transient: "temporary error", Limited: "rate limited"}

// wordsOfCause says why a request is not sent.
var wordsOfCause = map[budget.Cause]string{budget.GitHubs: wordLimit, budget.HourSpent: wordHour, budget.MinuteFull: wordPace}

// What is wrong for everybody; %s is the address that was set.
const (
	setupKey    = "GitHub rejects the App: check github.app_id and the private key"
	setupNoAPI  = "no GitHub API at %s; an Enterprise Server's ends in /api/v3"
	setupSilent = "no answer from GitHub at %s"
)

// sayAllowPush adds the way out to what GitHub says of a move that it refused.
func sayAllowPush(reason string) string {
	return cmp.Or(strings.TrimRight(reason, "."), "no reason given") + "; allow sluice's App to push to it"
}

// GitHub's prose is looked at in this table and nowhere else: answers whose status code means several things.
var (
	// 405 to a merge: GitHub itself asks to try again (cli/cli#8092).
	phrasesTransient = []string{"base branch was modified", "head branch was modified", "merge already in progress"}
	// 409 to a merge, and final until the head is updated: the base demands that it is up to date.
	phrasesOutdated = []string{"head branch is out of date"}
	// 422 to a deletion: somebody was quicker. A protected branch is refused by 422 too.
	phrasesAbsent = []string{"reference does not exist"}
	// 403 without any header: secondary limits come so.
	phrasesLimited = []string{"secondary rate limit", "abuse detection", "api rate limit exceeded", "api rate limit already exceeded"}
	// 403 to a token request or to anything after it.
	phrasesSuspended = []string{"suspended"}
	// 404 to the App's own key: there is no App of that id.
	phrasesUnknownApp = []string{"integration not found"}
	// GraphQL errors without a type: the query took too long or was too large.
	phrasesHeavy = []string{"timeout", "timed out", "something went wrong while executing your query", "couldn't respond"}
)

// docLimited is how the address ends to which GitHub sends who met a secondary limit, whatever its message is.
const docLimited = "secondary-rate-limits"

// says reports whether a message holds one of some phrases.
func says(message string, phrases []string) bool {
	m := strings.ToLower(message)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(m, p) })
}

// secret is what a token or signed key looks like. A proxy may echo what it was sent.
var secret = regexp.MustCompile(`gh[a-z]_[A-Za-z0-9_]+|github_pat_[A-Za-z0-9_]+|v1\.[0-9a-f]{40}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+`)

// OneLine makes foreign text fit for a log: one line, no control characters nor marks of
// direction, no secrets, bounded.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = secret.ReplaceAllString(strings.Join(strings.Fields(text), " "), "***")
	return Cut(text, maxReason)
}

// Cut shortens a text to n runes.
func Cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
