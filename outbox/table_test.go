package outbox

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

func tableRepo(n int) plan.Repo {
	return plan.Repo{Owner: "acme", Name: fmt.Sprint(n), ID: int64(n), Installation: 1}
}

func noon(tick clock.Tick) clock.Instant {
	return clock.Instant{Tick: tick, Wall: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC).Add(tick)}
}

func merging(repo plan.Repo, pull int) *Write {
	return &Write{Repo: repo, Class: Opens, Green: true, Unit: true, Counts: true, Action: plan.Merge{Pull: pull, Pin: plan.Pin{SHA: plan.SHA(fmt.Sprint("h", repo.ID, "-", pull))}}}
}

func telling(repo plan.Repo, pull int) *Write {
	return &Write{Repo: repo, Class: Tells, Action: plan.SetStatus{Pulls: []int{pull}, Pin: plan.Pin{SHA: plan.SHA(fmt.Sprint("h", repo.ID, "-", pull))}}}
}

func everything(*Write) bool { return true }

func plenty(int64, int) Allowance {
	return Allowance{Opens: true, Content: 1 << 30, Ahead: 1 << 30, Again: clock.Never, Tells: 1 << 30, TellsAgain: clock.Never}
}

// next is what begins now, by name.
func (t *Table) next(may func(int64, int) Allowance, now clock.Tick) (names []string, begun []*Write) {
	begun, _, _ = t.Next(noon(now), may)
	for _, w := range begun {
		names = append(names, fmt.Sprintf("%s#%d", w.Repo.Name, w.Action.About()[0]))
	}
	return names, begun
}

// TestTableTakesTurns: repositories take turns, a write each; one at a time of what is a unit; and who comes waits until all who wait have had a
// turn, however many come.
func TestTableTakesTurns(t *testing.T) {
	table := NewTable()
	one, two := tableRepo(1), tableRepo(2)
	for n, r := range []plan.Repo{one, two} {
		var some []*Write
		for pull := range 3 - n {
			some = append(some, merging(r, pull+1))
		}
		table.Replace(r, WritesFree, everything, some)
	}
	var got []string
	for turn := range 5 {
		table.Replace(tableRepo(10+turn), WritesFree, everything, []*Write{merging(tableRepo(10+turn), 1)})
		one := func(int64, int) Allowance { return Allowance{Opens: true, Content: 1, Ahead: 1, Again: clock.Never} }
		names, begun := table.next(one, 1)
		got = append(got, names...)
		for _, w := range begun {
			table.End(w, nil)
		}
	}
	if want := []string{"1#1", "2#1", "10#1", "1#2", "11#1"}; !slices.Equal(got, want) {
		t.Errorf("begun in the order %v, want %v", got, want)
	}
}

// TestTableKeepsTellingBehindOpening: of what only tells one goes after nine that open, and all at once where nothing opens.
func TestTableKeepsTellingBehindOpening(t *testing.T) {
	table := NewTable()
	for n := range 30 {
		table.Replace(tableRepo(n+1), 1, everything, []*Write{merging(tableRepo(n+1), 1)})
	}
	var some []*Write
	for n := range 5 {
		some = append(some, telling(tableRepo(99), n+1))
	}
	table.Replace(tableRepo(99), 1, everything, some)
	var told []int
	for turn := range 35 {
		_, begun := table.next(plenty, 1)
		if len(begun) != 1 {
			t.Fatalf("%d begin in turn %d", len(begun), turn)
		}
		if begun[0].Class == Tells {
			told = append(told, turn)
		}
		table.End(begun[0], nil)
	}
	if want := []int{9, 19, 29, 33, 34}; !slices.Equal(told, want) {
		t.Errorf("told in turns %v, want %v", told, want)
	}
}

// TestTableGivesTheEarlierCloseTheFirstTurn: within a round the repository whose window closes first goes first, and nobody has a second turn before all had
// one.
func TestTableGivesTheEarlierCloseTheFirstTurn(t *testing.T) {
	table := NewTable()
	want := func(n int, closes time.Duration) {
		repo := tableRepo(n)
		all := []*Write{merging(repo, 1), merging(repo, 2)}
		for _, w := range all {
			if closes > 0 {
				w.Closes = noon(closes).Wall
			}
		}
		table.Replace(repo, WritesFree, everything, all)
	}
	want(1, 0) // no instant ends it
	want(2, 2*time.Hour)
	want(3, time.Minute)
	var got []string
	for turn := range 8 {
		if turn == 4 {
			want(4, time.Second) // it comes amid the second round
		}
		names, begun := table.next(func(int64, int) Allowance {
			return Allowance{Opens: true, Content: 1, Ahead: 1, Again: clock.Never}
		}, 1)
		got = append(got, names...)
		for _, w := range begun {
			table.End(w, nil)
		}
	}
	if want := []string{"3#1", "2#1", "1#1", "3#2", "2#2", "1#2", "4#1", "4#2"}; !slices.Equal(got, want) {
		t.Errorf("begun in the order %v, want %v", got, want)
	}
}

