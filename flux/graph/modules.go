package graph

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-git/gcfg"
)

// gitmodules is the file that says where the submodules of a repository stand.
const gitmodules = ".gitmodules"

// modules is the directories of the submodules.
func (t *kTree) modules() []string {
	if t.Look(gitmodules, false); !t.files[gitmodules] {
		return nil
	}
	if t.submodules == nil {
		t.submodules = t.readModules()
	}
	return t.submodules
}

func (t *kTree) readModules() []string {
	text, err := t.ReadWhole(gitmodules, MaxDoc)
	if err != nil {
		t.problem(Place{gitmodules, 1}, err.Error())
		return []string{}
	}
	out, at := []string{}, map[string]int{}
	err = gcfg.ReadWithCallback(bytes.NewReader(text), func(section, of, key, value string, _ bool) error {
		i, known := at[of]
		switch {
		case t.step(gitmodules, 1):
			return t.Meter().Err()
		case !strings.EqualFold(section, "submodule") || of == "":
			return nil
		case !known && len(out) == MaxList:
			t.tooLong(Place{gitmodules, 1}, "submodules")
			return nil
		case !known:
			i, at[of], out = len(out), len(out), append(out, ".")
		}
		if strings.EqualFold(key, "path") {
			out[i] = Clean(value)
		}
		return nil
	})
	if err != nil {
		t.problem(Place{gitmodules, 1}, wordNoModules(err))
	}
	return out
}

// inModule reports whether a path leads into a submodule.
func (t *kTree) inModule(name string) bool {
	return slices.ContainsFunc(t.modules(), func(dir string) bool { _, ok := inside(dir, name); return ok })
}

// within is the files of directories, and those of some others that there are.
func (t *kTree) within(dirs, others []string) []string {
	if t.sorted == nil {
		t.sorted = sortedKeys(t.files)
	}
	var out []string
	for _, dir := range dirs {
		t.Look(dir, true)
		if dir == "." {
			out = append(out, t.sorted...)
			continue
		}
		at, _ := slices.BinarySearch(t.sorted, dir+"/")
		for ; at < len(t.sorted) && strings.HasPrefix(t.sorted[at], dir+"/"); at++ {
			out = append(out, t.sorted[at])
		}
	}
	for _, file := range others {
		file = Clean(file)
		if t.Look(file, false); t.files[file] {
			out = append(out, file)
		}
	}
	return out
}
