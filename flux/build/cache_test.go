package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
)

// used is when the tests use what is kept.
var used = time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)

// source is a tree by its files' texts; what is only there, and not read, is a link.
type source map[string]string

const link = "\x00"

func (s source) files() *files {
	f := newFiles()
	for name, text := range s {
		f.add(name, []byte(text), text == link)
	}
	f.sort()
	return f
}

// valid reports whether it can be a tree: no file stands where a directory is.
func (s source) valid() bool {
	f := s.files()
	for name := range s {
		if f.dirs[name] {
			return false
		}
	}
	return true
}

// sources is trees with all that kustomize and Flux read by.
func sources() []source {
	var out []source
	for _, text := range []string{
		plainFile + "-- app/unused.yaml --\n" + configMap,
		"-- app/z.yml --\n" + configMap + "-- app/deep/down/b.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: b") +
			"-- app/unit/kustomization.yaml --\nnamePrefix: unit-\nresources: [c.yaml]\n-- app/unit/c.yaml --\n" + configMap +
			"-- app/.sops.yaml --\n:\n-- app/deep/.sourceignore --\n*.md\n-- .sourceignore --\n/other\n-- README.md --\nx\n",
		"-- app/kustomization.yml --\nresources: [../base, a.yaml]\ncomponents: [../more]\nnamePrefix: x-\n-- app/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: c") +
			"-- base/Kustomization --\nresources: [b.yaml]\npatches: [{path: patch.yaml}]\n-- base/b.yaml --\n" + configMap +
			"-- base/patch.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {l: m}}\n" +
			"-- more/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -y\n",
		"-- app/kustomization.yaml --\nconfigMapGenerator: [{name: g, files: [k=../v.txt], envs: [e.env]}]\nsecretGenerator: [{name: s, env: e.env}]\n" +
			"-- v.txt --\nv\n-- app/e.env --\nA=b\n",
		"-- app/kustomization.yaml --\nresources: [a.yaml, thing.yaml]\ntransformers: [tr.yaml, transform]\nconfigurations: [config.yaml]\ncrds: [crd.json]\n" +
			"openapi: {path: schema.json}\nreplacements: [{path: r.yaml}]\n-- app/a.yaml --\n" + configMap +
			"-- app/thing.yaml --\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {ref: {name: a}}\n" +
			"-- app/tr.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: p-\nfieldSpecs: [{path: metadata/name}]\n" +
			"-- app/transform/kustomization.yaml --\nresources: [s.yaml]\n-- app/transform/s.yaml --\napiVersion: builtin\nkind: SuffixTransformer\nmetadata: {name: p}\nsuffix: -s\nfieldSpecs: [{path: metadata/name}]\n" +
			"-- app/config.yaml --\nnameReference: [{kind: ConfigMap, fieldSpecs: [{path: spec/ref/name, kind: Thing}]}]\n" +
			"-- app/crd.json --\n{}\n-- app/schema.json --\n" + things +
			"\n-- app/r.yaml --\nsource: {kind: Thing, fieldPath: spec.ref.name}\ntargets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]\n",
		"-- app/kustomization.yaml --\nresources: [base]\ngenerators: [gen.yaml]\nvalidators: [v.yaml]\n-- app/base/kustomization.yaml --\nresources: [../../base]\n" +
			"-- base/kustomization.yaml --\nresources: [a.yaml]\nnamespace: shop\n-- base/a.yaml --\n" + configMap +
			"-- app/gen.yaml --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [x.txt]\n-- app/x.txt --\nx\n" +
			"-- app/v.yaml --\napiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {}\n",
		"-- app/kustomization.yaml --\nresources: [\"https://example.com/base.git\", a.yaml, ../base]\n-- app/a.yaml --\n" + configMap +
			"-- base/kustomization.yaml --\nbases: [git@github.com:acme/c.git]\nresources: [b.yaml]\n-- base/b.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: b"),
	} {
		s := source{}
		for name, file := range archive(text) {
			s[name] = string(file.Data)
		}
		out = append(out, s)
	}
	return out
}

