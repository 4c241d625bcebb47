package standin

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// GitHub's limits on commit statuses. That a long description is refused: palantir/policy-bot#72; a long context: runatlantis/atlantis#2506.
// https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
const (
	maxStatuses    = 1000 // of one commit and context
	maxDescription = 140  // characters
	maxContext     = 255  // characters
)

// setStatus adds a status; the caller holds r.mu.
func (r *Repo) setStatus(s Status) (Status, error) {
	c, err := r.git.commit(s.SHA)
	if err != nil {
		return Status{}, refuse(http.StatusUnprocessableEntity, msgNoCommit, s.SHA)
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
	for _, old := range r.statuses[c.sha] {
		if strings.EqualFold(old.Context, s.Context) {
			n++
		}
	}
	if n >= maxStatuses {
		return Status{}, invalid("Status", msgTooManyStatuses)
	}
	r.g.meet(s.By)
	s.ID, s.At, s.SHA = r.g.nextID(), r.g.now(), c.sha
	r.statuses[c.sha] = append(r.statuses[c.sha], s)
	r.sendStatus(s)
	r.autoMerge()
	return s, nil
}

// setCheck adds a check run, or changes the one of that App and name; the caller holds r.mu.
func (r *Repo) setCheck(c Check) error {
	if _, err := r.git.commit(c.SHA); err != nil {
		return refuse(http.StatusUnprocessableEntity, msgNoCommit, c.SHA)
	}
	c.Status = cmp.Or(c.Status, "completed")
	r.g.meet(c.App)
	list := slices.Clone(r.checks[c.SHA])
	at := slices.IndexFunc(list, func(o Check) bool { return o.App.App == c.App.App && o.Name == c.Name })
	c.At = r.g.now()
	if at >= 0 {
		list[at] = c
	} else {
		list = append(list, c)
	}
	r.checks[c.SHA] = list
	r.sendCheck(c)
	r.autoMerge()
	return nil
}

// completedAt is when a run ended; nil if it did not.
func (c Check) completedAt() any {
	if c.Status != "completed" {
		return nil
	}
	return timeOrNil(c.At)
}

// latest is each context's newest status on a commit, in the order in which the contexts first appeared; the caller holds
// r.mu. Contexts that differ only in case are one.
func (r *Repo) latest(sha string) []Status {
	var list []Status
	at := map[string]int{}
	for _, s := range r.statuses[sha] {
		key := strings.ToLower(s.Context)
		if i, ok := at[key]; ok {
			list[i] = s
			continue
		}
		at[key] = len(list)
		list = append(list, s)
	}
	return list
}

// The states of a required check that is not green, in GitHub's words.
const (
	stateExpected   = "expected"
	statePending    = "pending"
	stateInProgress = "in progress"
	stateFailing    = "failing"
)

type badCheck struct{ context, state string }

// missing lists the required checks that are not green on a commit; the caller holds r.mu. A status and a check run of one
// name must both be green, and one that is bound to an App counts only from that App.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (r *Repo) missing(required []RequiredCheck, sha string) []badCheck {
	var bad []badCheck
	for _, want := range required {
		state := r.reported(sha, func(context string, by Actor) bool {
			return strings.EqualFold(context, want.Context) && (want.App == 0 || by.App == want.App)
		})
		if state != "" {
			bad = append(bad, badCheck{want.Context, state})
		}
	}
	return bad
}

// reported joins the statuses and check runs of a commit that count; the caller holds r.mu.
func (r *Repo) reported(sha string, counts func(context string, by Actor) bool) (state string) {
	state = stateExpected
	for _, s := range r.latest(sha) {
		if counts(s.Context, s.By) {
			state = worse(state, ofStatus(s.State))
		}
	}
	for _, c := range r.checks[sha] {
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

// rollup is a commit's checks and statuses combined, in GraphQL's words; "" if there are none. The caller holds r.mu.
func (r *Repo) rollup(sha string) string {
	switch r.reported(sha, func(string, Actor) bool { return true }) {
	case stateExpected:
		return ""
	case "":
		return "SUCCESS"
	case stateFailing:
		return "FAILURE"
	}
	return "PENDING"
}
