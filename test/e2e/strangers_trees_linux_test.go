package e2e

import (
	"bytes"
	"crypto/sha1"
	numbers "encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
)

// Strangers who propose trees: each is small where that is the trick, and as large as a tree may be where size is.

// The beginning of each tree: rules by which the references decide, and a cluster with one windowed entry point, which reads k.
const (
	treeRules      = "version: 1\ntimezone: UTC\nwindows: {w: {open: '0 22 * * *', duration: 4h}}\nlayout: {flux: true, unmatched: live, entrypoints: [{where: flux-system/rw, release: w}]}\n"
	treeEntryPoint = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec: {path: %q, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	treeObject     = "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, namespace: a}\nspec: {schedule: '0 1 * * *'}\n"
)

// treeSync is the cluster, whose Flux is pointed at its own directory.
var treeSync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'https://github.com/acme/fleet', ref: {branch: main}}\n" +
	fmt.Sprintf(treeEntryPoint, "flux-system", "./clusters/one")

// large is how many bytes what is large has: as many as a tree or a pack may, where that is measured.
func large() int {
	if *figures {
		return 64 << 20
	}
	return 8 << 20
}

// hostileTrees is what a pull request may bring, each a file's path and text for each call of put.
var hostileTrees = map[string]func(put func(path, text string)){
	"name prefixes, 1.5 MB": func(put func(path, text string)) {
		for i := range 49 {
			put(fmt.Sprintf("k/%d/kustomization.yaml", i), fmt.Sprintf("namePrefix: %s-\nresources: [../%d]\n", strings.Repeat("x", 30<<10), i+1))
		}
		put("k/49/kustomization.yaml", "resources: [a.yaml]\n")
		put("k/49/a.yaml", strings.Repeat(treeObject, 500))
		put("k/kustomization.yaml", "resources: [0]\n")
	},
	"overlays, 94 KB": func(put func(path, text string)) { overlays(put, 18, 4) },
	"copies by JSON patches, 11 KB": func(put func(path, text string)) {
		ops := "- {op: add, path: /spec/x, value: [" + strings.Repeat("[],", 1000) + "[]]}\n"
		for i := range 120 {
			ops += fmt.Sprintf("- {op: copy, from: /spec, path: /spec/y%d}\n", i)
		}
		put("k/kustomization.yaml", "resources: [a.yaml]\npatches: [{target: {kind: CronJob}, path: p.yaml}]\n")
		put("k/p.yaml", ops)
		put("k/a.yaml", strings.Repeat(treeObject, 1))
	},
	"copies of text, 535 KB": func(put func(path, text string)) {
		put("k/a.yaml", treeObject+"data: "+strings.Repeat("x", 500<<10)+"\n")
		list := ""
		for i := range 200 {
			put(fmt.Sprintf("k/%d/kustomization.yaml", i), "resources: [../../b]\nnamePrefix: a-\n")
			list += fmt.Sprintf("- %d\n", i)
		}
		put("b/kustomization.yaml", "resources: [../k/a.yaml]\npatches: [{patch: '{spec: {a: b}}', target: {kind: CronJob}}]\n")
		put("k/kustomization.yaml", "resources:\n"+list)
	},
	"variables, 2.8 MB": func(put func(path, text string)) {
		for i := range 70 {
			put(fmt.Sprintf("clusters/one/v%d.yaml", i), fmt.Sprintf(treeEntryPoint, fmt.Sprint("v", i), strings.Repeat("${", 10_000)+strings.Repeat("${a}", 5_000)))
		}
	},
	"directories 2,000 deep": func(put func(path, text string)) {
		dir := "k"
		for range 2_000 {
			if dir += "/d"; len(dir) > 3_900 {
				return
			}
			put(dir+"/a.yaml", treeObject)
			put(dir+"/.sourceignore", "a\n")
		}
	},
	"49,000 Kustomizations": func(put func(path, text string)) {
		for file := range 49 {
			var text strings.Builder
			for i := range 1_000 {
				fmt.Fprintf(&text, treeEntryPoint, fmt.Sprintf("e%d", file*1_000+i), "./k")
			}
			put(fmt.Sprintf("clusters/one/e%d.yaml", file), text.String())
		}
	},
	"names": func(put func(path, text string)) {
		for i := range large() / 640 {
			put(fmt.Sprintf("k/%d/%s%06d", i/1_000, strings.Repeat("n", 200), i), "")
		}
	},
	"rules of 90 KB, and files": func(put func(path, text string)) {
		list := ""
		for i := range 39 {
			list += "    - {release: w, paths: ["
			for n := range 99 {
				list += fmt.Sprintf("\"**/*%d*%d/*\", ", i, n)
			}
			list += "z]}\n"
		}
		put(".github/sluice.yaml", strings.Replace(strings.Replace(treeRules, "layout: {", "layout:\n  {", 1), "{flux: true, unmatched: live, entrypoints: [{where: flux-system/rw, release: w}]}",
			"flux: true\n  unmatched: live\n  entrypoints: [{where: flux-system/rw, release: w}]\n  rules:\n"+strings.ReplaceAll(list, "    - ", "  - "), 1))
		for i := range 20_000 {
			put(fmt.Sprintf("k/%d/a/b/%d.txt", i/100, i), "")
		}
	},
	"objects": func(put func(path, text string)) {
		text := strings.Repeat(treeObject, 10_000)
		for i := range large() / len(text) {
			put(fmt.Sprintf("k/%d.yaml", i), text)
		}
	},
}

