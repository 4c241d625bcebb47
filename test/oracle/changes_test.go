package oracle

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
)

// mostChanges is how many changes of a world are tried: those of more files are drawn.
const mostChanges = 40

// objects is the objects of a file, and those of its lists.
func objects(text string) []object {
	var out []object
	for _, doc := range strings.Split("\n"+text, "\n---") {
		var o object
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil || o == nil {
			continue
		}
		if items := list(o["items"]); len(items) > 0 {
			out = append(out, items...)
		} else {
			out = append(out, o)
		}
	}
	return out
}

// changes is changes of files that may reach windowed entry points at once, in an order that is the same for the same world.
func (j *judge) changes(subjects []subject) []change {
	h := fnv.New64a()
	names := slices.Sorted(maps.Keys(j.files))
	for _, name := range names {
		fmt.Fprint(h, name)
	}
	rnd := rand.New(rand.NewPCG(h.Sum64(), 1))
	asked, other := j.asked(), j.others(subjects)
	classes := j.check.classify()
	held := func(file string) bool {
		has := classes.Classify(file).Releases
		return holds(has) || !slices.ContainsFunc(subjects, func(s subject) bool {
			return slices.ContainsFunc(s.windows, func(w layout.Release) bool { return !slices.Contains(has, w) })
		})
	}
	var out []change
	for _, name := range names {
		if name == config.File || held(name) {
			continue
		}
		if asked(name) {
			out = append(out, change{file: name, kind: deleteFile})
			out = append(out, edits(rnd, name, j.files[name], other)...)
		}
	}
	for _, dir := range dirs(names) {
		for _, ch := range j.additions(rnd, dir, other) {
			if _, there := j.files[ch.file]; !there && asked(ch.file) && !held(ch.file) {
				out = append(out, ch)
			}
		}
	}
	rnd.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out[:min(len(out), mostChanges)]
}

// asked is which files a change of counts for: nothing else was asked of what follows main.
func (j *judge) asked() func(file string) bool {
	read, listed, all := map[string]bool{}, map[string]bool{}, false
	for _, c := range j.base {
		for _, e := range c.entries {
			all = all || e.artifact != nil && len(e.artifact.sources) > 1
			if e.built == nil || !slices.Contains(e.artifact.tracks, mainBranch) {
				continue
			}
			for _, p := range e.trace {
				if p.op == opList {
					listed[inside(p.path)] = true
				} else {
					read[inside(p.path)] = true
				}
			}
			for _, o := range e.objects {
				all = all || o.kind() == "HelmRelease"
			}
		}
	}
	return func(file string) bool {
		return all || read[file] || listed[path.Dir(file)] || path.Base(file) == ".sourceignore" || file == ".gitmodules"
	}
}

// others is documents that say something else of what windowed entry points are.
func (j *judge) others(subjects []subject) []string {
	var out []string
	for _, s := range subjects {
		e := j.base[s.cluster].entries[s.name]
		k := object(maps.Clone(e.object))
		spec := maps.Clone(reference(k["spec"]))
		spec["path"] = "./elsewhere"
		k["spec"] = map[string]any(spec)
		out = append(out, yamlText(k))
		if e.artifact == nil || len(e.artifact.sources) == 0 {
			continue
		}
		source := object(maps.Clone(e.artifact.sources[0]))
		if spec := maps.Clone(reference(source["spec"])); spec["ref"] != nil {
			spec["ref"] = map[string]any{"branch": mainBranch}
			source["spec"] = map[string]any(spec)
			out = append(out, yamlText(source))
		}
	}
	return out
}

