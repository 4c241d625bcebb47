package config

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/layout"
)

// EntryPoint is what the file says of Flux Kustomizations, or of clusters' roots: what their files need.
type EntryPoint struct {
	Cluster  string // as written, a pattern
	Where    string // the same
	Releases []layout.Release

	cluster, where *layout.Glob
}

// Fits reports whether the entry means an entry point of a cluster that has one of these names: NAMESPACE/NAME, or the directory that it reads.
func (e EntryPoint) Fits(cluster string, names ...string) bool {
	return e.cluster.Match(cluster) && slices.ContainsFunc(names, e.where.Match)
}

// In reports whether the entry may mean something in a cluster.
func (e EntryPoint) In(cluster string) bool { return e.cluster.Match(cluster) }

// Level says what becomes of what a check of the consistency finds.
type Level string

// The levels of a check.
const (
	LevelHold Level = "hold" // what is found is an error of `sluice check`; a change is held
	LevelWarn Level = "warn" // it is a warning
	LevelOff  Level = "off"  // nobody looks
)

// Consistency says for each check of the reference graph what becomes of its findings.
type Consistency struct {
	Duplicates Level // one object, two releases in one cluster
	Layers     Level // a rule that says otherwise than what reads the path
	Moves      Level // an object that a change moves between live and windowed entry points
	Builds     Level // an entry point that cannot be built
	Stale      Level // for the service
	Enforced   Level // a windowed entry point that nothing holds
	Followed   Level // a windowed branch that nothing tracks
}

// defaultConsistency is that of a file that does not say.
func defaultConsistency() Consistency {
	return Consistency{
		Duplicates: LevelHold, Layers: LevelHold, Moves: LevelHold, Builds: LevelHold, Stale: LevelWarn, Enforced: LevelWarn,
		Followed: LevelHold,
	}
}

func (c *Consistency) value() kind {
	level := func(into *Level) kind { return choice(into, LevelHold, LevelWarn, LevelOff) }
	return section(
		key{"duplicates", false, level(&c.Duplicates)},
		key{"layers", false, level(&c.Layers)},
		key{"moves", false, level(&c.Moves)},
		key{"builds", false, level(&c.Builds)},
		key{"stale", false, level(&c.Stale)},
		key{"enforced", false, level(&c.Enforced)},
		key{"followed", false, level(&c.Followed)},
	)
}

// entryPointText is one entry of layout.entrypoints.
type entryPointText struct {
	cluster, where string
	release        releaseText
}

func entryPointValue(t *entryPointText) kind {
	t.cluster = "*"
	return section(
		key{"cluster", false, plainGlob(&t.cluster)},
		key{"where", true, plainGlob(&t.where)},
		key{"release", true, release(&t.release)},
	)
}

// entryPoints compiles layout.entrypoints: of its entries those that have no error.
func (c *compiler) entryPoints() []EntryPoint {
	var out []EntryPoint
	windows := c.windowNames()
	for i, t := range c.doc.layout.entries {
		way := []any{"layout", "entrypoints", i, "release"}
		if !c.wholeRelease(t.release, way...) {
			continue
		}
		releases, ignore := t.release.releases()
		if ignore {
			c.fail(ignoredEntryPoint(), way...)
		}
		for k, name := range t.release.names {
			switch {
			case ignore || name == string(layout.Live) || slices.Contains(windows, name):
			case isCapture(name):
				c.fail(captureOfEntryPoint(name), c.releaseSteps(k, slices.Clone(way))...)
			default:
				c.fail(unknownWindow(name, windows), c.releaseSteps(k, slices.Clone(way))...)
			}
		}
		if !c.r.sound("layout", "entrypoints", i) {
			continue
		}
		slices.Sort(releases)
		e := EntryPoint{Cluster: t.cluster, Where: t.where, Releases: slices.Compact(releases)}
		e.cluster, _ = layout.ParseGlob(t.cluster) // it was parsed before
		e.where, _ = layout.ParseGlob(directory(t.where))
		out = append(out, e)
	}
	return out
}

// directory is a path as people write it for Flux without what does not count.
func directory(path string) string {
	if clean := strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/"); clean != "" {
		return clean
	}
	return "."
}

// What keeps Flux from deleting an object that leaves a Kustomization, where it was applied before it leaves: the line, as it stands below
// metadata.annotations; the lines of a manifest; and the line as far as people know it, where there is no room.
const (
	Keep      = "kustomize.toolkit.fluxcd.io/prune: disabled"
	KeepLines = "metadata: {annotations: {" + Keep + "}}"
	KeepBrief = "prune: disabled"
)

// With is the policy with what references say of the paths of a tree, or of several. Of a policy without them every path that no rule decides
// needs [layout.Unclear] if the file says `flux: true`.
func (p *Policy) With(r layout.References) *Policy {
	out := *p
	out.Layout = p.Layout.With(r)
	return &out
}

// Frozen is the policy with all of its windows frozen before an instant: see [window.Calendar.Frozen].
func (p *Policy) Frozen(by string, until time.Time) *Policy {
	out := *p
	out.Calendar = p.Calendar.Frozen(by, until)
	return &out
}

// Until is the policy for as long as its layout may be asked: see [layout.Layout.Until].
func (p *Policy) Until(stop func(path string, patterns int) bool) *Policy {
	out := *p
	out.Layout = p.Layout.Until(stop)
	return &out
}
