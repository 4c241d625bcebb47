package plan

import (
	"cmp"
	"slices"
	"time"
)

// How many successes may stand until an instant is a question of admission: those that stand are to be taken back from their end on, one
// status each, at the pace that GitHub takes, before half of the time to their windows' close is over. Whether all of them can be is known
// beforehand (demand bound of earliest deadline first): in no interval may more have to be begun and done than the pace has room for.
// So what has hardly any time, as of a window with a cutoff of a second, takes room within that second alone.

// Terms are what the room of one installation depends on beside the debts, each as of Snapshot.
type Terms struct {
	At      time.Time
	Budget  int
	Hour    Hour
	Sharers int
	Lacking bool
}

// Shortage is why there is no room for one more success.
type Shortage int

// What may be short.
const (
	NoShortage Shortage = iota
	OfHour              // no more than half of the hour's requests may be bound to be spent on taking back
	OfPace              // it could not be taken back in time, or another one could not
	OfShare             // the repository has its equal share, and another one lacks some of its own
)

const (
	// hourShare is the part of an hour's requests that may be bound to be spent on paying debts: half.
	hourShare = 2
	// reviewCost is how many statuses GitHub takes in the time of one review, and reviewsHour how many minutes' statuses it takes reviews in an hour. Of reviews
	// and merges together it takes 80 a minute and 500 an hour, and half of those may be bound to be spent on taking approvals back.
	reviewCost, reviewsHour = 3, 2
)

// Room is how many more successes that an instant ends may stand beside those that do, in all repositories of an installation: GitHub's pace
// is that of all. What is due is not among them: nothing opens before it is paid.
type Room struct {
	terms              Terms
	all, own           demand
	reviews            demand        // of all, those that are reviews
	ending, dismissing map[int64]int // all, and reviews, by GitHub's hour
}

// NewRoom is room in which nothing stands.
func NewRoom(t Terms) *Room {
	r := &Room{terms: t, ending: map[int64]int{}, dismissing: map[int64]int{}}
	if t.Budget > 0 {
		r.all.each = max(1, time.Minute/time.Duration(t.Budget))
		r.own.each = r.all.each * time.Duration(max(1, t.Sharers))
		r.reviews.each = r.all.each * reviewCost
	}
	return r
}

// Terms are those of a snapshot.
func (s *Snapshot) Terms() Terms {
	return Terms{At: s.At, Budget: s.Budget, Hour: s.Hour, Sharers: s.Sharers, Lacking: s.Lacking}
}

// Add counts a debt of the repository itself.
func (r *Room) Add(d Debt) {
	if !d.Due(r.terms.At) {
		r.own.add(r.job(d))
	}
	r.AddOther(d)
}

// AddOther counts a debt of another repository of the installation.
func (r *Room) AddOther(d Debt) {
	if d.Due(r.terms.At) {
		return
	}
	r.all.add(r.job(d))
	r.ending[r.hour(d.Ends)]++
	if _, review := d.Context.Approves(); review {
		r.reviews.add(r.job(d))
		r.dismissing[r.hour(d.Ends)]++
	}
}

// Lacks says what is short for one more success of the repository.
func (r *Room) Lacks(d Debt) Shortage {
	hour := r.hour(d.Ends)
	requests := r.terms.Hour.Limit
	if hour == 0 && !r.terms.Hour.Renewed.IsZero() {
		requests = r.terms.Hour.Left
	}
	_, review := d.Context.Approves()
	limited := r.terms.Budget > 0 || !r.terms.Hour.Renewed.IsZero() // an Enterprise Server may have no limits
	switch {
	case limited && r.terms.Hour.Limit > 0 && r.ending[hour] >= requests/hourShare:
		return OfHour
	case review && r.terms.Budget > 0 && r.dismissing[hour] >= reviewsHour*r.terms.Budget:
		return OfHour
	case !r.all.fits(r.job(d)), review && !r.reviews.fits(r.job(d)):
		return OfPace
	case r.terms.Lacking && !r.InShare(d):
		return OfShare
	}
	return NoShortage
}

// InShare reports whether one more success is within the repository's equal share: it could be taken back in time, with those that stand, at
// an equal part of the pace.
func (r *Room) InShare(d Debt) bool { return r.own.fits(r.job(d)) }

// hour numbers GitHub's hours: the present one is 0.
func (r *Room) hour(end time.Time) int64 {
	if r.terms.Hour.Renewed.IsZero() {
		return int64(max(0, end.Sub(r.terms.At)) / time.Hour)
	}
	return int64((max(0, end.Sub(r.terms.Hour.Renewed)) + time.Hour - 1) / time.Hour)
}

