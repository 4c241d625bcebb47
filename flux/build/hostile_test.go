package build

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

// bomb is YAML whose last value has ten to the power of ten elements.
func bomb() string {
	var out strings.Builder
	out.WriteString("x0: &x0 [a,a,a,a,a,a,a,a,a,a]\n")
	for i := range 9 {
		fmt.Fprintf(&out, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d,", i), 10), ","))
	}
	return out.String()
}

// doubling is directories that each lead to the next one twice.
func doubling(levels int) string {
	var out strings.Builder
	for i := range levels {
		for _, side := range []string{"l", "r"} {
			fmt.Fprintf(&out, "-- d%d/%s/kustomization.yaml --\nnamePrefix: %s\nresources: [../../d%d/l, ../../d%d/r]\n", i, side, side, i+1, i+1)
		}
	}
	return out.String() + fmt.Sprintf("-- app/kustomization.yaml --\nresources: [../d0/l]\n-- d%d/l/kustomization.yaml --\nnamePrefix: x\n-- d%d/r/kustomization.yaml --\nnamePrefix: x\n", levels, levels)
}

// chain is directories that each lead to the next one.
func chain(levels int) string {
	var out strings.Builder
	for i := range levels {
		fmt.Fprintf(&out, "-- d%d/kustomization.yaml --\nresources: [../d%d]\n", i, i+1)
	}
	return out.String() + fmt.Sprintf("-- app/kustomization.yaml --\nresources: [../d0]\n-- d%d/kustomization.yaml --\nresources: [a.yaml]\n-- d%d/a.yaml --\n%s", levels, levels, configMap)
}

// list is a List of so many objects.
func list(n int) string {
	var out strings.Builder
	out.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range n {
		fmt.Fprintf(&out, "- {apiVersion: v1, kind: Secret, metadata: {name: s%d}}\n", i)
	}
	return out.String()
}

// copies is a ConfigMap that holds a file of two megabytes so many times.
func copies(n int) string {
	return "-- app/kustomization.yaml --\nconfigMapGenerator:\n- name: a\n  files:\n" + many("  - k%d=../big\n", n) + "-- big --\n" + strings.Repeat("x", 2<<20) + "\n"
}

const resourceA = "-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\n"

// TestHostile: what is too much is refused within the bounds, by words of ours, and the next entry is built all the same.
func TestHostile(t *testing.T) {
	slow := race.Or(2*time.Second, 3*time.Second)
	for name, c := range map[string]struct {
		files  string
		limits Limits
		entry  Entry
		want   string
	}{
		"aliases in an object":             {files: resourceA + configMap + bomb(), want: "app/kustomization.yaml:1: app/a.yaml: " + wordAlias},
		"aliases in a kustomization.yaml":  {files: "-- app/kustomization.yaml --\n" + bomb(), want: "app/kustomization.yaml: " + wordAlias},
		"aliases in a kustomization below": {files: "-- app/kustomization.yaml --\nresources: [../b]\n-- b/kustomization.yaml --\n" + bomb(), want: "b/kustomization.yaml: " + wordAlias},
		"aliases in a patch":               {files: plainFile, entry: Entry{Patches: []manifest.Patch{{Text: configMap + bomb()}}}, want: "app/kustomization.yaml: " + wordAlias},
		"an alias of itself":               {files: resourceA + configMap + "x: &x {y: *x}\n", want: "app/kustomization.yaml:1: app/a.yaml: " + wordAlias},
		"nested brackets":                  {files: resourceA + configMap + "x: " + strings.Repeat("[", 1_000_000) + "\n", want: "exceeded max depth"},
		"nested braces":                    {files: resourceA + configMap + "x: " + strings.Repeat("{a: ", 9_000) + strings.Repeat("}", 9_000) + "\n", want: "app/a.yaml: " + wordNested},
		"nested lists":                     {files: resourceA + configMap + "x:\n" + strings.Repeat("- ", 9_000) + "a\n", want: "app/a.yaml: " + wordNested},
		"nested sections":                  {files: resourceA + configMap + nested(1_200), want: "app/a.yaml: " + wordNested},
		"a cycle":                          {files: "-- app/kustomization.yaml --\nresources: [../b]\n-- b/kustomization.yaml --\nresources:\n- ../app\n", want: "b/kustomization.yaml:2: " + wordCycle},
		"a cycle of components":            {files: "-- app/kustomization.yaml --\ncomponents: [../b]\n-- b/kustomization.yaml --\nkind: Component\ncomponents: [../c]\n-- c/kustomization.yaml --\nkind: Component\ncomponents: [../b]\n", want: "c/kustomization.yaml:2: " + wordCycle},
		"a directory in itself":            {files: "-- app/kustomization.yaml --\nresources: [.]\n", want: "app/kustomization.yaml:1: " + wordCycle},
		"many ways through few":            {files: doubling(40), want: wordDirs},
		"a long chain":                     {files: chain(100), want: wordDeep},
		"a million documents":              {files: resourceA + strings.Repeat("---\n", race.Or(100_000, 1_000_000)), want: wordObjects(DefaultObjects)},
		"a million resources":              {files: "-- app/kustomization.yaml --\nresources:\n" + strings.Repeat("- a\n", 1_000_000) + "-- app/a --\n" + configMap, want: wordLongKustomization("app/kustomization.yaml")},
		"many resources":                   {files: "-- app/kustomization.yaml --\nresources:\n" + strings.Repeat("- a\n", race.Or(20_000, 200_000)) + "-- app/a --\n" + configMap, want: wordObjects(DefaultObjects)},
		"a file of gigabytes by generator": {files: copies(2000), want: wordRead()},
		"a large file":                     {files: resourceA + configMap + "x: " + strings.Repeat("x", 5<<20) + "\n", want: wordLeft("app/a.yaml")},
		"a list of many objects":           {files: resourceA + list(50_000), limits: Limits{Entry: slow}, want: wordSlow(slow)},
		"more memory than there may be":    {files: race.Or(copies(15), resourceA+list(50_000)), limits: Limits{Memory: race.Or[int64](40<<20, 64<<20)}, want: wordMemory},
		"objects in a list":                {files: resourceA + list(20), limits: Limits{Objects: 10}, want: wordObjects(10)},
		"no kustomization at all":          {files: "-- app/kustomization.yaml --\n[]\n", want: "app/kustomization.yaml: "},
		"null":                             {files: "-- app/kustomization.yaml --\nresources: [a.yaml]\npatches: [null]\n-- app/a.yaml --\nmetadata: null\n", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := archive(c.files + "-- good/a.yaml --\n" + configMap)
			c.entry.Path = "app"
			good := Entry{Path: "good"}
			began := time.Now()
			results, err := Run(t.Context(), command(), tree, all(t, tree), []Entry{c.entry, good, c.entry, good}, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v", time.Since(began))
			for i, r := range results {
				bad := i%2 == 0
				switch {
				case bad && (r.Err == "" || !strings.Contains(r.Err, c.want) || r.Remote):
					t.Errorf("%.300s\nwant %s", lines(r), c.want)
				case !bad && len(r.Objects) != 1:
					t.Errorf("the next one: %s", lines(r))
				}
			}
		})
	}
}

func nested(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.Repeat(" ", i) + "x:\n")
	}
	return out.String()
}

