package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/report"
)

// TestInitShapes: for every shape of repository init writes the file of testdata/init, says what it found, and check has nothing to say
// against it, but where its root is a guess.
func TestInitShapes(t *testing.T) {
	here, err := filepath.Abs("testdata/init")
	if err != nil {
		t.Fatal(err)
	}
	fluxtrees.Each(t, func(t *testing.T, name string) {
		t.Chdir(fluxtrees.Dir(t, name))
		stdout, stderr, code := sluice("init")
		if code != 0 || stderr != "" {
			t.Fatal(code, stderr)
		}
		text, err := os.ReadFile(config.File)
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, filepath.Join(here, name+".yaml"), text)
		golden.File(t, filepath.Join(here, name+".txt"), []byte(stdout))
		stdout, stderr, code = sluice("check")
		if findings := strings.Count(stdout, ": warning: "); code != 0 || stderr != "" || findings != strings.Count(stdout, "root-guessed") {
			t.Error("check says:", code, stdout, stderr)
		}
	})
}

// TestInitFlux: by references, where they can say what was found; check has nothing against it, and what windows were found for is held.
func TestInitFlux(t *testing.T) {
	written := 0
	fluxtrees.Each(t, func(t *testing.T, name string) {
		t.Chdir(fluxtrees.Dir(t, name))
		stdout, stderr, code := sluice("init", "--flux")
		text, err := os.ReadFile(config.File)
		if code == 1 {
			if err == nil || !strings.Contains(stdout+stderr, "references cannot say what was found") {
				t.Errorf("%s%s\n%s", stdout, stderr, text)
			}
			return
		}
		policy, _ := config.Parse(text)
		if code != 0 || err != nil || policy == nil || !policy.Flux || policy.Mode != config.Observe {
			t.Fatal(code, stderr, err, string(text))
		}
		if stdout, _, code := sluice("check"); code != 0 {
			t.Errorf("check says: %s", stdout)
		}
		written++
	})
	if written < 4 {
		t.Errorf("only %d shapes have a file by references", written)
	}
}

// TestBelowRoot: in a directory of a clone, which no command can take for the repository, each says where the root is. One with a file of its own is a
// repository for itself, as a sample is.
func TestBelowRoot(t *testing.T) {
	root := fluxtrees.Dir(t, "windows-rw")
	gitOut(t, root, "init", "-q")
	t.Chdir(filepath.Join(root, "clusters"))
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Dir(root)
	const missing = "open .github/sluice.yaml: no such file or directory; "
	for call, before := range map[string]string{
		"init": "", "init .": "", "graph": "", "check": missing, "render suspend": missing, "render flux": missing, "classify a": missing, "windows": missing,
	} {
		want := "sluice: " + before + ". is not the root of its repository, which is " + root + "\n"
		if stdout, stderr, code := sluice(strings.Fields(call)...); code != 2 || stderr != want || stdout != "" {
			t.Errorf("%s: code %d, says %q, want %q", call, code, stderr, want)
		}
	}
	if stdout, _, _ := sluice("check", "--json"); !strings.Contains(stdout, config.CodeMissingFile) {
		t.Error(stdout)
	}
	if stdout, stderr, code := sluice("init", "--file", "-"); code != 0 || stdout == "" {
		t.Errorf("code %d, says %s", code, stderr)
	}
	if _, stderr, code := sluice("init", "--file", "sluice.yaml"); code != 0 {
		t.Errorf("code %d, says %s", code, stderr)
	}
	if err := os.Mkdir(".github", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("sluice.yaml", config.File); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"check", "graph", "windows", "init --force"} {
		if stdout, stderr, code := sluice(strings.Fields(call)...); code != 0 {
			t.Errorf("%s: code %d, says %s%s", call, code, stdout, stderr)
		}
	}
}

