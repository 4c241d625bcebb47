package render

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/window"
)

// Input is what everything here is made of.
type Input struct {
	Policy   *config.Policy
	File     []byte // the policy as it is written
	Tree     fs.FS
	Graph    *graph.Tree // of Tree
	Clusters []graph.Cluster
	Only     string // the name of the one cluster that is wanted; "": all
}

// charge charges the run that read the tree for what is about to be done, held and written for a place.
func (in Input) charge(place string, steps, nodes, bytes int) error {
	if len(in.Clusters) == 0 {
		return nil
	}
	m := in.Clusters[0].Meter()
	return cmp.Or(m.Take(meter.Steps, steps, place), m.Take(meter.Nodes, nodes, place), m.Take(meter.Bytes, bytes, place))
}

// wanted reports whether something is to be written for a cluster.
func (in Input) wanted(c graph.Cluster) bool { return in.Only == "" || in.Only == c.Name }

// Hold is a Flux Kustomization that is windowed as a whole.
type Hold struct {
	*graph.Kustomization
	// Windows must all be open; sorted. Of files that several clusters read those that are another cluster's own do not count: on a pull
	// request they hold the file for that cluster, and here that cluster does so itself.
	Windows   []window.Name
	Elsewhere []window.Name  // those that do not count
	Branch    *config.Branch // the windowed branch that is its source, or would be; nil: windows hold its files on pull requests
}

// ID is what Flux calls it.
func (h Hold) ID() string { return id(h.Kustomization) }

func id(k *graph.Kustomization) string { return k.Namespace + "/" + k.Name }

// Omission is a Flux Kustomization that is not held as a whole although something of it is windowed, or may be.
type Omission struct {
	*graph.Kustomization
	Why string
}

// Others is the windows that do not count.
func (h Hold) Others() string { return joined(h.Elsewhere) }

// owners knows of each window whose own it is, and of each file who reads it.
type owners struct {
	in      Input
	readers map[string]int                  // clusters that read a file
	own     map[window.Name]map[string]bool // clusters with a file of their own that needs the window
}

// newOwners looks at all clusters of a tree.
func newOwners(in Input) (owners, error) {
	o := owners{in, map[string]int{}, map[window.Name]map[string]bool{}}
	files := make([][]string, len(in.Clusters))
	for i, c := range in.Clusters {
		files[i] = c.Files()
		if err := in.charge(c.Path, len(files[i]), len(files[i])/2, 0); err != nil {
			return o, err
		}
		for _, file := range files[i] {
			o.readers[file]++
		}
	}
	for i, c := range in.Clusters {
		for _, file := range files[i] {
			if err := in.charge(file, 1, 0, 0); err != nil {
				return o, err
			}
			windows, _, _ := holds(in.Policy, c, file)
			for _, w := range windows {
				if o.readers[file] == 1 {
					if o.own[w] == nil {
						o.own[w] = map[string]bool{}
					}
					o.own[w][c.Name] = true
				}
			}
		}
	}
	return o, nil
}

// elsewhere reports whether a window of a file is another cluster's own and none of this one's.
func (o owners) elsewhere(c graph.Cluster, file string, w window.Name) bool {
	return o.readers[file] > 1 && len(o.own[w]) > 0 && !o.own[w][c.Name]
}

// windowed is the Flux Kustomizations of a cluster that are windowed as a whole: those whose source tracks a windowed branch, and those of
// whose files the rules window every one. The one that applies the root, which holds Flux's own objects, is not among them.
// One that stands twice, and in one place is not windowed, is left out: which one Flux applies is not known.
func (o owners) windowed(c graph.Cluster) (held []Hold, left []Omission, err error) {
	type reading struct {
		id, path string
		source   *graph.Source
	}
	seen := map[reading]bool{}
	other := map[string]*graph.Kustomization{} // those that are not held, by ID
	for _, k := range c.Kustomizations {
		if err := o.in.charge(k.File, 1+len(k.Files()), 2, 0); err != nil {
			return nil, nil, err
		}
		r := reading{id(k), k.Path, k.Source}
		if seen[r] {
			continue // its files were read once
		}
		seen[r] = true
		h, why := o.classify(c, k)
		if why != "" && k.Here {
			other[id(k)] = k
		}
		switch {
		case !k.Here && (why == "" || c.Stands(k) && !onlyLive(o.in.Policy, []string{path.Join(k.Path, "kustomization.yaml")})):
			left = append(left, Omission{k, wordOtherRepository(c)})
		case root(c, k) && (!k.Here || h.Branch == nil):
		case root(c, k):
			left = append(left, Omission{k, wordRoot})
		case why == live:
		case why != "":
			left = append(left, Omission{k, why})
		case !named(k.Namespace, k.Name):
			left = append(left, Omission{k, wordBadName})
		default:
			held = append(held, h)
		}
	}
	slices.SortStableFunc(held, func(a, b Hold) int { return strings.Compare(a.ID(), b.ID()) })
	out := held[:0]
	for _, h := range held {
		if elder := other[h.ID()]; elder != nil {
			left = append(left, Omission{h.Kustomization, wordTwice(elder)})
		} else if n := len(out); n > 0 && out[n-1].ID() == h.ID() {
			out[n-1].Windows = sorted(append(out[n-1].Windows, h.Windows...))
		} else {
			out = append(out, h)
		}
	}
	return out, left, nil
}