// TestTableReplaces: what is wanted no more is never written; what waits keeps its turn though it is decided again; what is decided on a part
// replaces that part alone, in its place.
func TestTableReplaces(t *testing.T) {
	table := NewTable()
	one, two := tableRepo(1), tableRepo(2)
	table.Replace(one, 1, everything, []*Write{merging(one, 1), merging(one, 2), merging(one, 3)})
	table.Replace(two, 1, everything, []*Write{merging(two, 1)})
	table.Replace(one, 1, everything, []*Write{merging(one, 2), merging(one, 3), merging(one, 4)})
	part := []int{2}
	table.Replace(one, 1, func(w *Write) bool { return w.Shares(part) }, []*Write{merging(one, 2)})
	table.Replace(one, 1, func(w *Write) bool { return w.Shares([]int{3}) }, nil)
	var got []string
	for range 3 {
		names, begun := table.next(plenty, 1)
		got = append(got, names...)
		table.End(begun[0], nil)
	}
	if want := []string{"1#2", "2#1", "1#4"}; !slices.Equal(got, want) {
		t.Errorf("begun %v, want %v", got, want)
	}
	if names, _ := table.next(plenty, 1); names != nil {
		t.Errorf("left: %v", names)
	}
}

// TestTableReadsAgain: what rests on what is too old is read again as its turn comes, no more than may begin soon, once, and keeps its turn
// meanwhile; but not for ever.
func TestTableReadsAgain(t *testing.T) {
	table := NewTable()
	one, two := tableRepo(1), tableRepo(2)
	var some []*Write
	for n := range 9 {
		w := merging(one, n+1)
		w.Before = noon(10)
		some = append(some, w)
	}
	table.Replace(one, 1, everything, some)
	table.Replace(two, 1, everything, []*Write{merging(two, 1), merging(two, 2)})
	last := func(int64, int) Allowance { return Allowance{Opens: true, Content: 1, Ahead: 6, Again: clock.Never} }
	begin, stale, _ := table.Next(noon(20), last)
	if len(begin) > 0 || len(stale) != 1 || stale[0].Repo != one || len(stale[0].Writes) != 3 {
		t.Fatalf("begun %v, to be read again %v", begin, stale)
	}
	if begin, stale, _ = table.Next(noon(21), last); len(begin) > 0 || len(stale) > 0 {
		t.Errorf("begun %v, to be read again %v, though the only turn is kept", begin, stale)
	}
	if begin, _, _ = table.Next(noon(20+2*readPatience), last); len(begin) != 1 || begin[0].Repo != two {
		t.Errorf("begun %v after what is being read without end", begin)
	}
}

// TestTableKeepsTheTurnOfWhatALimitRefused: after a limit one goes first, and it is the one that was refused. What began before the limit shows
// nothing when it ends: else several would begin at once, and who of them gets what has become free would be anybody's.
func TestTableKeepsTheTurnOfWhatALimitRefused(t *testing.T) {
	table := NewTable()
	one, two := tableRepo(1), tableRepo(2)
	table.Replace(one, 8, everything, []*Write{telling(one, 1), telling(one, 2)})
	table.Replace(two, 8, everything, []*Write{telling(two, 1), telling(two, 2)})
	_, begun := table.next(plenty, 1)
	if len(begun) != 4 {
		t.Fatalf("%d begin", len(begun))
	}
	refused := begun[1]
	table.Rest(refused.Repo.Installation, Tells, 10)
	table.Back(refused)
	table.End(refused, errors.New("a limit"))
	for _, w := range begun {
		if w != refused {
			table.End(w, nil)
		}
	}
	table.Replace(one, 8, everything, []*Write{telling(one, 3), telling(one, 4)})
	again, began := table.next(plenty, 20)
	if len(began) != 1 || began[0] != refused {
		t.Fatalf("%v begin after the limit", again)
	}
	table.End(refused, nil)
	if again, _ = table.next(plenty, 20); len(again) != 2 {
		t.Errorf("%v begin once one was taken", again)
	}
}