func many(format string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// TestAll: when the time of all builds is over, the rest has its words.
func TestAll(t *testing.T) {
	tree := archive(resourceA + list(50_000))
	e := Entry{Path: "app"}
	limit := race.Or(time.Second, 2*time.Second)
	results, err := Run(t.Context(), command(), tree, all(t, tree), []Entry{e, e, e, e, e}, Limits{Entry: time.Hour, All: limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != wordLate(limit) {
			t.Error(lines(r))
		}
	}
}

// elsewhere is every form by which kustomize fetches something.
var elsewhere = []string{
	"https://example.com/a.yaml", "http://127.0.0.1:1/a.yaml", "HTTPS://example.com/a.yaml", "https:example.com", "https://github.com/acme/base?ref=v1", "https://example.com/x.git//base",
	"github.com/acme/base", "GitHub.com/acme/base//x?ref=v1", "github.com:acme/base", "git@github.com:acme/base.git", "git@example.com:acme/base.git//x",
	"org-1234@github.com:acme/base", "ssh://git@example.com/acme/base", "ssh://example.com/acme/base.git", "file:///etc", "file://etc/passwd", "git::https://example.com/acme/base",
	"git::git::https://example.com/a/b", "GIT::github.com/acme/base", "user@dev.azure.com/acme/project/_git/base", "git://example.com/acme/base", "s3::https://example.com/a",
}

// TestRemote: whatever is elsewhere is named, by words of ours: nothing asks the network for it, and nothing looks for git.
func TestRemote(t *testing.T) {
	const builtin = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: "
	places := map[string]string{
		"resources": "resources: [%q]\n", "bases": "bases: [%q]\n", "components": "components: [%q]\n", "crds": "crds: [%q]\n", "configurations": "configurations: [%q]\n",
		"openapi": "openapi: {path: %q}\n", "generators": "generators: [%q]\n", "transformers": "transformers: [%q]\n", "validators": "validators: [%q]\n",
		"patches": "patches: [{path: %q}]\n", "patchesJson6902": "patchesJson6902: [{path: %q, target: {kind: A, name: a}}]\n", "patchesStrategicMerge": "patchesStrategicMerge: [%q]\n",
		"replacements": "replacements: [{path: %q}]\n", "files": "configMapGenerator: [{name: a, files: [%q]}]\n", "files with a key": "configMapGenerator: [{name: a, files: [\"k=%s\"]}]\n",
		"envs": "secretGenerator: [{name: a, envs: [%q]}]\n", "env": "secretGenerator: [{name: a, env: %q}]\n", "a transformer's text": "transformers: [\"" + strings.ReplaceAll(builtin, "\n", "\\n") + "%s\"]\n",
	}
	type asked struct{ place, ref string }
	tree, entries, names := fstest.MapFS{}, []Entry(nil), []asked(nil)
	for place, format := range places {
		for i, ref := range elsewhere {
			if place == "files" && strings.Contains(ref, "=") {
				continue // what stands before it is a key
			}
			for _, kind := range []string{"", "/below"} {
				dir := path.Join(strings.ReplaceAll(place, " ", "-"), fmt.Sprint(i))
				text := fmt.Sprintf(format, ref)
				if kind != "" {
					tree[dir+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [in]\n")}
					dir += "/in"
				}
				tree[dir+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte(text)}
			}
			dir := path.Join(strings.ReplaceAll(place, " ", "-"), fmt.Sprint(i))
			entries, names = append(entries, Entry{Path: dir}, Entry{Path: dir + "/in"}), append(names, asked{place, ref}, asked{place, ref})
		}
	}
	for _, ref := range elsewhere {
		tree["here/a.yaml"] = &fstest.MapFile{Data: []byte(configMap)}
		tree[path.Join("here", ref)] = &fstest.MapFile{Data: []byte(":")} // that there is such a file changes nothing: it is no YAML
		entries, names = append(entries, Entry{Path: "here", Components: []string{ref}}), append(names, asked{"components", ref})
	}
	delete(tree, "here")
	results, err := Run(t.Context(), command(), tree, all(t, tree), entries, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		place, ref := names[i].place, names[i].ref
		if !r.Remote || !strings.Contains(r.Err, ".yaml:1: needs ") && place != "components" || !strings.Contains(r.Err, wordRemote(ref)) {
			t.Errorf("%s %s: %s", place, ref, lines(r))
		}
	}
}

// TestNamedAsRemote: what is missing is missing, whatever it is called: what comes from elsewhere is known by what it is.
func TestNamedAsRemote(t *testing.T) {
	tree := archive("-- app/kustomization.yaml --\nresources: [\"a, which is not fetched.yaml\"]\npatches: [{path: b}]\n-- app/b --\n" + configMap)
	results, err := Run(t.Context(), command(), tree, all(t, tree), []Entry{{Path: "app"}}, Limits{})
	if err != nil || results[0].Remote || !strings.Contains(results[0].Err, "is not in the tree") {
		t.Errorf("%v %s", err, lines(results[0]))
	}
}

// TestShared: child processes share the memory; what needs more than its part is built alone, with all of it.
func TestShared(t *testing.T) {
	if race.Enabled || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("the race detector takes its own, and one processor shares nothing")
	}
	tree := archive(copies(8) + "-- good/a.yaml --\n" + configMap)
	for name, c := range map[string]struct {
		memory int64
		want   string
	}{"enough for one": {2 * childMemory, ""}, "too little for one": {childMemory, wordMemory}} {
		var said []string // one that is built again alone is one all the same
		results, err := Job{
			Command: command(), Tree: tree, Files: all(t, tree), Entries: []Entry{{Path: "app"}, {Path: "good"}}, Limits: Limits{Memory: c.memory},
			Progress: func(done, all int) { said = append(said, fmt.Sprintf("%d/%d", done, all)) },
		}.Run(t.Context())
		if want := []string{"0/2", "1/2", "2/2"}; !slices.Equal(said, want) {
			t.Errorf("%s: progress is %q, want %q", name, said, want)
		}
		if err != nil || results[0].Err != c.want || results[1].Err != "" {
			t.Errorf("%s: %v %.200s %s", name, err, lines(results[0]), lines(results[1]))
		}
	}
}

// TestHeldMemory: children have what of the memory of a run its own process leaves.
func TestHeldMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes its own")
	}
	tree := archive(copies(8))
	for held, want := range map[int]string{0: "", forAll - childMemory: wordMemory, 2 * forAll: wordMemory} {
		m := meter.New(t.Context(), meter.Limits{meter.Bytes: -1})
		_ = m.Take(meter.Bytes, held, "")
		results, err := Job{Command: command(), Tree: tree, Files: all(t, tree), Entries: []Entry{{Path: "app"}}, Limits: Limits{Memory: 2 * childMemory}, Meter: m}.Run(t.Context())
		if err != nil || results[0].Err != want {
			t.Errorf("where %d MiB are held: %v %.200s", held>>20, err, lines(results[0]))
		}
		m.Close()
	}
}

