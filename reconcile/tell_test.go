package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// Untold implements reconcile.Store.
func (w *world) Untold(ctx context.Context, r plan.Repo, facts []plan.Fact) (news []store.News, err error) {
	h, err := w.enter(ctx, call{op: "untold", repo: r})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range facts {
		was := ""
		for _, t := range h.told {
			if t.About == f.About {
				was = t.State
			}
		}
		if was != f.State {
			news = append(news, store.News{Fact: f, Was: was})
		}
	}
	return news, nil
}

// Tell implements reconcile.Store.
func (w *world) Tell(ctx context.Context, r plan.Repo, _ time.Time, news []store.News) error {
	h, err := w.enter(ctx, call{op: "tell", repo: r})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range news {
		h.told = append(h.told, n.Fact)
	}
	return nil
}

// RulesOrigin implements reconcile.Forge.
func (w *world) RulesOrigin(ctx context.Context, r plan.Repo, at, was plan.SHA) (plan.RulesOrigin, error) {
	if _, err := w.enter(ctx, call{op: "origin", repo: r, sha: at, detail: string(was)}); err != nil {
		return plan.RulesOrigin{}, err
	}
	return plan.RulesOrigin{SHA: "c1", By: "bob", Pull: 9}, nil
}

// told is what the history has of what others did in a repository.
func (w *world) told(r plan.Repo) (all []plan.Fact) {
	w.change(r, func(h *hub) { all = slices.Clone(h.told) })
	return all
}

func (w *world) wantTold(t *testing.T, what string, verbs ...string) {
	t.Helper()
	var got []string
	for _, f := range w.told(one) {
		got = append(got, f.Verb)
	}
	if !slices.Equal(got, verbs) {
		t.Errorf("%s: the history has %v, want %v", what, got, verbs)
	}
}

// What others do stands in the history once, whatever starts and fails meanwhile, and before anything follows from it.
func TestWhatOthersDoIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		show := func(freeze plan.Freeze, file plan.SHA) {
			w.set(func() {
				w.shows = func(s *plan.Snapshot) {
					base := s.Bases["main"]
					base.File, s.Frozen = file, freeze
					s.Bases["main"] = base
				}
			})
			w.note(one)
			time.Sleep(5 * time.Second)
		}
		stop, _ := started(w, reconcile.Options{})
		w.wantTold(t, "where nobody did anything")
		show(plan.Freeze{Tip: "f1", Author: "alice"}, "b1")
		w.wantTold(t, "a freeze and a file", plan.DidFreeze, plan.DidChangeRules)
		if f := w.told(one)[1]; f.By != "@bob" || f.Pull != 9 || f.SHA != "c1" || f.State != "b1" {
			t.Errorf("the file came by %+v", f)
		}
		from := time.Now()
		show(plan.Freeze{Tip: "f1", Author: "alice"}, "b1")
		if n := w.count(from, "untold", "tell", "origin"); n != 0 {
			t.Errorf("%d calls for what is known", n)
		}
		stop()
		from = time.Now()
		stop, _ = started(w, reconcile.Options{})
		if n := w.count(from, "tell", "origin"); n != 0 {
			t.Errorf("%d calls after a start for what is known", n)
		}

		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "tell" {
					return errors.New("disk full")
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		show(plan.Freeze{}, "b1")
		if w.state(one, 7) == "merged" {
			t.Error("merged although the history does not have what it follows from")
		}
		w.set(func() { w.fault = nil })
		time.Sleep(2 * time.Minute)
		w.wantTold(t, "after the store came back", plan.DidFreeze, plan.DidChangeRules, plan.DidUnfreeze)
		w.want(one, 7, "merged")

		asked := 0
		w.set(func() {
			w.fault = func(c call) error {
				if c.op != "origin" {
					return nil
				}
				if asked++; asked == 1 {
					return &client.Error{Kind: client.Limited, Until: time.Now().Add(time.Minute)}
				}
				return client.Empty()
			}
		})
		for range 5 {
			show(plan.Freeze{}, "b2")
		}
		stop()
		all := w.told(one)
		if last := all[len(all)-1]; len(all) != 4 || last.State != "b2" || last.By != "" || asked != 3 {
			t.Errorf("of what cannot be found out: %d facts, the last %+v, asked %d times", len(all), last, asked)
		}
	}, one)
}

// What stood there when it was first seen may have stood there for years: nobody is asked who did it, which would be a point for each repository.
func TestRulesThatWereFound(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.set(func() {
			w.shows = func(s *plan.Snapshot) {
				base := s.Bases["main"]
				base.File = "b1"
				s.Bases["main"] = base
			}
		})
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		if all := w.told(one); len(all) != 1 || all[0].By != "" || !strings.HasPrefix(all[0].Reason, "as it was found: ") || w.count(time.Time{}, "origin") != 0 {
			t.Errorf("%+v, asked %d times", all, w.count(time.Time{}, "origin"))
		}
	}, one)
}
