package flux

import (
	"math/rand/v2"
	"os"
	"regexp"
	"testing"
	"time"
)

// site is a cluster whose windowed Kustomization is emulated: what was measured of Flux, in steps.
type site struct {
	commits    []time.Time // when each reached main
	lost, back time.Time   // cut off from GitHub between them
	holds      bool        // `sluice suspend` runs there

	branch, artifact, applied int // how many commits each has
	suspended                 bool
}

// passEvery is how often everything is done: a pass of `sluice suspend --every 30s`, Flux's fetch, and sluice's move. Between two steps
// nothing changes, since windows change on whole minutes.
const passEvery = 30 * time.Second

// step does what happens at an instant: sluice moves the branch if the window lets it, the source fetches it if it can be reached, suspended
// or not, and the Kustomization applies what was fetched unless it is suspended, in the window or not. A pass may fail.
func (s *site) step(at time.Time, open, passes bool) {
	main := 0
	for main < len(s.commits) && !s.commits[main].After(at) {
		main++
	}
	if open {
		s.branch = main
	}
	if at.Before(s.lost) || !at.Before(s.back) {
		s.artifact = s.branch
	}
	if s.holds && passes {
		s.suspended = !open
	}
	if !s.suspended {
		s.applied = s.artifact
	}
}

// TestOfflineExample: the table of docs/offline.md is what happens.
func TestOfflineExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/offline.md")
	if err != nil {
		t.Fatal(err)
	}
	p := policy(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	instant := func(text string) time.Time {
		at, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	free := site{
		commits: []time.Time{instant("2026-11-24 12:00"), instant("2026-11-25 09:00")},
		lost:    instant("2026-11-24 14:00"), back: instant("2026-11-27 03:00"),
	}
	held := free
	held.holds = true
	at := instant("2026-11-24 12:00")
	rows := regexp.MustCompile(`(?m)^\| (\d{4}-\d\d-\d\d \d\d:\d\d) \|.*\| ([AB]) \| ([AB]) \|$`).FindAllStringSubmatch(string(page), -1)
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		for ; !at.After(instant(row[1])); at = at.Add(passEvery) {
			open := p.Calendar.At(p.Branches[0].Window, at).Releasable
			held.step(at, open, true)
			free.step(at, open, true)
		}
		if got := " AB"[held.applied : held.applied+1]; got != row[2] {
			t.Errorf("%s: with suspend apps-rw applies %s, the page says %s", row[1], got, row[2])
		}
		if got := " AB"[free.applied : free.applied+1]; got != row[3] {
			t.Errorf("%s: without suspend apps-rw applies %s, the page says %s", row[1], got, row[3])
		}
	}
}

// TestOfflineAppliesInItsWindow: whenever a cluster goes and comes back, a Kustomization that the cluster holds itself changes only inside its
// window, and has at the opening what was fetched. Where the very passes fail that would open and close it, the next ones do, which is well
// before the close. Without it, changes come outside.
func TestOfflineAppliesInItsWindow(t *testing.T) {
	p, rnd := policy(t), rand.New(rand.NewPCG(13, 4))
	from := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	outside := 0
	for i := range 8 {
		free := site{commits: []time.Time{from}, lost: from.Add(time.Duration(rnd.IntN(8*24*60)) * time.Minute)}
		free.back = free.lost.Add(time.Duration(rnd.IntN(4*24*60)) * time.Minute)
		for n := range 12 {
			free.commits = append(free.commits, free.commits[n].Add(time.Duration(rnd.IntN(12*60))*time.Minute))
		}
		held, late, lately := free, i%2 == 1, false
		held.holds = true
		for at := from; at.Before(from.Add(16 * 24 * time.Hour)); at = at.Add(passEvery) {
			open := p.Calendar.At(p.Branches[0].Window, at).Releasable
			was, before := held.applied, free.applied
			held.step(at, open, !late || open == lately)
			free.step(at, open, true)
			if held.applied != was && !open && (!late || !lately) {
				t.Fatalf("away from %s to %s: applied at %s", free.lost, free.back, at)
			}
			if open && (lately || !late) && held.applied != held.artifact {
				t.Fatalf("away from %s to %s: not applied at %s", free.lost, free.back, at)
			}
			if free.applied != before && !open {
				outside++
			}
			lately = open
		}
		if held.applied != len(free.commits) || free.applied != len(free.commits) {
			t.Fatalf("%d and %d of %d commits are applied", held.applied, free.applied, len(free.commits))
		}
	}
	if outside == 0 {
		t.Error("no cluster came back to a closed window: nothing is shown")
	}
}
