package forge

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

func TestLRU(t *testing.T) {
	l := newLRU[string, int](2)
	l.put("a", 1)
	l.put("b", 2)
	l.get("a")
	l.put("c", 3)
	if _, ok := l.get("b"); ok {
		t.Error("the value that was used longest ago is still there")
	}
	l.put("a", 4)
	if v, _ := l.get("a"); v != 4 || l.order.Len() != 2 || l.sum != 2 {
		t.Errorf("%d, %d values of weight %d", v, l.order.Len(), l.sum)
	}
}

func TestWeighingLRU(t *testing.T) {
	l := newLRU[int, []int](10).weighing(func(v []int) int { return len(v) })
	l.put(1, make([]int, 6))
	l.put(2, make([]int, 4))
	l.put(3, make([]int, 1))
	if _, ok := l.get(1); ok || l.sum != 5 {
		t.Errorf("weight %d", l.sum)
	}
	l.put(4, make([]int, 11)) // heavier than all that may be kept
	if _, ok := l.get(4); ok || l.sum != 0 || len(l.at) != 0 {
		t.Errorf("weight %d", l.sum)
	}
}

// TestSinceWhenMergeabilityIsUnknown: of all pull requests of one repository it is remembered since when GitHub does not know whether they can
// be merged, so that it is asked ever less often. Beyond what is kept that begins anew: what is looked at soon again is remembered until
// then, and only pauses in which others of ten thousand are looked at grow no further.
func TestSinceWhenMergeabilityIsUnknown(t *testing.T) {
	at := time.Now()
	f := unsigned(Options{}, addresses{})
	since := func(repo string, n int) time.Duration {
		l := &observation{f: f, repo: plan.Repo{Owner: "acme", Name: repo}, at: at}
		return l.at.Sub(l.unknownSince(&plan.Pull{Number: n, Head: "h"}))
	}
	for minutes := range time.Duration(3) {
		for n := range maxPulls {
			if got := since("large", n); got != minutes*time.Minute {
				t.Fatalf("#%d: %s", n, got)
			}
		}
		at = at.Add(time.Minute)
	}
	if got := since("large", 7); got != 3*time.Minute {
		t.Errorf("since %s", got)
	}
	for n := range keepUnknown {
		since("others", n)
	}
	if got := since("large", 7); got != 0 {
		t.Errorf("since %s", got)
	}
	at = at.Add(time.Second)
	if got := since("large", 7); got != time.Second {
		t.Errorf("since %s", got)
	}
}
