package kustomize

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-git/gcfg"

	"github.com/sluicegate/sluice/flux/manifest"
)

// GitModules is the file that says where the submodules of a repository stand.
const GitModules = ".gitmodules"

// Modules is the directories of the submodules.
func (t *Tree) Modules() []string {
	if t.Look(GitModules, false); !t.Files[GitModules] {
		return nil
	}
	if t.submodules == nil {
		t.submodules = t.readModules()
	}
	return t.submodules
}

func (t *Tree) readModules() []string {
	text, err := t.ReadWhole(GitModules, manifest.MaxDoc)
	if err != nil {
		t.Problem(manifest.Place{File: GitModules, Line: 1}, err.Error())
		return []string{}
	}
	out, at := []string{}, map[string]int{}
	err = gcfg.ReadWithCallback(bytes.NewReader(text), func(section, of, key, value string, _ bool) error {
		i, known := at[of]
		switch {
		case t.Step(GitModules, 1):
			return t.Meter().Err()
		case !strings.EqualFold(section, "submodule") || of == "":
			return nil
		case !known && len(out) == manifest.MaxList:
			t.TooLong(manifest.Place{File: GitModules, Line: 1}, "submodules")
			return nil
		case !known:
			i, at[of], out = len(out), len(out), append(out, ".")
		}
		if strings.EqualFold(key, "path") {
			out[i] = manifest.Clean(value)
		}
		return nil
	})
	if err != nil {
		t.Problem(manifest.Place{File: GitModules, Line: 1}, wordNoModules(err))
	}
	return out
}

// inModule reports whether a path leads into a submodule.
func (t *Tree) inModule(name string) bool {
	return slices.ContainsFunc(t.Modules(), func(dir string) bool { _, ok := Inside(dir, name); return ok })
}
