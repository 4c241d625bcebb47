package api_test

import (
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// queued are two pull requests in a merge queue that asks for the status x.
func queued(t *testing.T, rules standin.Rules) (w *world, below, above standin.Group) {
	t.Helper()
	w = newWorld(t)
	rules.Queue, rules.Checks = true, []standin.RequiredCheck{{Context: "x"}}
	w.repo.Protect("main", rules)
	first, second := w.open("one", map[string]string{"1": "1"}), w.open("two", map[string]string{"2": "2"})
	below, err := w.repo.Enqueue(first, "alice")
	w.must(err)
	above, err = w.repo.Enqueue(second, "alice")
	w.must(err)
	if above.BaseSHA != below.Head || below.BaseSHA != w.repo.Tip("main") {
		t.Errorf("%+v stands on %+v", above, below)
	}
	return w, below, above
}

// says reports on an entry, and gives the queue its turn.
func (w *world) says(g standin.Group, state string) {
	w.must(w.repo.SetStatus(standin.Status{SHA: g.Head, Context: "x", State: state, By: standin.Actor{Login: "ci"}}))
	w.must(w.repo.Turn("main"))
}

func TestQueueWhereAllMustBeGreen(t *testing.T) {
	w, below, above := queued(t, standin.Rules{})
	w.says(above, "success")
	if w.repo.Tip("main") != below.BaseSHA {
		t.Error("an entry was merged above one that is not green")
	}
	w.says(below, "failure")
	anew := w.repo.Queue("main")
	if len(anew) != 1 || anew[0].Pull != above.Pull || anew[0].BaseSHA != below.BaseSHA || anew[0].Head == above.Head {
		t.Fatalf("after the lower entry failed: %+v", anew)
	}
	if w.pull(below.Pull).Merged || w.repo.Tip(above.HeadRef) != "" {
		t.Error("what failed was merged, or its queue stands")
	}
	w.says(anew[0], "success")
	if !w.pull(above.Pull).Merged || w.repo.Tip("main") != anew[0].Head || len(w.repo.Queue("main")) != 0 {
		t.Error("the entry that was built anew was not merged")
	}
}

func TestQueueWhereTheHeadMustBeGreen(t *testing.T) {
	w, below, above := queued(t, standin.Rules{HeadGreen: true})
	w.says(below, "failure")
	if len(w.repo.Queue("main")) != 2 {
		t.Error("the last head may turn green still")
	}
	w.says(above, "success")
	if moves := w.repo.Moves(); w.repo.Tip("main") != above.Head || moves[len(moves)-1].Before != below.BaseSHA {
		t.Error("the last head's answer does not stand for all")
	}
	if !w.pull(below.Pull).Merged || !w.pull(above.Pull).Merged {
		t.Error("an entry was not merged")
	}

	w, below, above = queued(t, standin.Rules{HeadGreen: true})
	w.says(below, "success")
	w.says(above, "failure")
	if w.repo.Tip("main") != below.Head || w.pull(above.Pull).Merged || len(w.repo.Queue("main")) != 0 {
		t.Error("an entry that failed was merged with the one below it, or kept")
	}
}

// TestQueueOnAnotherTip: what somebody pushed past the queue is what its entries are built on from then.
func TestQueueOnAnotherTip(t *testing.T) {
	w, _, above := queued(t, standin.Rules{})
	tip, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"3": "3"}})
	w.must(err)
	w.must(w.repo.Turn("main"))
	anew := w.repo.Queue("main")
	if len(anew) != 2 || anew[0].BaseSHA != tip || anew[1].BaseSHA != anew[0].Head || anew[1].Head == above.Head {
		t.Errorf("%+v", anew)
	}
}