// TestMetered: what children make is charged to the run, which ends where that is too much, or when its time is over.
func TestMetered(t *testing.T) {
	tree := archive(resourceA + list(200) + "-- slow/kustomization.yaml --\nresources: [a.yaml]\n-- slow/a.yaml --\n" + list(50_000))
	for name, c := range map[string]struct {
		limits meter.Limits
		path   string
		want   string
	}{
		"enough":  {meter.Limits{}, "app", ""},
		"objects": {meter.Limits{meter.Nodes: 500}, "app", "build: app: more than 500 nodes of YAML"},
		"files":   {meter.Limits{meter.Bytes: 1000}, "app", "build: app/a.yaml: more than 0 KiB of text"},
		"time":    {meter.Limits{meter.Time: int64(300 * time.Millisecond)}, "slow", "build: more than 300ms"},
	} {
		m := meter.New(t.Context(), c.limits)
		j := Job{Command: command(), Tree: tree, Files: all(t, tree), Meter: m}
		for i := range 3 { // that make different things
			j.Entries = append(j.Entries, Entry{Path: c.path, NamePrefix: fmt.Sprint("a", i)})
		}
		began := time.Now()
		_, err := j.Run(m.Context())
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s: %s, want %q", name, got, c.want)
		}
		if late := time.Since(began); name == "time" && late > 5*time.Second {
			t.Errorf("it went on for %v", late)
		}
		m.Close()
	}
}