// tried is the entries of such trees.
var tried = []Entry{
	{Path: "app"},
	{Path: "app", Components: []string{"../more"}, TargetNamespace: "shop", Ignore: "*.yml\n"},
	{Path: "."},
	{Path: "app", Whole: true},
}

// same reports whether two outcomes are one.
func same(t *testing.T, a, b outcome) bool {
	t.Helper()
	text := func(o outcome) string {
		o.Asked, o.Digest = nil, sum{}
		out, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	return text(a) == text(b)
}

// changed is every tree that differs from one in a single file: without it, with another content, a link in its place, and with one that comes new
// wherever a name counts.
func (s source) changed() []source {
	var out []source
	put := func(name, text string) {
		c := maps.Clone(s)
		if c[name] = text; c.valid() {
			out = append(out, c)
		}
	}
	dirs := []string{".", "more", "new"}
	for name, text := range s {
		c := maps.Clone(s)
		delete(c, name)
		out = append(out, c)
		put(name, link)
		put(name, "")
		put(name, strings.NewReplacer("name: a", "name: other", "prefix: ", "prefix: q", "suffix: ", "suffix: q", "v", "w").Replace(text)+"\n")
		dirs = append(dirs, path.Dir(name), path.Join(path.Dir(name), "inner"))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		put(dir, configMap) // a file where a directory was, or could be
		for name, text := range map[string]string{
			"kustomization.yaml": "namePrefix: new-\nresources: [new.yaml]\n", "kustomization.yml": "namePrefix: new-\n", "Kustomization": "nameSuffix: -new\n",
			".sourceignore": "*.yaml\n*.yml\n", "new.yaml": strings.ReplaceAll(configMap, "name: a", "name: new"), "new.txt": "x", ".sops.yaml": configMap,
		} {
			put(path.Join(dir, name), text)
			put(path.Join(dir, name), link)
		}
	}
	return out
}

// TestKeptIsFresh: what is kept of a tree holds for a tree that differs in one file only if a build of that makes the same. So a build is known to have
// asked for all that it depends on, what is not there included.
func TestKeptIsFresh(t *testing.T) {
	held, gone := 0, 0
	for i, s := range sources() {
		for _, e := range tried {
			was := newBuilder(s.files(), Limits{}.filled()).build(e)
			if was.Asked == nil {
				if e.Path == "app" && e.Components == nil && !e.Whole {
					t.Fatalf("tree %d: %s", i, was.Err)
				}
				continue
			}
			for _, c := range s.changed() {
				if !race.Some(4) {
					continue
				}
				tree := c.files()
				is := newBuilder(tree, Limits{}.filled()).build(e)
				same := same(t, is, was)
				switch kept := newAnswers(tree).digest(was.Asked) == was.Digest; {
				case kept && !same:
					t.Errorf("tree %d, %s: kept\n%swhere it is now\n%s%v\n%v", i, e.Path, linesOf(was), linesOf(is), s, c)
				case kept:
					held++
				case !same:
					gone++
				}
			}
		}
	}
	if many := race.Or(50, 200); held < many || gone < many {
		t.Errorf("%d trees held, %d make something else", held, gone)
	}
}

// FuzzKept: the same for any changes, one after the other, through the files of a cache.
func FuzzKept(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
		all := sources()
		s, e := all[r.IntN(len(all))], tried[r.IntN(len(tried))]
		c := NewCache(filepath.Join(t.TempDir(), "c"), used)
		defer c.Close()
		past := []source{s}
		for range 12 {
			answers := newAnswers(s.files())
			fresh := newBuilder(answers.tree, Limits{}.filled()).build(e)
			if kept, ok := c.get(sum{}, answers); ok && !same(t, kept, fresh) {
				t.Errorf("kept\n%swhere it is now\n%s%v", linesOf(kept), linesOf(fresh), s)
			}
			c.put(sum{}, fresh, answers)
			if next := s.changed(); r.IntN(4) > 0 {
				s = next[r.IntN(len(next))]
			} else {
				s = past[r.IntN(len(past))]
			}
			past = append(past, s)
		}
	})
}

