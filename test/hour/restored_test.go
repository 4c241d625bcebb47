package hour

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// A database is restored that knows nothing of a success which was given after the copy was made, while the service was down what it was given
// for is closed, retargeted or pushed to. It is taken back as with an empty database, long before the close, and is not green after it.
func TestARestoredDatabase(t *testing.T) {
	left := map[string]func(w *world, r *standin.Repo, n int){
		"closed":     func(w *world, r *standin.Repo, n int) { w.must(r.ClosePull(n, "alice")) },
		"retargeted": func(w *world, r *standin.Repo, n int) { w.must(r.Retarget(n, "alice", "bare")) },
		"pushed to":  func(w *world, r *standin.Repo, n int) { w.push(r, n, "a-rw/more") },
		"pushed over": func(w *world, r *standin.Repo, n int) {
			w.must(r.Push("alice", "a-rw-x", w.commit(r, "other")))
		},
		"pushed to and closed": func(w *world, r *standin.Repo, n int) {
			w.push(r, n, "a-rw/more")
			w.must(r.ClosePull(n, "alice"))
		},
		"retargeted and merged": func(w *world, r *standin.Repo, n int) {
			w.must(r.Retarget(n, "alice", "bare"))
			_, err := r.MergePull(n, "alice", standin.Squash)
			w.must(err)
		},
	}
	for name, leave := range left {
		for kind, empty := range map[string]bool{"a copy": false, "an empty database": true} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				inBubble(t, organisation{repos: 1, file: func(w *world, _ int) string {
					return "windows:\n  w:\n" + dates(w.start) + layout + "pull_requests: {settle: 0s, window: status}\n"
				}}, func(w *world) { w.restores(leave, empty) })
			})
		}
	}
}

// restores makes a success that the database which the service starts with knows nothing of, and lets people leave it behind.
func (w *world) restores(leave func(*world, *standin.Repo, int), empty bool) {
	w.t.Helper()
	r := w.repos[0]
	w.must(r.Push("acme", "bare", w.commit(r, "bare")))
	dir := w.t.TempDir()
	database, restored := filepath.Join(dir, "sluice.db"), filepath.Join(dir, "restored.db")
	end := w.serve(database)
	time.Sleep(10 * time.Minute)
	end()
	if !empty {
		w.copyFile(database, restored)
	}
	end = w.serve(database)
	n := w.proposeOne(r, "a-rw/x")
	time.Sleep(time.Minute)
	p, err := r.Pull(n)
	w.must(err)
	if w.onMain(r, p.HeadSHA) != "success" {
		w.t.Errorf("%s before it is left behind", w.onMain(r, p.HeadSHA))
	}
	w.mu.Lock()
	w.hook = nil
	w.mu.Unlock()
	end()
	time.Sleep(time.Minute)
	leave(w, r, n)
	time.Sleep(time.Minute)
	end = w.serve(restored)
	time.Sleep(time.Minute)
	if state := w.onMain(r, p.HeadSHA); state != "pending" {
		w.t.Errorf("%s a minute after the start", state)
	}
	time.Sleep(time.Hour)
	if state := w.onMain(r, p.HeadSHA); state != "pending" {
		w.t.Errorf("%s after the close", state)
	}
	if err := r.TryPush("alice", "main", p.HeadSHA); err == nil {
		w.t.Error("main takes the old head after the close")
	}
	end()
	w.github.Close()
	time.Sleep(5 * time.Minute)
}

// commit makes a commit on a branch of its own beside main, and gives its name.
func (w *world) commit(r *standin.Repo, branch string) string {
	w.t.Helper()
	sha, err := r.Commit(branch+"-made", standin.Change{By: "alice", Message: branch, Write: map[string]string{"docs/" + branch: "x"}})
	w.must(err)
	return sha
}

func (w *world) copyFile(from, to string) {
	w.t.Helper()
	text, err := os.ReadFile(from)
	w.must(err)
	w.must(os.WriteFile(to, text, 0o600))
}

// onMain is the state of the service's latest status for main on a commit; "": there is none.
func (w *world) onMain(r *standin.Repo, sha string) string {
	for _, s := range ours(r, sha) {
		if s.Context == "sluice/main" {
			return s.State
		}
	}
	return ""
}