// TestInitPassesCheck: of whatever tree, bootstrapped or not, on whatever branch, what init writes passes check and classify can be asked; where it says
// no, nothing is written.
func TestInitPassesCheck(t *testing.T) {
	written := 0
	once := func(t *testing.T, dir string) {
		t.Chdir(dir)
		_, stderr, code := sluice("init", "--force")
		switch _, err := os.Stat(config.File); {
		case code == 1 && stderr != "" && err != nil:
			t.Log(stderr)
		case code != 0 || stderr != "" || err != nil:
			t.Error(code, stderr, err)
		default:
			if stdout, stderr, code := sluice("check"); code != 0 || stderr != "" {
				t.Error("check says:", code, stdout, stderr)
			}
			if stdout, stderr, code := sluice("classify", "README.md"); code != 0 || stderr != "" {
				t.Error("classify says:", code, stdout, stderr)
			}
			text, err := os.ReadFile(config.File)
			if err != nil {
				t.Fatal(err)
			}
			if lines := byReferences(string(text)); lines != "" {
				put(t, config.File, lines)
				if stdout, stderr, code := sluice("check"); code != 0 || stderr != "" {
					t.Error("check says of what is a comment:", code, stdout, stderr)
				}
			}
			written++
		}
	}
	each := func(t *testing.T, dir func(*testing.T) string) {
		if race.Some(3) {
			t.Run("no clone", func(t *testing.T) { once(t, dir(t)) })
		}
		if race.Some(3) {
			t.Run("not bootstrapped", func(t *testing.T) {
				at := dir(t)
				removeFlux(t, at)
				once(t, at)
			})
		}
		branch := []string{"main", "master"}[written%2] // one for each tree
		t.Run(branch, func(t *testing.T) {
			at := dir(t)
			gitOut(t, at, "init", "-q", "-b", branch)
			gitOut(t, at, "add", "-A")
			gitOut(t, at, "commit", "-q", "-m", "all")
			once(t, at)
		})
	}
	fluxtrees.Each(t, func(t *testing.T, name string) {
		each(t, func(t *testing.T) string { return fluxtrees.Dir(t, name) })
	})
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		delete(g.Tree, config.File)
		each(t, g.Dir)
	})
	const tenant = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: tenant, namespace: apps}\nspec: {sourceRef: {kind: GitRepository, name: tenant}}\n"
	for _, name := range []string{"tenants", "environments"} {
		each(t, func(t *testing.T) string {
			dir := fluxtrees.Dir(t, name)
			put(t, filepath.Join(dir, "clusters/production/tenant.yaml"), tenant)
			return dir
		})
	}
	if written < race.Or(20, 60) {
		t.Errorf("%d files were written", written)
	}
}

// byReferences is a file with the lines that it has in a comment, instead of rules; "": it has none.
func byReferences(text string) string {
	before, rest, _ := strings.Cut(text, "layout:\n")
	rules, after, found := strings.Cut(rest, "  # Or by what Flux reads")
	if !found {
		return ""
	}
	_, lines, _ := strings.Cut(after, "  # flux: true\n")
	lines, after, _ = strings.Cut(lines, "\n\n")
	if strings.Contains(rules, "preset:") {
		return ""
	}
	return before + "layout:\n  flux: true\n" + strings.ReplaceAll("\n"+lines, "\n  # ", "\n  ") + "\n\n" + after
}