// counted is a job that counts what it builds.
func counted(j Job, built *int) Job {
	j.Progress = func(_, all int) { *built = all }
	*built = 0
	return j
}

// TestCache: what was built is not built again, wherever it stands, on the disk and where nothing may be kept there; what depends on a changed file is, and
// so is what failed.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "up", "cache")
	t.Run("on the disk", func(t *testing.T) { caches(t, func() *Cache { return NewCache(dir, used) }) })
	for _, none := range []string{"", "/proc/none"} {
		one := NewCache(none, used)
		t.Run("in "+none, func(t *testing.T) { caches(t, func() *Cache { return one }) })
	}
}

func caches(t *testing.T, open func() *Cache) {
	tree := archive("-- a/kustomization.yaml --\nresources: [../base]\n-- b/kustomization.yaml --\nresources: [a.yaml]\n-- b/a.yaml --\n" +
		configMap + "-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + strings.ReplaceAll(configMap, "name: a", "name: '${n}'") +
		"-- broken/kustomization.yaml --\nresources: [none.yaml]\n")
	patch := func(file string) []manifest.Patch {
		return []manifest.Patch{{Place: manifest.Place{File: file}, Target: manifest.Target{Kind: "ConfigMap"}, Text: `[{"op": "add", "path": "/data/l", "value": "m"}]`}}
	}
	entries := []Entry{
		{Path: "a", Variables: manifest.Variables{Values: map[string]string{"n": "one"}}}, {Path: "a", Variables: manifest.Variables{Values: map[string]string{"n": "two"}}},
		{Path: "b"}, {Path: "broken"}, {Path: "a", TargetNamespace: "x", Patches: patch("f")},
		{Path: "a", TargetNamespace: "x", Patches: patch("g")},
	}
	run := func(what string, built int, want string) {
		t.Helper()
		c := open()
		defer c.Close()
		n := 0
		results, err := counted(Job{Command: command(), Tree: tree, Files: all(t, tree), Entries: entries, Cache: c}, &n).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range results {
			got += lines(r)
		}
		if got != want || n != built {
			t.Errorf("%s: %d built, want %d; got\n%swant\n%s", what, n, built, got, want)
		}
	}
	const failed = "error: broken/kustomization.yaml:1: broken/none.yaml is not in the tree\n"
	const rest = failed + "ConfigMap x/${n} < base/a.yaml\nConfigMap x/${n} < base/a.yaml\n"
	const one, two = "ConfigMap /one < base/a.yaml\n", "ConfigMap /two < base/a.yaml\n"
	run("first", 4, one+two+"ConfigMap /a < b/a.yaml\n"+rest)
	run("again", 1, one+two+"ConfigMap /a < b/a.yaml\n"+rest)
	was := tree["b/a.yaml"].Data
	tree["b/a.yaml"].Data = []byte(strings.ReplaceAll(configMap, "name: a", "name: c"))
	run("a changed file", 2, one+two+"ConfigMap /c < b/a.yaml\n"+rest)
	tree["b/a.yaml"].Data = was
	run("the branch before", 1, one+two+"ConfigMap /a < b/a.yaml\n"+rest)
	delete(tree, "broken/kustomization.yaml")
	tree["broken/a.yaml"] = tree["b/a.yaml"]
	run("mended", 1, one+two+"ConfigMap /a < b/a.yaml\nConfigMap /a < broken/a.yaml\nConfigMap x/${n} < base/a.yaml\nConfigMap x/${n} < base/a.yaml\n")
}

// TestMemoryIsBounded: no more is remembered than may be, whatever is built again.
func TestMemoryIsBounded(t *testing.T) {
	c := NewCache("", used)
	for i := range byte(12) {
		keep(t, c, sum{i}, strings.Repeat("x", 3<<20))
		keep(t, c, sum{0}, strings.Repeat("y", 3<<20))
	}
	bytes := 0
	for _, text := range c.memory {
		bytes += len(text)
	}
	if bytes != c.bytes || bytes > maxMemory || nameKept(c, sum{4}) == "" || nameKept(c, sum{5}) != "" {
		t.Errorf("%d bytes are held, and %d counted", bytes, c.bytes)
	}
}

