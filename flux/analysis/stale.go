package analysis

import (
	"bytes"
	"errors"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

// Since is a change that began before the tip of its base.
type Since struct {
	Files   []plan.File // of the change
	Changed []string    // what the base changed since
	// A file at the commit where the change began, at the base's tip, and with the change alone; nil: no file is there. One that is too large is ErrUncompared.
	Before, Tip, Head func(name string) ([]byte, error)
}

// ErrUncompared is that a file is not compared.
var ErrUncompared = errors.New("not compared")

// How much of each side is compared: what is beyond costs more to parse than it is worth.
const (
	maxStaleFiles = 500
	maxStaleDocs  = 1000    // in these files
	maxStaleText  = 4 << 20 // bytes of them, before and after
)

// Stale is what changed live since a held change began, and belongs to what that changes. policy is with what references say of the files of the change, tip is the
// base's. What it takes of the meter it gives back.
func (r Run) Stale(policy *config.Policy, tip *Tree, s Since) ([]config.Note, error) {
	level := policy.Consistency.Stale
	if level == config.LevelOff {
		return nil, nil
	}
	defer r.Meter.Mark()()
	var held []string
	for _, f := range s.Files {
		for _, path := range f.Names() {
			if kustomize.IsYAML(path) && needs(policy, path, layout.Release.IsWindow) {
				held = append(held, path)
			}
		}
	}
	since := slices.DeleteFunc(slices.Clone(s.Changed), func(path string) bool { return !kustomize.IsYAML(path) || slices.Contains(held, path) })
	if len(held) == 0 || len(since) == 0 {
		return nil, nil
	}
	changes, more, err := r.changed(held, s.Before, s.Head)
	if err != nil {
		return nil, err
	}
	changed, beyond, err := r.changed(since, s.Before, s.Tip)
	if err != nil {
		return nil, err
	}
	if more || beyond {
		return reach.Uncompared(level), nil
	}
	var at *config.Policy
	return reach.Stale(level, changes, changed, func(path string) bool {
		if at == nil {
			at = policy.With(reach.New(policy, tip.Clusters))
		}
		return needs(at, path, func(r layout.Release) bool { return r == layout.Live })
	}), r.Meter.Err()
}

// needs reports whether a file needs a release of some kind.
func needs(policy *config.Policy, path string, is func(layout.Release) bool) bool {
	return slices.ContainsFunc(policy.Layout.Classify(path).Releases, is)
}

// changed is the objects of some files that are others in one state than in another; beyond: they are more than are compared.
func (r Run) changed(files []string, before, after func(string) ([]byte, error)) (out []*manifest.Doc, beyond bool, err error) {
	text, docs := 0, 0
	for i, name := range files {
		var is [2][]*manifest.Doc
		for j, of := range []func(string) ([]byte, error){before, after} {
			data, err := of(name)
			if errors.Is(err, ErrUncompared) {
				return nil, true, nil
			}
			if err != nil {
				return nil, false, err
			}
			text, docs = text+len(data), docs+1+bytes.Count(data, []byte("\n---"))
			if i >= maxStaleFiles || text > maxStaleText || docs > 2*maxStaleDocs {
				return nil, true, nil
			}
			if is[j], err = r.docs(name, data); err != nil {
				return nil, false, err
			}
		}
		out = append(out, reach.Changed(is[0], is[1])...)
	}
	return out, false, nil
}

// docs is the objects of a file. One that is no YAML has none.
func (r Run) docs(name string, text []byte) ([]*manifest.Doc, error) {
	read := manifest.NewReader(r.Meter)
	if read.Step(name, 1+len(text)>>8) {
		return nil, r.Meter.Err()
	}
	docs := read.Inline(manifest.Place{File: name, Line: 1}, string(text))
	for _, d := range docs {
		if d.Weigh(); read.Hold(name, d.Nodes, d.Size) {
			return nil, r.Meter.Err()
		}
	}
	return docs, nil
}
