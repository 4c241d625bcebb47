package gitremote

import (
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// TestRepackedMeanwhile: objects that a git which runs at once packs, after the packs were looked for, are found.
func TestRepackedMeanwhile(t *testing.T) {
	w := newWorld(t)
	var all []plan.SHA
	for i := range 6 {
		all = append(all, w.commit(map[string]string{"f": fmt.Sprint(i)}))
	}
	r := open(t, w.dir)
	for i, sha := range all {
		if data, _, err := r.File(sha, "f"); err != nil || string(data) != fmt.Sprint(i) {
			t.Errorf("the file of commit %d is %q, %v", i, data, err)
		}
		if i%2 == 0 {
			w.commit(map[string]string{"g": fmt.Sprint(i)}) // so that it is another pack than the one before
			w.git("gc", "-q", "--prune=now")
		}
	}
}

// TestLateDeltas: objects of deltas that stand before what they are based on are found, each based on the next one, among others whose base is of
// another kind or nowhere.
func TestLateDeltas(t *testing.T) {
	p := newPacked(t)
	blob := p.put(plumbing.BlobObject, []byte("x"))
	entries := []byte(entryText("100644", "f", blob))
	tree := p.put(plumbing.TreeObject, entries)
	text := func(i int) []byte {
		const who = "a <a@example.com> 1700000000 +0000"
		return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%d\n", tree, who, who, i)
	}
	const last = 5
	for i := range last {
		p.before(plumbing.ComputeHash(plumbing.CommitObject, text(i+1)), plumbing.CommitObject, text(i), text(i))
	}
	p.before(tree, plumbing.TreeObject, entries, []byte(entryText("100644", "g", blob)))
	base := p.put(plumbing.CommitObject, text(last))
	got, err := sent(t, p, few)
	if err != nil {
		t.Fatal(err)
	}
	g := newGraph(got.cost)
	if err := got.commits(g); err != nil || !g.has(base) || len(g.nodes) != last+1 {
		t.Errorf("%d commits, %v", len(g.nodes), err)
	}
	m, err := openMirror(got.cost, t.TempDir(), ample)
	if err == nil {
		err = m.add(got, []plumbing.Hash{plumbing.ComputeHash(plumbing.CommitObject, text(0)), base})
	}
	if err != nil {
		t.Error(err)
	}
}
