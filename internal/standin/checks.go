package standin

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// GitHub's limits on commit statuses. That a long description is refused: palantir/policy-bot#72; a long context: runatlantis/atlantis#2506.
// https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
const (
	maxStatuses    = 1000 // of one commit and context
	maxDescription = 140  // characters
	maxContext     = 255  // characters
)

// AddStatus puts a commit status on a commit, reported by s.By, and gives it as it stands there.
func (r *Repo) AddStatus(s Status) (Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.git.Commit(s.SHA)
	if err != nil {
		return Status{}, Refuse(http.StatusUnprocessableEntity, msgNoCommit, s.SHA)
	}
	s.Context = cmp.Or(s.Context, "default")
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, s.State) {
		return Status{}, invalidField("Status", "state", "invalid")
	}
	if utf8.RuneCountInString(s.Description) > maxDescription {
		return Status{}, invalid("Status", msgLongDescription)
	}
	if utf8.RuneCountInString(s.Context) > maxContext {
		return Status{}, invalid("Status", msgLongContext)
	}
	n := 0
	for _, old := range r.statuses[c.SHA] {
		if strings.EqualFold(old.Context, s.Context) {
			n++
		}
	}
	if n >= maxStatuses {
		return Status{}, invalid("Status", msgTooManyStatuses)
	}
	r.g.meet(s.By)
	s.ID, s.At, s.SHA = r.g.nextID(), r.g.Now(), c.SHA
	r.statuses[c.SHA] = append(r.statuses[c.SHA], s)
	r.notify(Event{Name: "status", By: s.By, Status: &s})
	r.autoMerge()
	return s, nil
}

// SetCheck puts a check run on a commit, reported by the App c.App, or changes its run of that name.
func (r *Repo) SetCheck(c Check) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.git.Commit(c.SHA); err != nil {
		return Refuse(http.StatusUnprocessableEntity, msgNoCommit, c.SHA)
	}
	c.Status = cmp.Or(c.Status, "completed")
	r.g.meet(c.App)
	list := slices.Clone(r.checks[c.SHA])
	at := slices.IndexFunc(list, func(o Check) bool { return o.App.App == c.App.App && o.Name == c.Name })
	c.At = r.g.Now()
	if at >= 0 {
		list[at] = c
	} else {
		list = append(list, c)
	}
	r.checks[c.SHA] = list
	r.notifyCheck(c)
	r.autoMerge()
	return nil
}

// Reports are what was reported on a commit.
type Reports struct {
	Statuses []Status // each context's newest, in the order in which the contexts first appeared; those that differ only in case are one
	Checks   []Check
}

// Reports has what was reported on a commit up to an instant; zero: now. Of a check run that was changed meanwhile there is nothing.
func (r *Repo) Reports(sha string, until time.Time) Reports {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reports(sha, until)
}

// reports is Reports; the caller holds r.mu.
func (r *Repo) reports(sha string, until time.Time) (on Reports) {
	shows := func(at time.Time) bool { return until.IsZero() || !at.After(until) }
	at := map[string]int{}
	for _, s := range r.statuses[sha] {
		key := strings.ToLower(s.Context)
		switch i, ok := at[key]; {
		case !shows(s.At):
		case ok:
			on.Statuses[i] = s
		default:
			at[key] = len(on.Statuses)
			on.Statuses = append(on.Statuses, s)
		}
	}
	for _, c := range r.checks[sha] {
		if shows(c.At) {
			on.Checks = append(on.Checks, c)
		}
	}
	return on
}

// The states of a required check that is not green, in GitHub's words.
const (
	stateExpected   = "expected"
	statePending    = "pending"
	stateInProgress = "in progress"
	stateFailing    = "failing"
)

type badCheck struct{ context, state string }

// missing lists the required checks that are not green. A status and a check run of one name must both be green, and one that is bound
// to an App counts only from that App.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (on Reports) missing(required []RequiredCheck) []badCheck {
	var bad []badCheck
	for _, want := range required {
		state := on.joined(func(context string, by Actor) bool {
			return strings.EqualFold(context, want.Context) && (want.App == 0 || by.App == want.App)
		})
		if state != "" {
			bad = append(bad, badCheck{want.Context, state})
		}
	}
	return bad
}

// joined joins the statuses and check runs that count.
func (on Reports) joined(counts func(context string, by Actor) bool) (state string) {
	state = stateExpected
	for _, s := range on.Statuses {
		if counts(s.Context, s.By) {
			state = worse(state, ofStatus(s.State))
		}
	}
	for _, c := range on.Checks {
		if counts(c.Name, c.App) {
			state = worse(state, ofCheck(c))
		}
	}
	return state
}

// worse joins what was found so far with one more report; stateExpected means that there was none yet.
func worse(sofar, next string) string {
	if sofar == stateExpected || sofar == "" || next == stateFailing {
		return next
	}
	return sofar
}

func ofStatus(state string) string {
	switch state {
	case "success":
		return ""
	case "pending":
		return statePending
	}
	return stateFailing
}

func ofCheck(c Check) string {
	if c.Status != "completed" {
		return stateInProgress
	}
	if slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion) {
		return ""
	}
	return stateFailing
}

// Rollup is all of them combined, in GraphQL's words; "" if there are none.
func (on Reports) Rollup() string {
	switch on.joined(func(string, Actor) bool { return true }) {
	case stateExpected:
		return ""
	case "":
		return "SUCCESS"
	case stateFailing:
		return "FAILURE"
	}
	return "PENDING"
}
