package e2e

import (
	"path/filepath"
	"testing"
)

// TestPromoteInTheImage: the image holds the binary, and neither git nor a directory for temporary files. There `promote` moves the
// branches of a remote over https, and what needs git says that git is missing.
func TestPromoteInTheImage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a"))
	w.plant(w.tip("main"), "rw/a")
	tip := w.push("main", "apps/a-rw/x")
	w.repo.SetPermission("robot", "write")
	none := filepath.Join(w.dir, "none")
	image := []string{"PATH=" + none, "HOME=" + none, "TMPDIR=" + none}
	cmd, out := start(t, binary, w.dir, append(image, "SLUICE_GIT_TOKEN=ghp_robot"), "promote", "--remote", w.repo.CloneURL())
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.stand(tip, "rw/a")
	const missing = `"git": executable file not found`
	for _, at := range []string{"file://" + w.repo.Dir(), w.repo.Dir()} {
		refuses(t, missing, w.dir, image, "promote", "--remote", at)
	}
	w.plant("", "rw/a") // there is something to move
	refuses(t, missing, w.dir, append(image, "TMPDIR="+w.dir), "promote", "--repo", w.repo.Dir())
}