// removeFlux removes what `flux bootstrap` writes.
func removeFlux(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "flux-system" || !entry.IsDir() {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInitNothing: in a tree without anything of Flux one line says so, and nothing is written. Directories that say what is windowed are something.
func TestInitNothing(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "deploy", "cm.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	stdout, stderr, code := sluice("init", dir)
	if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "(no-flux)") {
		t.Error(code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, ".github")); err == nil {
		t.Error("something was written")
	}
	put(t, filepath.Join(dir, "apps-rt", "a.yaml"), "a: b\n")
	put(t, filepath.Join(dir, "apps-rw", "a.yaml"), "a: b\n")
	if stdout, stderr, code := sluice("init", dir); code != 0 || stderr != "" || !strings.Contains(stdout, "no cluster found") {
		t.Error(code, stdout, stderr)
	}
	if stdout, _, code := sluice("check", dir); code != 0 || !strings.Contains(stdout, ": ok") {
		t.Error(code, stdout)
	}
}

// TestInitWrites: nothing that is there is overwritten unasked, nothing out of the directory is written through a link, and a file is there whole
// or not at all.
func TestInitWrites(t *testing.T) {
	dir, outside := fluxtrees.Dir(t, "two-clusters"), filepath.Join(t.TempDir(), "precious")
	put(t, outside, "precious")
	file := filepath.Join(dir, config.File)
	refused := func(what string, args ...string) {
		t.Helper()
		if _, stderr, code := sluice(append([]string{"init", dir}, args...)...); code != 2 || stderr == "" {
			t.Errorf("%s: %d %s", what, code, stderr)
		}
		if data, err := os.ReadFile(outside); err != nil || string(data) != "precious" {
			t.Errorf("%s: what lies outside was changed: %q, %v", what, data, err)
		}
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Dir(outside), filepath.Join(dir, ".github"))
	refused("the directory is a link")
	refused("the directory is a link", "--force")
	if entries, _ := os.ReadDir(filepath.Dir(outside)); len(entries) != 1 {
		t.Error("something was written through the link:", entries)
	}
	if err := os.Remove(filepath.Join(dir, ".github")); err != nil {
		t.Fatal(err)
	}
	put(t, file, "mine")
	refused("the file is there")
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("overwritten: %s", data)
	}
	if _, stderr, code := sluice("init", dir, "--force"); code != 0 {
		t.Error(code, stderr)
	}
	if data, _ := os.ReadFile(file); !strings.Contains(string(data), "mode: observe") {
		t.Errorf("not overwritten: %s", data)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	link(outside, file)
	refused("the file is a link")
	refused("the file is a link", "--force")
	link(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling"))
	refused("a link that leads nowhere", "--file", filepath.Join(dir, "dangling"))
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Error("something was left behind:", entries)
	}
	refused("no directory", "--file", filepath.Join(dir, "missing", "x.yaml"))
}

// TestInitInTheWay: whatever a tree has beside the file, it keeps nobody from writing that, and stays as it is.
func TestInitInTheWay(t *testing.T) {
	for name, make := range map[string]func(at string) error{
		"a file":      func(at string) error { return os.WriteFile(at, []byte("x"), 0o600) },
		"a directory": func(at string) error { return os.Mkdir(at, 0o755) },
		"a link":      func(at string) error { return os.Symlink("nowhere", at) },
	} {
		dir := fluxtrees.Dir(t, "two-clusters")
		file := filepath.Join(dir, config.File)
		put(t, file, "mine")
		for _, end := range []string{".new", ".tmp", "~"} {
			if err := make(file + end); err != nil {
				t.Fatal(err)
			}
		}
		if _, stderr, code := sluice("init", dir, "--force"); code != 0 {
			t.Errorf("%s: code %d, says %s", name, code, stderr)
		}
		if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 4 {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
}

// TestInitElsewhere: the file goes to another place, or to standard output with what is said about it on the other one.
func TestInitElsewhere(t *testing.T) {
	dir := fluxtrees.Dir(t, "two-clusters")
	stdout, stderr, code := sluice("init", dir, "--file", "-")
	if p, findings := config.Parse([]byte(stdout)); code != 0 || p == nil || !strings.Contains(stderr, "cluster production: ") {
		t.Error(code, findings, stderr)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if _, stderr, code := sluice("init", dir, "--file", other); code != 0 {
		t.Error(code, stderr)
	}
	if data, err := os.ReadFile(other); err != nil || string(data) != stdout {
		t.Error(err, string(data))
	}
	if _, err := os.Stat(filepath.Join(dir, config.File)); err == nil {
		t.Error("the file was written as well")
	}
	for _, args := range [][]string{{"init", other}, {"init", filepath.Join(dir, "nowhere")}, {"init", dir, dir}} {
		if _, stderr, code := sluice(args...); code != 2 || stderr == "" {
			t.Error(args, code, stderr)
		}
	}
	bare := t.TempDir()
	put(t, filepath.Join(bare, "apps-rt", "a.yaml"), "a: b\n")
	put(t, filepath.Join(bare, "apps-rw", "a.yaml"), "a: b\n")
	stdout, _, code = sluice("init", bare, "--json", "--file", "-")
	if code != 0 || strings.Contains(stdout, "null") {
		t.Error("a list is none:", code, stdout)
	}
	stdout, _, code = sluice("init", dir, "--json", "--file", "-")
	var v report.Draft
	if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil || v.Text == "" || len(v.Clusters) != 2 || v.Tree == nil {
		t.Error(code, err, stdout)
	}
}

// TestStartGuide: what docs/start.md shows is what init prints, and a shell completes directories after it.
func TestStartGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(fluxtrees.Dir(t, "two-clusters"))
	stdout, _, _ := sluice("init")
	shown, _, _ := strings.Cut(stdout, "\nNext:")
	if !strings.Contains(string(page), "\n```\n"+shown+"```\n") {
		t.Errorf("the page shows something else than:\n%s", shown)
	}
	if stdout, _, code := sluice("__complete", "init", ""); code != 0 || stdout != ":16\n" {
		t.Errorf("completes %q", stdout)
	}
}

// TestInitKilled: what a run left beside the file that was killed while it wrote goes with the next one, and nothing else does.
func TestInitKilled(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	for _, name := range []string{"a.yaml.ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a.yaml.new", "b.yaml.ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		if err := root.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := replace(root, "a.yaml", false, []byte("x")); err != nil {
		t.Fatal(err)
	}
	left, err := fs.Glob(root.FS(), "*")
	if want := "[a.yaml a.yaml.new b.yaml.ABCDEFGHIJKLMNOPQRSTUVWXYZ]"; err != nil || fmt.Sprint(left) != want {
		t.Errorf("%v, want %s; %v", left, want, err)
	}
}
