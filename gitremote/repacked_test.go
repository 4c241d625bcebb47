package gitremote

import (
	"fmt"
	"testing"

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