// overlays is levels of directories that each lead to several of the next, each with a patch of its own.
func overlays(put func(path, text string), levels, wide int) {
	for level := range levels {
		for i := range wide {
			list := ""
			for next := range wide {
				list += fmt.Sprintf("- ../../%d/%d\n", level+1, next)
			}
			put(fmt.Sprintf("k/%d/%d/kustomization.yaml", level, i), fmt.Sprintf("namePrefix: a%d-\ncommonLabels: {a%d: b}\nresources:\n%s", i, level, list))
		}
	}
	for i := range wide {
		put(fmt.Sprintf("k/%d/%d/kustomization.yaml", levels, i), "resources: [a.yaml]\n")
		put(fmt.Sprintf("k/%d/%d/a.yaml", levels, i), strings.Repeat(treeObject, 20))
	}
	put("k/kustomization.yaml", "resources: [0/0]\n")
}

// hostileTree is a clone with one of them: main has the rules and the cluster, and proposed, which is checked out, all of it.
func hostileTree(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(path, text string) {
		file := filepath.Join(dir, filepath.FromSlash(path))
		err := os.WriteFile(file, []byte(text), 0o644)
		if os.IsNotExist(err) {
			if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
				err = os.WriteFile(file, []byte(text), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(".github/sluice.yaml", treeRules)
	put("clusters/one/gotk-sync.yaml", treeSync)
	put("clusters/one/rw.yaml", fmt.Sprintf(treeEntryPoint, "rw", "./k"))
	git(t, dir, nil, "init", "-q", "-b", "main")
	git(t, dir, nil, "remote", "add", "origin", "https://github.com/acme/fleet")
	git(t, dir, nil, "add", "-A")
	git(t, dir, nil, "commit", "-qm", "one")
	git(t, dir, nil, "checkout", "-qb", "proposed")
	hostileTrees[name](put)
	git(t, dir, nil, "add", "-A")
	git(t, dir, nil, "commit", "-qm", "two")
	return dir
}

// treeCommands is every command that reads a tree.
func treeCommands(dir string) map[string][]string {
	return map[string][]string{
		"check": {"check", dir}, "graph": {"graph", "--json", dir}, "graph --path": {"graph", "--path", "k", dir}, "init": {"init", "--file", "-", dir},
		"render suspend": {"render", "suspend", "--image", "a", dir}, "render flux": {"render", "flux", dir},
		"classify": {"classify", "--repo", dir, "--base", "main", "--head", "proposed"},
	}
}

// family is a command that runs: how long it and its children have had a core, and, for figures, how much memory they have together; false: it ended, or the system does not say.
func family(pid int) (cpu time.Duration, bytes int64, runs bool) {
	all := []string{strconv.Itoa(pid)}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, task := range tasks {
		if children, err := os.ReadFile(task); err == nil {
			all = append(all, strings.Fields(string(children))...)
		}
	}
	for i, id := range all {
		text, err := os.ReadFile("/proc/" + id + "/stat")
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if err != nil || len(fields) < 22 || i == 0 && fields[0] == "Z" {
			if i == 0 {
				return 0, 0, false
			}
			continue // what it took is its parent's since it was read
		}
		const ticks = 100 // a second: proc(5)
		for _, field := range fields[11:15] {
			n, _ := strconv.ParseInt(field, 10, 64)
			cpu += time.Duration(n) * time.Second / ticks
		}
		if !*figures {
			continue
		}
		rollup, _ := os.ReadFile("/proc/" + id + "/smaps_rollup") // what two share counts once
		_, after, _ = strings.Cut(string(rollup), "\nPss:")
		var kib int64
		_, _ = fmt.Sscan(after, &kib)
		bytes += kib << 10
	}
	return cpu, bytes, true
}

// objects is a pack that grows, and the names of what is in it.
type objects struct {
	raw []byte
	n   uint32
}

// kinds of objects, as a pack numbers them.
var packKinds = map[string]byte{"commit": 1, "tree": 2, "blob": 3}

// add adds an object, and gives its name.
func (o *objects) add(kind string, content []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...))
	o.raw = append(o.raw, packObject(packKinds[kind], len(content), 0, deflated(content))...)
	o.n++
	return hex.EncodeToString(sum[:])
}

// pack is all of them.
func (o *objects) pack() []byte {
	out := append(numbers.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), o.n), o.raw...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// hostilePacks is what a server sends, or a clone has, up to the last commit upon a first one whose folder .github is given.
var hostilePacks = map[string]func(o *objects, folder, first string) (tip string){
	"commits": func(o *objects, folder, tip string) string {
		root := o.add("tree", rulesEntry(folder))
		for i := 0; len(o.raw) < large(); i++ {
			tip = o.add("commit", commitOf(root, tip, fmt.Sprint(i)))
		}
		return tip
	},
	"merges": func(o *objects, folder, tip string) string {
		root := o.add("tree", rulesEntry(folder))
		side := tip
		for i := 0; len(o.raw) < large(); i++ {
			text := commitOf(root, tip, fmt.Sprint(i))
			side, tip = tip, o.add("commit", bytes.Replace(text, []byte("author"), []byte("parent "+side+"\nauthor"), 1))
		}
		return tip
	},
	"blobs": func(o *objects, folder, first string) string {
		tree := rulesEntry(folder)
		random := rand.NewChaCha8([32]byte{})
		for i := 0; len(o.raw) < large(); i++ {
			text := make([]byte, 1<<20)
			_, _ = random.Read(text) // it never fails
			tree = append(tree, treeEntry("100644", fmt.Sprintf("x%06d.yaml", i), o.add("blob", text))...)
		}
		return o.add("commit", commitOf(o.add("tree", tree), first, "blobs"))
	},
	"names": func(o *objects, folder, first string) string {
		tree, blob := rulesEntry(folder), o.add("blob", nil)
		for i := 0; len(o.raw) < large(); i++ {
			var dir []byte
			for n := range 1_000 {
				sum := sha1.Sum(fmt.Append(nil, i, n)) // so that nothing is small once it is packed
				dir = append(dir, treeEntry("100644", fmt.Sprintf("%04d%x%x", n, sum, sum), blob)...)
			}
			tree = append(tree, treeEntry("40000", fmt.Sprintf("x%06d", i), o.add("tree", dir))...)
		}
		return o.add("commit", commitOf(o.add("tree", tree), first, "names"))
	},
}

// rulesEntry is the line of a tree with the rules.
func rulesEntry(folder string) []byte { return treeEntry("40000", ".github", folder) }

// hostilePack is a clone with one of them, and the URL of a server that sends it.
func hostilePack(t *testing.T, name string) (dir, url string) {
	t.Helper()
	o := &objects{}
	file := o.add("blob", []byte(rules(openForYears)+"branches:\n  - {name: rw/a, from: main, window: w}\n"))
	folder := o.add("tree", treeEntry("100644", "sluice.yaml", file))
	first := o.add("commit", commitOf(o.add("tree", rulesEntry(folder)), "", "one"))
	tip := hostilePacks[name](o, folder, first)
	pack := o.pack()
	dir = t.TempDir()
	git(t, dir, nil, "init", "-q", "-b", "main")
	git(t, dir, pack, "index-pack", "--stdin")
	git(t, dir, nil, "update-ref", "refs/heads/main", tip)
	git(t, dir, nil, "update-ref", "refs/heads/rw/a", first)
	url, _ = hostileServer(t, tip, pack, first+" refs/heads/rw/a")
	return dir, url
}

// git runs git in a directory, as nobody.
func git(t *testing.T, dir string, stdin []byte, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=acme", "-c", "user.email=a@example.com", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// watched is a command that runs over something hostile.
type watched struct {
	cmd  *exec.Cmd
	out  *bytes.Buffer
	took time.Duration
	most int64 // bytes of all its processes together, at their peak
}

// watch runs the binary as it ships to its end. If it takes a core for so long, it gets a signal then; cpu is what it took after that; less than 0: it ended before.
func watch(t *testing.T, dir string, args []string, signal time.Duration) (w watched, cpu time.Duration) {
	t.Helper()
	bin, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	w.cmd, w.out = start(t, bin, dir, nil, args...)
	began, ended, at := time.Now(), make(chan struct{}), time.Duration(-1)
	go func() {
		defer close(ended)
		_ = w.cmd.Wait() // how it ended is looked at
	}()
	seen := time.Duration(0) // what it took at least: who reads it while a child ends misses that
	for every := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-ended:
			every.Stop()
			if w.took = time.Since(began); at < 0 {
				return w, -1
			}
			return w, w.cpu() - at
		case <-every.C:
			now, bytes, runs := family(w.cmd.Process.Pid)
			seen = max(seen, now)
			if w.most = max(w.most, bytes); runs && seen >= signal && at < 0 {
				_ = w.cmd.Process.Signal(syscall.SIGTERM) // it may have ended just now
				began = time.Now()
				now, _, _ = family(w.cmd.Process.Pid) // what it took until the signal was there is none after it
				at = max(seen, now)
			}
		}
	}
}