// TestNoPrograms: what would run a program, or reads files by one, is refused.
func TestNoPrograms(t *testing.T) {
	const function = "apiVersion: x/v1\nkind: Run\nmetadata:\n  name: a\n  annotations: {config.kubernetes.io/function: \"exec: {path: /bin/true}\"}\n"
	for name, c := range map[string]struct{ files, want string }{
		"helmCharts":           {"-- app/kustomization.yaml --\nhelmCharts: [{name: a, repo: https://example.com}]\n", wordHelm},
		"helmGlobals":          {"-- app/kustomization.yaml --\nhelmGlobals: {chartHome: x}\n", wordHelm},
		"the older field":      {"-- app/kustomization.yaml --\nhelmChartInflationGenerator: [{chartName: a}]\n", wordHelm},
		"helm as a plugin":     {"-- app/kustomization.yaml --\ngenerators: [a.yaml]\n-- app/a.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: a}\nname: a\n", wordHelm},
		"a function":           {"-- app/kustomization.yaml --\ntransformers: [a.yaml]\n-- app/a.yaml --\n" + function, wordPlugin("Run")},
		"a function as a text": {"-- app/kustomization.yaml --\nvalidators:\n- |\n  " + strings.ReplaceAll(function, "\n", "\n  "), wordPlugin("Run")},
		"a program":            {"-- app/kustomization.yaml --\ngenerators: [a.yaml]\n-- app/a.yaml --\napiVersion: someteam.example.com/v1\nkind: Chart\nmetadata: {name: a}\n", wordPlugin("Chart")},
		"a directory of them":  {"-- app/kustomization.yaml --\ngenerators: [../b]\n-- b/kustomization.yaml --\nresources: [a.yaml]\n-- b/a.yaml --\n" + function, "plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := one(t, archive(c.files), Entry{Path: "app"}); r.Remote || !strings.Contains(r.Err, c.want) {
				t.Error(lines(r))
			}
		})
	}
}

