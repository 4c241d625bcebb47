package budget

import (
	"math"
	"slices"
	"time"
)

const (
	// Quantum is how much a flow saves in a turn at least: a page of pull requests read in full, so that most looks begin after one turn.
	Quantum = 15
	// burstShare is the part of the rest of an hour that bursts may spend ahead of time, before what is asked for comes as far apart as what is left of
	// it needs: a quarter.
	burstShare = 4
)

// Flow is who takes from an hour, in turns: looks at a repository.
type Flow struct {
	Price float64 // what it needs to go on
	Saved float64 // of that; less than nothing: what it took before cost more than it was taken to
	round float64 // from which on it may have its next turn
}

// Lacks is what a flow has to save yet before it may go on.
func (f *Flow) Lacks() float64 {
	if missing := f.Price - f.Saved; missing > 1e-6 { // less is a rounding
		return missing
	}
	return 0
}

// Saved is what flows have saved, and not spent yet.
func Saved(flows []*Flow) (all float64) {
	for _, f := range flows {
		all += max(0, f.Saved)
	}
	return all
}

// Share is one account's hour of an installation, as it is shared out among flows: deficit round robin.
type Share struct {
	Each  float64 // seconds until one more may be spent; 0: nobody has to wait; +Inf: not before the next hour
	Free  float64 // may be spent now, and belongs to nobody yet
	round float64
	turn  *Flow   // whose turn it is; nil: the last one is over
	had   float64 // in its turn
}

// Refill adds what has become free for some time, of an hour of which so much is shared out and not spent.
func (s *Share) Refill(q Quota, out float64, since time.Duration, now time.Time) {
	if s.Each > 0 {
		s.Free = min(s.Free+since.Seconds()/s.Each, burst(q, out, now))
	} else {
		s.Free = 0
	}
	s.Each = apart(q, out+s.Free, now)
}

// apart is how many seconds after one point, or request, the next may be spent: the rest of the hour, shared out among what is left but for
// the reserve and what is shared out already. Of that nothing is kept until half of a burstShare is missing of an hour spent evenly, and all of it
// once a burstShare is. So a burst after quiet is answered at once.
func apart(b Quota, out float64, now time.Time) float64 {
	rest, left := b.Renewed.Sub(now), spare(b)-out
	switch {
	case b.Renewed.IsZero() || b.Limit <= 0 || rest <= 0:
		return 0
	case left <= 0:
		return math.Inf(1)
	}
	ahead := 1 - left/even(b, now)
	return rest.Seconds() * max(0, min(1, 2*burstShare*ahead-1)) / left
}

// burst is the most that may be free at once, however long nobody wanted it: as much as leaves no more than a burstShare missing of an hour spent
// evenly; a turn always may, as far as it is there.
func burst(b Quota, out float64, now time.Time) float64 {
	left := spare(b) - out
	return max(0, min(left, max(Quantum, left-even(b, now)*(1-1./burstShare))))
}

// spare is what is left but for the reserve, and even what would be in an hour spent evenly.
func spare(b Quota) float64 { return float64(b.Left - EventReserve(b.Limit)) }

func even(b Quota, now time.Time) float64 {
	return float64(b.Limit-EventReserve(b.Limit)) * b.Renewed.Sub(now).Hours()
}

// Give shares out what is free, round by round, until nobody lacks anything or nothing is left. In a round each has one turn, who waits the longest
// first. Who comes joins the round that is under way, however long ago its last turn was.
func (s *Share) Give(waiting []*Flow) {
	if s.Free <= 0 {
		return
	}
	sated := func(f *Flow) bool { return f.Lacks() == 0 }
	lacking := slices.DeleteFunc(slices.Clone(waiting), sated)
	if s.turn != nil && slices.Contains(lacking, s.turn) {
		s.save(turnOf(lacking)) // less than it began with, if who came meanwhile is cheaper
	}
	for lacking = slices.DeleteFunc(lacking, sated); s.Free > 0 && len(lacking) > 0; lacking = slices.DeleteFunc(lacking, sated) {
		turn, least := turnOf(lacking), math.Inf(1)
		for _, f := range lacking {
			least = min(least, f.round)
		}
		s.round = max(s.round, least)
		for _, f := range lacking {
			if s.Free > 0 && f.round <= s.round {
				s.turn, s.had = f, 0
				s.save(turn)
			}
		}
	}
}

// turnOf is how much one may save in a turn: a Quantum, or as much as the cheapest needs. So where all are dear they begin one after the other.
func turnOf(lacking []*Flow) float64 {
	least := math.Inf(1)
	for _, f := range lacking {
		least = min(least, f.Price)
	}
	return max(Quantum, least)
}

// save goes on with a turn of some size. One of several quanta counts for as many rounds. Who needs no more of it leaves the rest to others.
func (s *Share) save(turn float64) {
	f := s.turn
	some := max(0, min(turn-s.had, s.Free, f.Lacks()))
	f.Saved, s.Free, s.had = f.Saved+some, s.Free-some, s.had+some
	f.round = s.round + max(1, s.had/Quantum)
	if f.Lacks() == 0 {
		s.turn = nil
	}
}

// Pool gives the first for whom it suffices what the others saved, the last first, if nobody can begin: else many dear ones beside a cheap one would
// save up the hour, and none have its price.
func Pool(waiting, all []*Flow) {
	if slices.ContainsFunc(waiting, func(f *Flow) bool { return f.Lacks() == 0 }) {
		return
	}
	saved := Saved(all)
	i := slices.IndexFunc(waiting, func(f *Flow) bool { return f.Lacks()+max(0, f.Saved) <= saved })
	if i < 0 {
		return
	}
	first := waiting[i]
	for _, f := range slices.Backward(all) {
		if f != first {
			some := max(0, min(f.Saved, first.Lacks()))
			f.Saved, first.Saved = f.Saved-some, first.Saved+some
		}
	}
}