// ofRoot is what is to be said of the windowed files that the root alone reads; "": there are none.
func (o owners) ofRoot(c graph.Cluster) string {
	below := map[string]bool{}
	for _, k := range c.Kustomizations {
		for _, file := range k.Files() {
			below[file] = true
		}
	}
	windowed := slices.DeleteFunc(c.RootFiles(), func(file string) bool { return below[file] || onlyLive(o.in.Policy, []string{file}) })
	if len(windowed) == 0 {
		return ""
	}
	return wordRootReads(len(windowed), len(c.RootFiles()), windowed[0])
}

// sorted is a list of windows, each once.
func sorted(list []window.Name) []window.Name {
	slices.Sort(list)
	return slices.Compact(list)
}

// root reports whether a Kustomization applies the cluster's root itself, or is of another repository.
func root(c graph.Cluster, k *graph.Kustomization) bool { return !k.Here || k.Path == c.Path }

// live is the answer for what no window holds.
const live = "live"

// classify says what holds a Kustomization, or why it is not held here.
func (o owners) classify(c graph.Cluster, k *graph.Kustomization) (Hold, string) {
	p, h, files := o.in.Policy, Hold{Kustomization: k}, k.Files()
	parts := graph.Entry{Cluster: &c, Kustomization: k}.Branches() // of a source that is put together of several, too
	for i, b := range p.Branches {
		own := k.Source != nil && b.Name == k.Source.Follows()
		if !own && !slices.Contains(parts, b.Name) {
			continue
		}
		if h.Windows = append(h.Windows, b.Window); own || h.Branch == nil {
			h.Branch = &p.Branches[i]
		}
	}
	if len(h.Windows) > 0 {
		h.Windows = sorted(h.Windows)
		return h, ""
	}
	other, example, release := 0, "", ""
	for _, file := range files {
		windows, branch, why := holds(p, c, file)
		if why != "" {
			if other++; example == "" {
				example, release = file, why
			}
			continue
		}
		for _, w := range windows {
			if o.elsewhere(c, file, w) {
				h.Elsewhere = append(h.Elsewhere, w)
			} else {
				h.Windows = append(h.Windows, w)
			}
		}
		if branch != nil {
			h.Branch = branch
		}
	}
	switch {
	case len(files) == 0:
		return h, wordReadsNothing
	case other == len(files) && (onlyLive(p, files) || isLive(p, c, k)):
		return h, live
	case other > 0:
		return h, wordMixed(len(files), other, example, release)
	}
	if len(h.Windows) == 0 { // nothing of it is this cluster's own
		h.Windows, h.Elsewhere = h.Elsewhere, nil
	}
	h.Windows, h.Elsewhere = sorted(h.Windows), sorted(h.Elsewhere)
	return h, ""
}

// onlyLive reports whether no file of a list needs anything that could be closed.
func onlyLive(p *config.Policy, files []string) bool {
	return !slices.ContainsFunc(files, func(file string) bool {
		return slices.ContainsFunc(p.Layout.Classify(file).Releases, func(r layout.Release) bool { return r != layout.Live })
	})
}

// isLive reports whether a Kustomization is live although windowed ones read files of it: each is live, too, and no entry of entrypoints means it.
func isLive(p *config.Policy, c graph.Cluster, k *graph.Kustomization) bool {
	held := func(file string) bool {
		releases := p.Layout.Classify(file).Releases
		return len(releases) > 0 && !slices.Contains(releases, layout.Live)
	}
	means := func(e config.EntryPoint) bool { return e.Fits(c.Name, id(k), k.Path) }
	return !slices.ContainsFunc(k.Files(), held) && !slices.ContainsFunc(p.EntryPoints, means)
}

// holds is the windows that must be open for a file, and the windowed branch that holds it; why: it is not windowed, or by what is not known.
func holds(p *config.Policy, c graph.Cluster, file string) (windows []window.Name, branch *config.Branch, why string) {
	releases := p.Layout.Classify(file).Releases
	if len(releases) == 0 {
		return nil, nil, "ignored"
	}
	for _, r := range releases {
		switch _, ok := r.BranchGlob(); {
		case ok:
			b, why := branchOf(p, c, r)
			if why != "" {
				return nil, nil, why
			}
			windows, branch = append(windows, b.Window), b
		case r == layout.Live:
			return nil, nil, live
		case !p.Calendar.Has(window.Name(r)):
			return nil, nil, "never releasable"
		default:
			windows = append(windows, window.Name(r))
		}
	}
	return windows, branch, ""
}

// branchOf is the one windowed branch of a release that is this cluster's: the only one, or the one that has its name.
func branchOf(p *config.Policy, c graph.Cluster, r layout.Release) (*config.Branch, string) {
	all := p.Matching(r)
	mine := slices.DeleteFunc(slices.Clone(all), func(b config.Branch) bool { return path.Base(b.Name) != c.Name })
	if len(all) == 1 {
		mine = all
	}
	if len(mine) != 1 {
		return nil, wordWhichBranch(r, len(all))
	}
	return &mine[0], ""
}

var (
	nameShape      = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	namespaceShape = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// named reports whether Kubernetes takes these names.
func named(namespace, name string) bool {
	return namespaceShape.MatchString(namespace) && nameShape.MatchString(name)
}

// Contradictions are the Kustomizations of all clusters that are held, and of whose suspend Git says something, each place of a file once: Flux puts
// that back.
func Contradictions(in Input) ([]Hold, error) {
	var out []Hold
	seen := map[manifest.Place]bool{}
	o, err := newOwners(in)
	for _, c := range in.Clusters {
		if err != nil || !in.wanted(c) {
			continue
		}
		var held []Hold
		held, _, err = o.windowed(c)
		for _, h := range held {
			if h.Suspend.Set() && !seen[h.Suspend.Place] {
				seen[h.Suspend.Place] = true
				out = append(out, h)
			}
		}
	}
	return out, err
}
