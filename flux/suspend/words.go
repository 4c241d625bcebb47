package suspend

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// All words that people read.

// String is an event on one line.
func (e Event) String() string {
	return e.Cluster + ": " + e.Kustomization + " " + e.verb() + ": " + e.Reason
}

func (e Event) verb() string {
	state := "not suspended"
	if e.Suspend {
		state = "suspended"
	}
	switch {
	case e.Problem != "":
		return "unchanged"
	case e.Observed && e.Changed:
		return "would be " + state
	case e.Changed && e.Suspend:
		return "suspended"
	case e.Changed:
		return "resumed"
	}
	return "is " + state
}

// reasonOpen is why a target is not suspended.
func reasonOpen(t Target, until time.Time, zone *time.Location) string {
	if until.IsZero() {
		return "released by " + named(t.Windows)
	}
	return "released by " + named(t.Windows) + " until " + plan.Clock(until, zone)
}

// reasonClosed is why a target is suspended: the words that the service has for a pull request.
func reasonClosed(closed []window.Name, st window.State, until time.Time, zone *time.Location) string {
	out := "held by " + named(closed)
	if st.FrozenBy != "" {
		out += ", frozen by " + plan.Clean(st.FrozenBy)
	}
	if until.IsZero() {
		return out + ": no opening scheduled"
	}
	out += " until " + plan.Clock(until, zone)
	if st.Open && st.FrozenBy == "" && len(closed) == 1 {
		out += ": inside the cutoff before the close"
	}
	return out
}

func named(names []window.Name) string { return strings.Join(config.Strings(names), " and ") }

func reasonFile(err error) string { return "held: " + plan.Clean(err.Error()) }

func reasonUnknown(name window.Name, near string) string {
	out := fmt.Sprintf("held: the file has no window %q", plan.Clean(string(name)))
	if near != "" {
		out += "; did you mean " + near + "?"
	}
	return out
}

// reasonClock says that the clocks disagree. It names no difference: that changes all the time.
func reasonClock(date time.Time) string {
	if date.IsZero() {
		return "held: the API server does not say what time it is"
	}
	return "held: this machine's clock is more than " + MaxSkew.String() + " off the API server's"
}

// wordsOfRefusal begin the reason for an answer of the API server that is about one Kustomization, by its code. Every other one is about the
// server.
var wordsOfRefusal = map[int32]string{http.StatusNotFound: "not found: ", http.StatusForbidden: "forbidden: ", http.StatusConflict: "in conflict: "}