// job is a debt as a server has it: released at its end, and with a deadline. n is 0 of one that is not to be paid by an instant.
func (r *Room) job(d Debt) job {
	if d.Ends.IsZero() || d.Cutoff <= 0 || d.Ends.Sub(r.terms.At) > foreseeable {
		return job{}
	}
	from := d.Ends.Sub(r.terms.At)
	return job{from: from, to: d.Deadline().Sub(r.terms.At), n: 1}
}

// longAgo is before all instants.
const longAgo = -1 << 62

// foreseeable is how far ahead ends are counted: what ends later, as in the year 9999, is of no concern.
const foreseeable = 100 * 365 * 24 * time.Hour

// job is n payments that may begin at one instant and have one deadline.
type job struct {
	from, to time.Duration
	n        int
}

func (j job) compare(other job) int {
	return cmp.Or(cmp.Compare(j.from, other.from), cmp.Compare(j.to, other.to))
}

// demand is what a server has to do that takes so long for each; 0: it takes no time.
type demand struct {
	each time.Duration
	jobs []job // in order, each of other instants
}

func (m *demand) add(j job) {
	if j.n == 0 || m.each == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(m.jobs, j, job.compare)
	if !found {
		m.jobs = slices.Insert(m.jobs, i, job{from: j.from, to: j.to})
	}
	m.jobs[i].n += j.n
}

// fits reports whether one more job leaves enough time: with it, no more is to be done between any instant from which on something may begin
// and any deadline, where its own time is within, than takes that long. Of n jobs it takes n, and k·log k of the k that are so close that they
// matter.
func (m *demand) fits(j job) bool {
	if j.n == 0 || m.each == 0 {
		return true
	}
	with := demand{each: m.each, jobs: slices.Clone(m.jobs)}
	with.add(j)
	jobs := with.close(j)
	begun, _ := slices.BinarySearchFunc(jobs, job{from: j.from + 1, to: longAgo}, job.compare)
	done := newFinish(jobs[:begun])
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Or(cmp.Compare(a.to, b.to), a.compare(b)) })
	for i, x := range jobs {
		done.work(x.from, m.each*time.Duration(x.n))
		if last := i+1 == len(jobs) || jobs[i+1].to > x.to; last && x.to >= j.to && done.latest() > x.to {
			return false
		}
	}
	return true
}

// close is the jobs that may be late with one of them: if all that begins from some instant on, whatever its deadline, is done before its own
// deadline, what begins before that instant does not matter, and neither does what has a deadline after all is done.
func (m *demand) close(j job) []job {
	first, done, work := len(m.jobs), time.Duration(longAgo), time.Duration(0)
	for i, x := range slices.Backward(m.jobs) {
		work += m.each * time.Duration(x.n)
		if x.from <= j.from && x.from+work > j.to {
			first, done = i, max(done, x.from+work)
		}
	}
	return slices.DeleteFunc(m.jobs[first:], func(x job) bool { return x.to >= done })
}

// finish is when work ends that may begin at some instants at the earliest: the latest, over the instants, of when all ends that is to be
// done from it on. It is a tree over the instants, whose nodes know that of their own work.
type finish struct {
	froms []time.Duration
	nodes []node
	after time.Duration // work that begins later than all the instants
}

type node struct{ latest, work time.Duration }

func newFinish(begun []job) *finish {
	size := 1
	for size < len(begun) {
		size *= 2
	}
	f := &finish{nodes: make([]node, 2*size)}
	for i := range f.nodes {
		f.nodes[i].latest = longAgo
	}
	for i, j := range begun {
		f.froms = append(f.froms, j.from)
		f.nodes[size+i].latest = j.from
	}
	for i := size - 1; i > 0; i-- {
		f.join(i)
	}
	return f
}

func (f *finish) join(i int) {
	early, late := f.nodes[2*i], f.nodes[2*i+1]
	f.nodes[i] = node{latest: max(late.latest, early.latest+late.work), work: early.work + late.work}
}

// work adds what may begin at an instant: one of the instants, or a later one.
func (f *finish) work(from, d time.Duration) {
	i, _ := slices.BinarySearch(f.froms, from+1)
	if i == 0 || from > f.froms[i-1] {
		f.after += d
		return
	}
	i += len(f.nodes)/2 - 1
	f.nodes[i].latest += d
	f.nodes[i].work += d
	for i /= 2; i > 0; i /= 2 {
		f.join(i)
	}
}

func (f *finish) latest() time.Duration { return f.nodes[1].latest + f.after }