// cpu is how long a command that ended had a core, with the children that it waited for.
func (w watched) cpu() time.Duration {
	return w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime()
}

// hostileCalls is every call of a command over something hostile, by its name, in a directory that is made when it is asked for.
func hostileCalls(t *testing.T, give func(name, dir, command string, args []string)) {
	some := func(all iter.Seq[string]) []string { // with the race detector it takes minutes to make one, of which the binary that ships knows nothing
		names := slices.Sorted(all)
		return names[:race.Or(1, len(names))]
	}
	for _, name := range some(maps.Keys(hostileTrees)) {
		dir := hostileTree(t, name)
		for _, command := range slices.Sorted(maps.Keys(treeCommands(dir))) {
			give(name, dir, command, treeCommands(dir)[command])
		}
	}
	for _, name := range some(maps.Keys(hostilePacks)) {
		dir, url := hostilePack(t, name)
		give("a pack of "+name, dir, "classify", []string{"classify", "--repo", dir, "--base", "rw/a", "--head", "main"})
		give("a pack of "+name, dir, "promote --repo", []string{"promote", "--ignore-checks", "--dry-run", "--repo", dir})
		give("a pack of "+name, dir, "promote --remote", []string{"promote", "--ignore-checks", "--dry-run", "--remote", url})
	}
}

