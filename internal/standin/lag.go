package standin

import (
	"slices"
	"time"
)

// GitHub's reads lag its webhooks now and then: a read that comes after an event may show what was before it.

// SetLag makes reads show pull requests, branches, statuses and check runs as they were so long ago; webhooks and writes do not lag. Of a
// check run that was changed meanwhile they show nothing. 0: as they are.
func (g *GitHub) SetLag(d time.Duration) {
	g.mu.Lock()
	repos := slices.Clone(g.repos)
	g.mu.Unlock()
	for _, r := range repos {
		r.mu.Lock()
		for _, p := range r.pulls {
			r.past = append(r.past, pastPull{r.g.Now().Add(-d), *p})
		}
		r.mu.Unlock()
	}
	g.lag.Store(int64(d))
}

// HidePull keeps reads from showing a pull request, as GitHub does with what it takes for spam. Its webhooks are sent.
func (r *Repo) HidePull(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hidden[n] = true
}

// pastPull is how a pull request was from an instant on.
type pastPull struct {
	at time.Time
	Pull
}

// remember keeps how a pull request is now for reads that lag; the caller holds r.mu.
func (r *Repo) remember(p *Pull) {
	if r.g.lag.Load() > 0 {
		r.past = append(r.past, pastPull{r.g.Now(), *p})
	}
}

// AsOf is the instant that a query sees; zero: now.
func (g *GitHub) AsOf() time.Time {
	if d := time.Duration(g.lag.Load()); d > 0 {
		return g.Now().Add(-d)
	}
	return time.Time{}
}

// PullsAt are the pull requests that reads showed at an instant, zero: show, by number.
func (r *Repo) PullsAt(t time.Time) []Pull {
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := make([]Pull, 0, len(r.pulls))
	for _, p := range r.pulls {
		if was, ok := r.pullAt(p.Number, t); ok {
			shown = append(shown, was)
		}
	}
	return shown
}

// PullAt is a pull request as reads showed it at an instant, zero: now; false if they did not.
func (r *Repo) PullAt(n int, t time.Time) (Pull, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pullAt(n, t)
}

func (r *Repo) pullAt(n int, t time.Time) (Pull, bool) {
	p, err := r.pull(n)
	if err != nil || r.hidden[n] || !t.IsZero() && p.CreatedAt.After(t) {
		return Pull{}, false
	}
	if !t.IsZero() {
		for _, was := range slices.Backward(r.past) {
			if was.Number == n && !was.at.After(t) {
				return was.Pull, true
			}
		}
	}
	return *p, true
}

// TipAt is where a branch was at an instant; zero: where it is.
func (r *Repo) TipAt(branch string, t time.Time) (string, error) {
	if !t.IsZero() {
		for _, m := range r.Moves() {
			if m.Branch == branch && m.At.After(t) {
				return m.Before, nil
			}
		}
	}
	return r.git.Tip("refs/heads/" + branch)
}