// TestTableHolds: nothing that opens begins while its repository is read, and no read begins while something does.
func TestTableHolds(t *testing.T) {
	table := NewTable()
	one := tableRepo(1)
	table.Replace(one, 9, everything, []*Write{merging(one, 1), merging(one, 2), telling(one, 3)})
	_, begun := table.next(plenty, 1)
	if len(begun) != 2 || table.Hold(one) {
		t.Fatalf("%d begun, and it may be read", len(begun))
	}
	for _, w := range begun {
		table.End(w, nil)
	}
	if !table.Hold(one) {
		t.Error("it may not be read though nothing is under way")
	}
	if names, _ := table.next(plenty, 1); names != nil {
		t.Errorf("%v begin while it is read", names)
	}
	table.Release(one)
	if names, _ := table.next(plenty, 1); len(names) != 1 {
		t.Errorf("%v begin after it was read", names)
	}
}

// TestTableKeepsEveryGreenBack: a success that puts right what somebody else set has the turn of what only tells. It is a success all the same: it does
// not begin while its repository is read, or while debts are overdue; and what stands behind it and releases nothing goes.
func TestTableKeepsEveryGreenBack(t *testing.T) {
	one := tableRepo(1)
	overdue := func(int64, int) Allowance {
		return Allowance{Tells: 1 << 30, Content: 1 << 30, Ahead: 1 << 30, Again: clock.Never}
	}
	for name, may := range map[string]func(int64, int) Allowance{"it is read": plenty, "a debt is overdue": overdue} {
		t.Run(name, func(t *testing.T) {
			table := NewTable()
			repairing := telling(one, 1)
			repairing.Green = true
			table.Replace(one, 8, everything, []*Write{repairing, telling(one, 2)})
			if name == "it is read" {
				table.Hold(one)
			}
			if names, _ := table.next(may, 1); !slices.Equal(names, []string{"1#2"}) {
				t.Errorf("begun %v, want 1#2", names)
			}
		})
	}
	table := NewTable()
	repairing := telling(one, 1)
	repairing.Green = true
	table.Replace(one, 8, everything, []*Write{repairing})
	if names, _ := table.next(plenty, 1); len(names) != 1 || table.Hold(one) {
		t.Errorf("%v begun, and it may be read", names)
	}
}

// FuzzTable: random decisions, limits and ends. Never are more writes under way than may be, nor two units in one repository, nor two about one pull
// request, nor more content than GitHub takes; nothing begins that was replaced, or is too old; of each repository one end says that it is
// settled; and whoever may go goes before long: each turn of another repository lets it come one nearer.
func FuzzTable(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := &tableWorld{t: t, r: rand.New(rand.NewPCG(seed, 7)), table: NewTable(), wanted: map[*Write]bool{}, replaced: map[*Write]bool{}, passed: map[int64]int{}}
		w.repos = 1 + w.r.IntN(12)
		for range 400 {
			w.step()
		}
	})
}

type tableWorld struct {
	t        *testing.T
	r        *rand.Rand
	table    *Table
	now      clock.Tick
	repos    int
	wanted   map[*Write]bool
	running  []*Write
	replaced map[*Write]bool // another decision came since they began
	passed   map[int64]int   // turns of others since a repository with a merge that waits had one
	most     int
	content  int
}

func (w *tableWorld) step() {
	w.now += clock.Tick(w.r.IntN(int(time.Second)))
	repo := tableRepo(1 + w.r.IntN(w.repos))
	switch w.r.IntN(4) {
	case 0:
		w.decide(repo)
	case 1:
		if len(w.running) > 0 {
			w.end(w.r.IntN(len(w.running)))
		}
	default:
		w.begin()
	}
}

func (w *tableWorld) decide(repo plan.Repo) {
	if !w.table.Hold(repo) {
		w.table.Unhold(repo)
		return
	}
	var some []*Write
	for pull := range w.r.IntN(5) {
		x := merging(repo, pull+1)
		if w.r.IntN(3) == 0 {
			x = telling(repo, pull+1)
		} else if w.r.IntN(3) == 0 {
			x.Before = noon(w.now + clock.Tick(w.r.IntN(int(5*time.Second))))
		}
		some = append(some, x)
	}
	for x := range w.wanted {
		if x.Repo == repo {
			delete(w.wanted, x)
		}
	}
	for _, x := range some {
		w.wanted[x] = true
	}
	for _, x := range w.running {
		if x.Repo == repo {
			w.replaced[x] = true
		}
	}
	w.most = 8
	w.table.Replace(repo, w.most, everything, some)
	w.table.Release(repo)
}

