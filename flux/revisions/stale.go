package revisions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

// How much is compared of what changed since a change began, and of that.
const (
	maxStaleFiles = 500
	maxStaleDocs  = 1000
)

// stale is what changed live on the base since a held change began, and belongs to what that changes. It is asked anew at each tip, as a change that is kept says
// nothing of it.
func (r *reader) stale(repo *gitremote.Repo, policy *config.Policy, of change, f *finding) ([]config.Note, error) {
	level := policy.Consistency.Stale
	if level == config.LevelOff || of.before == r.tip {
		return nil, nil
	}
	defer r.meter.Mark()()
	held := heldFiles(policy.With(f.answers), f.files)
	if len(held) == 0 {
		return nil, nil
	}
	states, err := repo.Merged(of.before, of.before, r.tip)
	if err != nil {
		return nil, err
	}
	since := slices.DeleteFunc(slices.Clone(states[1].Changed), func(path string) bool { return !kustomize.IsYAML(path) || slices.Contains(held, path) })
	if len(since) == 0 {
		return nil, nil
	}
	changed, err := r.changed(repo, of.before, r.tip, since)
	if err != nil {
		return nil, err
	}
	changes, err := r.changed(repo, of.before, of.head, held)
	if err != nil {
		return nil, err
	}
	if max(len(since), len(held)) > maxStaleFiles || max(len(changed), len(changes)) > maxStaleDocs {
		return reach.Uncompared(level), nil
	}
	var at *config.Policy
	return reach.Stale(level, changes, changed, func(file string) bool {
		if at == nil {
			at = policy.With(reach.New(policy, r.kept.Clusters))
		}
		return needs(at, file, func(r layout.Release) bool { return r == layout.Live })
	}), r.meter.Err()
}

// heldFiles is the YAML files of a change that need more than to be merged.
func heldFiles(policy *config.Policy, files []plan.File) (out []string) {
	for _, f := range files {
		for _, path := range f.Names() {
			if kustomize.IsYAML(path) && needs(policy, path, func(r layout.Release) bool { return r != layout.Live }) {
				out = append(out, path)
			}
		}
	}
	return out
}

// needs reports whether a file needs a release of some kind.
func needs(policy *config.Policy, path string, is func(layout.Release) bool) bool {
	return slices.ContainsFunc(policy.Layout.Classify(path).Releases, is)
}

// changed is the objects of some files that differ between two commits. What is no YAML has none.
func (r *reader) changed(repo *gitremote.Repo, before, after plan.SHA, files []string) (out []*manifest.Doc, err error) {
	for _, name := range files[:min(len(files), maxStaleFiles)] {
		var docs [2][]*manifest.Doc
		for i, at := range []plan.SHA{before, after} {
			if docs[i], err = r.docs(repo, at, name); err != nil {
				return nil, err
			}
		}
		if out = append(out, reach.Changed(docs[0], docs[1])...); len(out) > maxStaleDocs {
			break
		}
	}
	return out, nil
}

// docs is the objects of a file.
func (r *reader) docs(repo *gitremote.Repo, at plan.SHA, name string) ([]*manifest.Doc, error) {
	text, _, err := repo.File(at, name)
	if errors.Is(err, gitremote.ErrNotAFile) || errors.Is(err, gitremote.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", name, err)
	}
	read := manifest.NewReader(r.meter)
	if read.Step(name, 1+len(text)>>8) {
		return nil, r.meter.Err()
	}
	docs := read.Inline(manifest.Place{File: name, Line: 1}, string(text))
	for _, d := range docs {
		if d.Weigh(); read.Hold(name, d.Nodes, d.Size) {
			return nil, r.meter.Err()
		}
	}
	return docs, nil
}
