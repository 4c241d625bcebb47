package plan

import "time"

// What the two packages that decide share: how old and how far off an observation may be, tables of rules, alarms, and who else writes
// under our name.

const (
	// FreshFor is how long an observation carries writes.
	FreshFor = 30 * time.Second
	// MaxSkew is how far our clock may be off GitHub's before "now" is not known, and nothing is released.
	MaxSkew = 30 * time.Second
	// LookAgain is after how long it is worth another look at what was not known.
	LookAgain = time.Minute
)

// ClockOff reports whether our clock is too far off GitHub's.
func (s *Snapshot) ClockOff() bool { return s.Skew.Abs() > MaxSkew }

// Rule is one line of a table of verdicts: it applies to a case and gives the ruling, or the next one is tried.
type Rule[Case, Ruling any] func(Case) (Ruling, bool)

// First is the ruling of the first rule that applies to a case; if none does, that of last.
func First[Case, Ruling any](rules []Rule[Case, Ruling], c Case, last func(Case) Ruling) Ruling {
	for _, r := range rules {
		if got, ok := r(c); ok {
			return got
		}
	}
	return last(c)
}

// Grouped is all values by a key, those with one key together, in the order of the first of each.
func Grouped[K comparable, V any](all []V, key func(V) K) [][]V {
	var out [][]V
	index := map[K]int{}
	for _, v := range all {
		k := key(v)
		i, known := index[k]
		if !known {
			i = len(out)
			index[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], v)
	}
	return out
}

// Alarm collects the instants after At at which to decide again.
type Alarm struct {
	At         time.Time
	Wake, Look time.Time // as of Plan
}

// WakeAt records that a verdict may change at t by time alone. A zero or past t says nothing.
func (a *Alarm) WakeAt(t time.Time) {
	if t.After(a.At) {
		a.Wake = Soonest(a.Wake, t)
	}
}

// LookAt records that another look is worth it at t, which may be at once. A zero or past t says nothing.
func (a *Alarm) LookAt(t time.Time) {
	if !t.Before(a.At) {
		a.Look = Soonest(a.Look, t)
	}
}

// NextDay is when a calendar, which looks a bounded time ahead, counted from the UTC day, may see further.
func NextDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// Place is where GitHub keeps one status.
type Place struct {
	SHA     SHA
	Context Context // folded
}

// PlaceOf is the place of a status under a context, in whatever case.
func PlaceOf(sha SHA, context Context) Place { return Place{sha, context.Folded()} }

const (
	// maxRepairs is how often in repairsWithin a status that somebody else set under our name is put right on one commit.
	maxRepairs    = 5
	repairsWithin = time.Hour
)

// Fight is what somebody else did lately to statuses of ours.
type Fight struct {
	By      Login     // of several the first by name
	End     time.Time // when the first of the repairs is forgotten
	repairs int       // on the commit where there were most
}

// Fights are the places where statuses of ours were put right lately; those without a commit are those of a context on all commits.
type Fights map[Place]Fight

// Fights counts the repairs that the store remembers.
func (s *Snapshot) Fights() Fights {
	out := Fights{}
	for _, r := range s.Repairs {
		if s.At.Sub(r.At) >= repairsWithin {
			continue
		}
		n := out[PlaceOf(r.SHA, r.Context)].repairs + 1
		for _, at := range []Place{PlaceOf(r.SHA, r.Context), PlaceOf("", r.Context)} {
			v := out[at]
			v.repairs, v.End = max(v.repairs, n), Soonest(v.End, r.At.Add(repairsWithin))
			if v.By == "" || r.By < v.By {
				v.By = r.By
			}
			out[at] = v
		}
	}
	return out
}

// Lost reports whether somebody else set our status on a commit, or on any one if sha is "", as often as it is put right.
func (f Fights) Lost(sha SHA, context Context) (Fight, bool) {
	if len(f) == 0 {
		return Fight{}, false
	}
	v := f[PlaceOf(sha, context)]
	return v, v.repairs >= maxRepairs
}

// Correct is the write that makes of what stands at a place what is wanted; false if none is needed. Only a success of ours is taken back:
// that of somebody else is put right, which they can make necessary without end.
func (f Fights) Correct(want SetStatus, ours []Status, us Login) (SetStatus, bool) {
	now, exists := Latest(ours)
	mine := exists && now.By == us
	if _, lost := f.Lost(want.SHA, want.Context); lost && !mine {
		return SetStatus{}, false // left to the other writer; what is ours is still kept right
	}
	if mine && now.State == want.State && now.Description == want.Description {
		return SetStatus{}, false
	}
	if exists && !mine {
		want.Repairs = now.By
	}
	want.Withdraws = mine && now.State == Success && want.State != Success
	return want, true
}