// edits is changes of what a file says.
func edits(rnd *rand.Rand, name, text string, other []string) []change {
	var out []change
	for i, line := range strings.Split(text, "\n") {
		key, value, found := strings.Cut(line, ": ")
		if !found && !strings.HasPrefix(strings.TrimSpace(line), "- ") || strings.HasSuffix(key, "apiVersion") || strings.HasSuffix(key, "kind") {
			continue
		}
		add := func(to string) { out = append(out, change{file: name, kind: editLine, at: i, from: line, to: to}) }
		add("")
		if found && !strings.ContainsAny(value, "{[|&*") {
			add(key + ": " + strings.Trim(value, `"'`) + "-changed")
		}
		for _, r := range []string{"rw/c1=main", "rw/c2=main", "-rw=-rt", "prod=dev"} {
			if from, to, _ := strings.Cut(r, "="); strings.Contains(line, from) {
				add(strings.ReplaceAll(line, from, to))
			}
		}
	}
	rnd.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	out = out[:min(len(out), 6)]
	if slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name)) {
		return append(out, listed(name, text)...)
	}
	if ext := path.Ext(name); len(other) > 0 && (ext == ".yaml" || ext == ".yml") {
		out = append(out, change{file: name, kind: appendText, to: "---\n" + other[rnd.IntN(len(other))]})
	}
	return out
}

// listed is fields that a kustomization.yaml does not have yet.
func listed(name, text string) []change {
	var out []change
	for _, field := range []string{
		"patches:\n- target: {kind: Kustomization}\n  patch: '[{op: replace, path: /spec/interval, value: 42m}]'\n",
		"patches:\n- target: {kind: .*Repository}\n  patch: '[{op: replace, path: /spec/interval, value: 42m}]'\n",
		"namePrefix: x-\n", "namespace: elsewhere\n",
	} {
		if key, _, _ := strings.Cut(field, ":"); !strings.Contains("\n"+text, "\n"+key+":") {
			out = append(out, change{file: name, kind: appendText, to: field})
		}
	}
	return out
}

// dirs is every directory of some files.
func dirs(names []string) []string {
	all := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); !all[dir]; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// additions is new files in a directory.
func (j *judge) additions(rnd *rand.Rand, dir string, other []string) []change {
	var first []string
	for _, name := range slices.Sorted(maps.Keys(j.files)) {
		if path.Dir(name) == dir && path.Ext(name) == ".yaml" {
			first = append(first, path.Base(name))
		}
	}
	list := yamlText(map[string]any{"resources": first[:min(1, len(first))], "namespace": "elsewhere"})
	out := []change{
		{file: path.Join(dir, "kustomization.yaml"), kind: addFile, to: list},
		{file: path.Join(dir, ".sourceignore"), kind: addFile, to: "*.yaml\n"},
	}
	if len(other) > 0 {
		out = append(out, change{file: path.Join(dir, "zz-new.yaml"), kind: addFile, to: other[rnd.IntN(len(other))]})
	}
	return out
}

// change is a change of one file of main.
type change struct {
	file string
	kind changeKind
	at   int    // the line that becomes another one
	from string // this line
	to   string // what it becomes, what is appended, or the new file
}

type changeKind string

// The kinds of changes, as people read them.
const (
	deleteFile changeKind = "deletes it"
	editLine   changeKind = "changes a line of it"
	appendText changeKind = "appends to it"
	addFile    changeKind = "adds it"
)

func (ch change) String() string {
	switch ch.kind {
	case editLine:
		return fmt.Sprintf("makes line %d of it, %q, %q", ch.at+1, ch.from, ch.to)
	case appendText, addFile:
		return fmt.Sprintf("%s: %q", ch.kind, ch.to)
	}
	return string(ch.kind)
}

// apply is a tree after the change; ok is false if it has nothing to change.
func (ch change) apply(files map[string]string) (head map[string]string, ok bool) {
	text, there := files[ch.file]
	head = maps.Clone(files)
	switch ch.kind {
	case deleteFile:
		delete(head, ch.file)
		return head, there
	case editLine:
		lines := strings.Split(text, "\n")
		i := slices.Index(lines, ch.from)
		if ch.at < len(lines) && lines[ch.at] == ch.from {
			i = ch.at
		}
		if i < 0 {
			return head, false
		}
		if lines[i] = ch.to; ch.to == "" {
			lines = slices.Delete(lines, i, i+1)
		}
		head[ch.file] = strings.Join(lines, "\n")
		return head, true
	case appendText:
		head[ch.file] = text + ch.to
		return head, there
	}
	head[ch.file] = ch.to
	return head, !there
}
