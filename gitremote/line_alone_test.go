package gitremote

import (
	"slices"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// Without filters each stage costs whole trees: none is read for a line once every branch's place is known.
func TestNoTreesForALineAlone(t *testing.T) {
	w := newWorld(t)
	w.two()
	w.onward(slices.Repeat([]string{"x"}, 299)...)
	w.git("branch", "rel", "main~239")
	w.git("branch", "rw/a", "main~241")
	web := serve(t, w.dir)
	r := dial(t, Options{URL: web.URL + "/.git"})
	look(t, r)
	before := len(web.asked())
	got, sources, err := r.Track(t.Context(), []Follower{{Name: "rw/a", From: "rel"}})
	if err != nil {
		t.Fatal(err)
	}
	is(t, got[0], plan.Behind, 2)
	if more := web.asked()[before:]; len(more) > 0 {
		t.Errorf("%d commits of the line, after %d more requests: %v", len(sources["rel"].Line), len(more), more)
	}
}

// A file's path is cleaned, whichever way the repository is read remotely.
func TestPathIsCleaned(t *testing.T) {
	w := newWorld(t)
	w.two()
	r := dial(t, Options{URL: "file://" + w.dir})
	o, err := r.Overview(t.Context(), "./"+file)
	if err != nil || o.File == "" {
		t.Errorf("%+v %v", o, err)
	}
}