// TestSignalEndsAHostileTree: whatever a command does with a hostile tree or pack, a signal ends it, in at most half a second of two cores, without an answer.
func TestSignalEndsAHostileTree(t *testing.T) {
	t.Parallel()
	signals := 0
	hostileCalls(t, func(name, dir, command string, args []string) {
		w, cpu := watch(t, dir, args, 2*time.Second) // amid what it made; it is a bound that keeps it from taking longer
		if cpu < 0 {
			w, cpu = watch(t, dir, args, 300*time.Millisecond)
		}
		if cpu < 0 {
			return
		}
		signals++
		said, code := w.out.String(), w.cmd.ProcessState.ExitCode()
		refused := strings.Contains(said, "signal received") || strings.Contains(said, "more than ") // the bound that it meets next, where the signal finds it at its very end
		if cpu > time.Second || refused != (code == 2) {
			t.Errorf("%s, %s: %v after the signal; exit code %d: %.300s", name, command, cpu, code, w.out)
		}
	})
	if signals == 0 {
		t.Error("none of them takes that long")
	}
}

// TestHostileTreeIsHeld: what is proposed beyond a bound is not decided, and the command says which it was.
func TestHostileTreeIsHeld(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"name prefixes, 1.5 MB": "k/46/kustomization.yaml: more than 64 MiB of text",
		"overlays, 94 KB":       "more than ", // nodes, or MiB of memory, of which no place is said
	} {
		dir := hostileTree(t, name)
		refuses(t, want, dir, nil, append(treeCommands(dir)["classify"], "--timeout", "1h")...)
	}
}

// TestFigureHostileTrees measures what each command takes of each tree and pack, all its processes together, and how long it takes to end after a signal.
func TestFigureHostileTrees(t *testing.T) {
	figure(t)
	hostileCalls(t, func(name, dir, command string, args []string) {
		whole, _ := watch(t, dir, args, time.Hour)
		cut, cpu := watch(t, dir, args, whole.cpu()/2)
		ended := ""
		if cpu >= 0 {
			ended = fmt.Sprintf(", %v after a signal", cut.took.Round(time.Millisecond))
		}
		row(name+": "+command, fmt.Sprintf("%v, %d MiB%s", whole.took.Round(10*time.Millisecond), whole.most>>20, ended))
	})
}
