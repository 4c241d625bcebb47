package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestWindowedBranchesOfABrokenFile: main's file is broken, or deleted, and a windowed branch stands at an older commit of main, with a
// file of its own by which a live change would be merged into it: it would diverge. It moves only by promotion all the same, by what
// the file last said: as the service saw it, and as it remembers it once main's history is gone. A service whose database is lost takes no
// branch with a file of its own for another.
func TestWindowedBranchesOfABrokenFile(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]standin.Change{
		"invalid": {Write: map[string]string{".github/sluice.yaml": "version: 7\n"}},
		"deleted": {Delete: []string{".github/sluice.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, following(openForYears, "rw/a"))
			before := w.tip("main")
			w.plant(before, "rw/a")
			w.must(w.repo.Push("acme", "release", before)) // has the same file, and no windowed branch's name
			p := w.serve()
			w.merged(w.propose(standin.NewPull{Head: "first", Base: "release", Change: write("release", "apps/first-rt/x")})) // the file is seen
			w.commit("main", damage)
			ours := map[string]int{}
			refused := func(head string) {
				t.Helper()
				ours[head] = w.propose(standin.NewPull{Head: head, Base: "rw/a", Change: write(head, "apps/a-rt/x")})
				other := w.propose(standin.NewPull{Head: head + "-other", Base: "release", Change: write(head, "apps/"+head+"-rt/x")})
				w.merged(other)
				const want = "failure: sluice updates this branch; open the pull request against main"
				w.eventually("the status says so", func() bool { return w.statusIn("sluice/rw/a", ours[head]) == want })
			}
			refused("seen")

			p.stop(syscall.SIGTERM)
			broken := w.tip("main")
			w.must(w.repo.Push("acme", "main", w.commitTree(1, w.git("mktree", "--missing"))))
			p = w.serve()
			refused("remembered")

			p.stop(syscall.SIGTERM)
			w.must(w.repo.Push("acme", "main", broken))
			files, err := filepath.Glob(filepath.Join(w.dir, "sluice.db*"))
			w.must(err)
			for _, file := range files {
				w.must(os.Remove(file))
			}
			w.serve()
			for _, base := range []string{"rw/a", "release"} {
				head := "lost-" + base
				ours[head] = w.propose(standin.NewPull{Head: head, Base: base, Change: write(base, "apps/lost-rt/x")})
				w.eventually("the status says so", func() bool {
					return strings.Contains(w.statusIn("sluice/"+base, ours[head]), base+" may be a windowed branch: .github/sluice.yaml on main is ")
				})
			}

			for _, n := range ours {
				w.unmerged(n)
			}
			w.stand(before, "rw/a")
		})
	}
}