func (w *tableWorld) begin() {
	w.content = w.r.IntN(6)
	under := 0
	for _, x := range w.running {
		if x.Counts {
			under++
		}
	}
	begun, stale, nap := w.table.Next(noon(w.now), func(int64, int) Allowance {
		return Allowance{Opens: w.r.IntN(8) > 0, Content: w.content, Ahead: w.content + 3, Again: w.now + time.Second, Tells: w.r.IntN(4), TellsAgain: w.now + time.Second}
	})
	if nap < 0 {
		w.t.Fatalf("sleeps for %v", nap)
	}
	for _, s := range stale {
		for _, x := range s.Writes {
			if !w.wanted[x] {
				w.t.Fatal("what nobody wants is to be read again")
			}
		}
	}
	for _, x := range begun {
		if x.Counts {
			under++
		}
		w.check(x)
		delete(w.wanted, x)
		delete(w.replaced, x)
		w.running = append(w.running, x)
	}
	if len(w.running) > w.most && w.most > 0 || len(begun) > 0 && under > max(w.content, 0) && slices.ContainsFunc(begun, func(x *Write) bool { return x.Counts }) {
		w.t.Fatalf("%d are under way of %d, %d count of %d", len(w.running), w.most, under, w.content)
	}
}

func (w *tableWorld) check(x *Write) {
	switch {
	case !w.wanted[x]:
		w.t.Fatal("what nobody wants begins")
	case x.old(noon(w.now)):
		w.t.Fatal("what is too old begins")
	}
	for _, y := range w.running {
		if y.Repo == x.Repo && (x.Unit && y.Unit || x.Shares(y.Action.About())) {
			w.t.Fatal("two units at once in one repository, or two writes about one pull request")
		}
	}
	if x.Class != Opens {
		return
	}
	w.passed[x.Repo.ID] = 0
	for id := range int64(w.repos) {
		if other := tableRepo(int(id) + 1); other.ID != x.Repo.ID && w.waits(other) {
			if w.passed[other.ID]++; w.passed[other.ID] > 2*w.repos {
				w.t.Fatalf("%s was passed over %d times", other, w.passed[other.ID])
			}
		} else {
			w.passed[other.ID] = 0
		}
	}
}

// waits reports whether a repository has a merge that may begin.
func (w *tableWorld) waits(repo plan.Repo) bool {
	some := false
	for x := range w.wanted {
		if x.Repo == repo && x.Class == Opens {
			if x.old(noon(w.now)) {
				return false
			}
			some = true
		}
	}
	return some && !slices.ContainsFunc(w.running, func(x *Write) bool { return x.Repo == repo })
}

func (w *tableWorld) end(i int) {
	x := w.running[i]
	w.running = slices.Delete(w.running, i, i+1)
	var err error
	switch w.r.IntN(6) {
	case 0:
		err = errors.New("limited")
		w.table.Rest(1, x.Class, w.now+clock.Tick(w.r.IntN(int(time.Second))))
		if w.table.Back(x); !w.replaced[x] {
			w.wanted[x] = true
		}
	case 1:
		err = errors.New("failed")
		w.table.Leave(x.Repo, func(y *Write) bool { return y.Shares(x.Action.About()) })
		for y := range w.wanted {
			if y.Repo == x.Repo && y.Shares(x.Action.About()) {
				delete(w.wanted, y)
			}
		}
	}
	_, settled := w.table.Ending(x)
	left := slices.ContainsFunc(w.running, func(y *Write) bool { return y.Repo == x.Repo })
	for y := range w.wanted {
		left = left || y.Repo == x.Repo
	}
	if settled == left {
		w.t.Fatalf("settled: %v, and something is left: %v", settled, left)
	}
	w.table.End(x, err)
}

// TestTableReadsAheadWithoutAPace: where nothing is paced all that waits is read again at once, of however many repositories.
func TestTableReadsAheadWithoutAPace(t *testing.T) {
	table := NewTable()
	for r := range 2 {
		var some []*Write
		for n := range 300 {
			w := merging(tableRepo(r+1), n+1)
			w.Before = noon(10)
			some = append(some, w)
		}
		table.Replace(tableRepo(r+1), 1, everything, some)
	}
	most := Allowance{Opens: true, Content: math.MaxInt, Ahead: math.MaxInt, Again: clock.Never, Tells: math.MaxInt, TellsAgain: clock.Never}
	_, stale, _ := table.Next(noon(20), func(int64, int) Allowance { return most })
	for _, s := range stale {
		if len(s.Writes) != 300 {
			t.Errorf("%d are read again", len(s.Writes))
		}
	}
	if len(stale) != 2 {
		t.Errorf("%d repositories are read again", len(stale))
	}
}