// TestCacheIsPrivate: what is kept is the user's alone, and no directory of others is used.
func TestCacheIsPrivate(t *testing.T) {
	up := t.TempDir()
	dir := filepath.Join(up, "c")
	c := NewCache(dir, used)
	keep(t, c, sum{}, "a")
	for file, mode := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, filepath.Join(dir, fileOf(sum{})): 0o600} {
		if info, err := os.Stat(file); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	c.Close()
	for _, mode := range []os.FileMode{0o777, 0o750, 0o701} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if NewCache(dir, used).ready() {
			t.Errorf("one with mode %o is used", mode)
		}
	}
	file := filepath.Join(up, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below"), "/proc/none"} {
		if NewCache(dir, used).ready() {
			t.Errorf("%q is used", dir)
		}
	}
	var none *Cache
	none.Close()
	none.put(sum{}, outcome{Asked: []question{"fa"}}, nil)
	if _, ok := none.get(sum{}, nil); ok {
		t.Error("none keeps something")
	}
}

// keep keeps an object of a name for an empty tree.
func keep(t *testing.T, c *Cache, key sum, name string) {
	t.Helper()
	if c.dir != "" && !c.ready() {
		t.Fatal("no cache")
	}
	tree := newAnswers(newFiles())
	asked := []question{"fa"}
	c.put(key, outcome{Objects: []made{{Object: Object{Name: name}}}, Asked: asked, Digest: tree.digest(asked)}, tree)
}

// nameKept is the name of the object that is kept; "": none.
func nameKept(c *Cache, key sum) string {
	o, ok := c.get(key, newAnswers(newFiles()))
	if !ok || len(o.Objects) == 0 {
		return ""
	}
	return o.Objects[0].Name
}