// TestBuiltins: the transformers that kustomize has itself are no programs.
func TestBuiltins(t *testing.T) {
	const text = plainFile + "-- app/prefix.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: a}\nprefix: x-\nfieldSpecs: [{path: metadata/name}]\n"
	tree := archive(strings.Replace(text, "resources:", "transformers: [prefix.yaml]\nresources:", 1))
	if got := lines(one(t, tree, Entry{Path: "app"})); got != "ConfigMap /x-a < app/a.yaml\n" {
		t.Error(got)
	}
}

// probe is what a child does in TestConfined: whatever it can do, it says.
func probe() {
	fmt.Println("environment", len(os.Environ()))
	dir, _ := os.Getwd()
	fmt.Println("directory", dir)
	if err := confine(Limits{}.filled(), new(atomic.Int64)); err != nil {
		fmt.Println(err)
	}
	_, read := os.Open("/")
	_, write := os.Create("/tmp/sluice-probe")
	_, tcp := net.Dial("tcp", "127.0.0.1:1")
	_, listen := net.Listen("tcp", "127.0.0.1:0")
	_, udp := net.Dial("udp", "127.0.0.1:1")
	_, _, pipe := os.Pipe()
	run := exec.Command("/bin/true").Run()
	_, self := os.StartProcess("/proc/self/exe", []string{"x"}, &os.ProcAttr{})
	for _, err := range []error{read, write, tcp, listen, udp, pipe, run, self} {
		fmt.Println(err != nil && (strings.Contains(err.Error(), "too many open files") || strings.Contains(err.Error(), "no such file")), err)
	}
}

// TestConfined: a child has no environment, and opens no file, no socket and no process.
func TestConfined(t *testing.T) {
	r := &run{Job: Job{Command: []string{os.Args[0], "probe"}}}
	c, err := r.launch(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	out, err := io.ReadAll(c.out)
	if err != nil || strings.Count(string(out), "\ntrue ") != 8 || !strings.HasPrefix(string(out), "environment 0\ndirectory /\n") {
		t.Errorf("%s %v", out, err)
	}
}

// orphan starts a child, writes its process id, and waits until it is killed itself.
func orphan() {
	tree := archive(resourceA + list(50_000))
	r := &run{Job: Job{Command: command(), Tree: tree, Files: []string{"app/kustomization.yaml", "app/a.yaml"}, Limits: Limits{}.filled(), Meter: meter.Unhurried()}}
	c, err := func() (*child, error) {
		if err := r.load(); err != nil {
			return nil, err
		}
		return r.start(context.Background())
	}()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.cmd.Process.Pid)
	_, _ = c.build(Entry{Path: "app"}, time.Hour)
}

// TestOrphan: a child ends with its parent, even in the middle of a build.
func TestOrphan(t *testing.T) {
	parent := exec.CommandContext(t.Context(), os.Args[0], "orphan")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscan(out, &pid)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for runs(pid) {
		runtime.Gosched()
	}
}

// runs reports whether a process is there, and no zombie that nobody waits for.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestMillion: a million files are refused before anything is sent.
func TestMillion(t *testing.T) {
	_, err := Run(t.Context(), command(), fstest.MapFS{}, make([]string, 1_000_000), []Entry{{Path: "."}}, Limits{})
	if err == nil || err.Error() != "build: "+wordManyFiles() {
		t.Error(err)
	}
}

// TestNoChild: without a child there is an error, and no results.
func TestNoChild(t *testing.T) {
	for _, call := range [][]string{{"/there-is-none"}, {os.Args[0], "no-child"}} {
		if results, err := Run(t.Context(), call, archive(plainFile), []string{"app/a.yaml"}, []Entry{{Path: "app"}}, Limits{}); err == nil || results != nil {
			t.Errorf("%v: %v, %v", call, results, err)
		}
	}
}