// TestCacheIsBroken: whatever stands in the place of what was kept is no error and is never taken for it, and what is kept next stands there again.
func TestCacheIsBroken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	c := NewCache(dir, used)
	defer c.Close()
	file := filepath.Join(dir, fileOf(sum{}))
	keep(t, c, sum{}, "a")
	good, err := os.ReadFile(file)
	if err != nil || nameKept(c, sum{}) != "a" {
		t.Fatal(err)
	}
	swap := func(data []byte) func() error { return func() error { return os.WriteFile(file, data, 0o600) } }
	huge := func() error { return os.Truncate(file, 1<<40) }
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(elsewhere, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"empty": swap(nil), "short": swap(good[:10]), "cut": swap(good[:len(good)-1]), "longer": swap(append(slices.Clone(good), 'x')), "large": huge,
		"other content":  swap(bytes.Replace(good, []byte(`"Name":"a"`), []byte(`"Name":"b"`), 1)),
		"no JSON":        swap(hashed("[")),
		"deep JSON":      swap(hashed(strings.Repeat("[", 1<<20))),
		"other JSON":     swap(hashed(`{"a": 1}`)),
		"nothing asked":  swap(hashed(`[{"Objects": [{"Name": "b"}]}]`)),
		"odd questions":  swap(hashed(`[{"Asked": ["", "x", "f"], "Objects": [{"Name": "b"}]}]`)),
		"gone":           func() error { return os.Remove(file) },
		"a link":         func() error { return first(os.Remove(file), func() error { return os.Symlink(elsewhere, file) }) },
		"a pipe":         func() error { return first(os.Remove(file), func() error { return fifo(file) }) },
		"not to be read": func() error { return first(os.Remove(file), func() error { return os.WriteFile(file, nil, 0o200) }) },
	} {
		if err := spoil(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := nameKept(c, sum{}); got != "" {
			t.Errorf("%s: %q is kept", name, got)
		}
		if keep(t, c, sum{}, "a"); nameKept(c, sum{}) != "a" {
			t.Errorf("%s: nothing is kept any more", name)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if keep(t, c, sum{}, "a"); nameKept(c, sum{}) != "" {
		t.Error("a directory is no file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "new-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func first(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

func hashed(text string) []byte {
	c := &bytes.Buffer{}
	h := sha256.Sum256([]byte(text))
	c.Write(h[:])
	c.WriteString(text)
	return c.Bytes()
}

// TestCacheIsBounded: beyond its bytes, what was not used for the longest time goes first, and what one entry makes of many trees is bounded as well.
func TestCacheIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	long := strings.Repeat("x", 6<<20)
	for i := range byte(12) {
		c := NewCache(dir, used.Add(time.Duration(i)*time.Hour))
		keep(t, c, sum{i}, long)
		nameKept(c, sum{0}) // is used each time
		c.trim()
		c.Close()
	}
	c := NewCache(dir, used)
	defer c.Close()
	if !c.ready() {
		t.Fatal("no cache")
	}
	got := ""
	for i := range byte(12) {
		got += fmt.Sprint(len(c.readFile(fileOf(sum{i}))) > len(long), " ")
	}
	if want := "true false false " + strings.Repeat("true ", 9); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tree := newFiles()
	for i := range 10 {
		a := newAnswers(tree)
		asked := []question{"fa"}
		c.put(sum{99}, outcome{Objects: []made{}, Asked: asked, Digest: a.digest(asked)}, a)
		tree = newFiles()
		tree.add("a", []byte(fmt.Sprint(i)), false)
	}
	if n := len(c.read(sum{99})); n != maxTrees {
		t.Errorf("%d trees", n)
	}
	if keep(t, c, sum{98}, strings.Repeat("x", maxKept)); nameKept(c, sum{98}) != "" {
		t.Error("more than one may have is kept")
	}
}

// TestCacheBelievesNobody: a child that says of another tree than was sent what it built by keeps nothing.
func TestCacheBelievesNobody(t *testing.T) {
	c := NewCache(filepath.Join(t.TempDir(), "c"), used)
	defer c.Close()
	c.put(sum{}, outcome{Objects: []made{{Object: Object{Name: "a"}}}, Asked: []question{"fa"}, Digest: sum{1}}, newAnswers(newFiles()))
	if nameKept(c, sum{}) != "" {
		t.Error("it is kept")
	}
}

// TestKey: entries, limits and programs that build otherwise have keys of their own.
func TestKey(t *testing.T) {
	seen := map[sum]string{}
	for _, e := range []Entry{
		{}, {Path: "a"}, {Components: []string{"a"}}, {Components: []string{"a", "b"}}, {Components: []string{"a"}, Optional: true}, {Patches: []manifest.Patch{{Text: "a"}}}, {Patches: []manifest.Patch{{Target: manifest.Target{Kind: "a"}}}},
		{TargetNamespace: "a"}, {NamePrefix: "a"}, {NameSuffix: "a"}, {Ignore: "a"},
	} {
		for _, program := range []sum{{}, {1}} {
			for _, l := range []Limits{{}, {Objects: 1}} {
				text, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				key := keyOf(program, text, l.filled())
				if other, ok := seen[key]; ok {
					t.Errorf("%+v %v %v has the key of %s", e, program, l, other)
				}
				seen[key] = fmt.Sprint(e, program, l)
			}
		}
	}
	if a, ok := NewCache(filepath.Join(t.TempDir(), "c"), used).identity(command()); !ok || a == (sum{}) {
		t.Error("this program has none")
	}
	if _, ok := NewCache(filepath.Join(t.TempDir(), "c"), used).identity([]string{"/none"}); ok {
		t.Error("a program that cannot be read has one")
	}
}

// large is the entries of a repository as companies have them.
func large(t testing.TB) Job {
	tree := fluxtrees.Large(t)
	g, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Command: command(), Tree: tree, Files: all(t, tree), Limits: Limits{All: time.Hour}}
	for _, c := range g.Clusters(nil) {
		j.Entries = append(j.Entries, entriesOf(c)...)
	}
	if len(j.Entries) != 74 {
		t.Fatalf("%d entries", len(j.Entries))
	}
	return j
}
