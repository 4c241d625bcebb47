package graph

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Refs is the objects that an entry point and the HelmReleases that it applies refer to, and that those are made of, sorted, with those that stand in no
// file that was read. The sources of the entry point itself are in [Entry.Digest].
func (e Entry) Refs() []manifest.Ref {
	return slices.SortedFunc(maps.Keys(e.Cluster.refs[e.Kustomization]), manifest.Ref.Compare)
}

// refer keeps what objects that an entry point applies refer to.
func (c *Cluster) refer(of Entry, user Object, refs ...manifest.Ref) {
	for _, r := range refs {
		r.Namespace = cmp.Or(r.Namespace, user.Namespace)
		if r.Name == "" {
			continue
		}
		if c.refs[of.Kustomization] == nil {
			c.refs[of.Kustomization] = map[manifest.Ref]bool{}
		}
		c.refs[of.Kustomization][r] = true
	}
}

// miss keeps what an object refers to that stands in no file, and that somebody may make. What lets a Kustomization or a source be read is mostly made by hand,
// so that only what says its name counts there: all is false.
func (c *Cluster) miss(r manifest.Ref, user Object, all bool) {
	r.Namespace = cmp.Or(r.Namespace, user.Namespace)
	made := r.Kind == "ConfigMap" || r.Kind == "Secret" || isSource(r.Kind) && !c.handsOn(r, user)
	stands := c.index.find(r, user) != nil
	if !made || r.Name == "" || stands && !slices.ContainsFunc(c.merging[r.Name], func(m *thing) bool { return c.tree.Step(m.File, 1+m.data.Size>>10) || m.may(r) }) {
		return
	}
	if was, known := c.merged[r]; was || !known { // for some it may stand in no file
		c.merged[r] = stands
	}
	if c.missing[r] = c.missing[r] || all; c.askers[r] == nil {
		c.askers[r] = map[string]bool{}
	}
	c.askers[r][c.entry(user.Entry).Branch()] = true
	if text := wordInNoFile(r, user); all && !stands && !isSource(r.Kind) && !c.tree.Hold(user.File, 1, len(text)) {
		c.Leaves = append(c.Leaves, kustomize.Leaf{Place: user.Place, Kind: kustomize.LeafObject, Text: text})
	}
}

// referred finds what everything of a cluster refers to.
func (w *walk) referred(c *Cluster) {
	c.refs, c.missing, c.merged, c.merging = map[*Kustomization]map[manifest.Ref]bool{}, map[manifest.Ref]bool{}, map[manifest.Ref]bool{}, map[string][]*thing{}
	c.askers = map[manifest.Ref]map[string]bool{}
	for _, m := range c.makers {
		for _, in := range [][]string{{"spec"}, {"spec", "externalSecretSpec"}} {
			of := func(key string) string { return m.data.Text(append(slices.Clone(in), "target", key)...) }
			if policy := of("creationPolicy"); policy == "Merge" || manifest.Unfilled(policy) != "" {
				into := cmp.Or(of("name"), m.Name)
				c.merging[into] = append(c.merging[into], m)
			}
		}
	}
	uses := func(of Entry, user Object, uses []use, all bool) {
		for _, u := range uses {
			c.refer(of, user, u.ref)
			c.miss(u.ref, user, all)
		}
	}
	for _, k := range c.Kustomizations {
		of := c.entry(k)
		for _, r := range k.SubstituteFrom {
			c.refer(of, k.Object, manifest.Ref{Kind: r.Kind, Namespace: "", Name: r.Name})
			c.miss(manifest.Ref{Kind: r.Kind, Namespace: "", Name: r.Name}, k.Object, true)
		}
		for _, u := range k.uses {
			c.miss(u.ref, k.Object, isSource(u.ref.Kind))
		}
		for _, o := range k.origins {
			for _, u := range o.uses {
				c.miss(u.ref, o.Object, false)
			}
		}
		c.fills(of, k.Object, k.names)
		found, _ := c.variables(k)
		for _, s := range found {
			if w.Spent(1, 0) {
				return
			}
			c.fills(of, s.Object, s.names)
		}
	}
	for _, r := range c.releases {
		of := c.entry(r.Entry)
		uses(of, r.Object, r.uses, true)
		for _, o := range r.origins {
			if w.Spent(1, 0) {
				return
			}
			uses(of, o.Object, o.uses, false)
			c.fills(of, o.Object, o.names)
		}
	}
}

// fills keeps the objects that fill the variables of an object.
func (c *Cluster) fills(of Entry, o Object, names []string) {
	if o.Entry == nil || len(names) == 0 {
		return
	}
	found, _ := c.variables(o.Entry)
	for _, s := range found {
		if slices.ContainsFunc(names, func(name string) bool { return s.has(c.tree, name) }) {
			c.refer(of, o.Entry.Object, manifest.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name})
		}
	}
}

// Says is a hash of what the objects of a name say that others apply, and of what applies them; "" if none stands in a file that was read. The entry
// point may be one of another tree. What is applied by such as come with it is left out.
func (e Entry) Says(r manifest.Ref, comes func(Entry) bool) string {
	h := &manifest.Digest{}
	for _, one := range e.foreign(r, comes) {
		if one.data != nil {
			h.Add(one.File, one.data.Digest()) // of its data not all is kept
		}
		h.Add(one.digest)
		one.Entry.readBy(h)
	}
	if h.Empty() {
		return ""
	}
	return h.String()
}

// Leads is the files from the root to the objects of a name that others apply, as [Entry.Way] is those to an entry point; and those to what may make such, where they stand in no file.
func (e Entry) Leads(r manifest.Ref, comes func(Entry) bool) (stands, makes []string) {
	return e.leads(r, comes, false), e.leads(r, comes, true)
}

func (e Entry) leads(r manifest.Ref, comes func(Entry) bool, makes bool) []string {
	files := map[string]bool{}
	for _, one := range e.foreign(r, comes) {
		if one.by != nil != makes {
			continue
		}
		e.Cluster.way(files, one.Object)
		if one.made != nil {
			for _, file := range one.made.Files {
				files[file] = true
			}
		}
		for _, file := range e.Cluster.entry(one.Entry).Way() {
			files[file] = true
		}
	}
	return manifest.SortedKeys(files)
}

// Appliers is what applies the entry point, and its sources and what these are made of, and what applies that, up to the root.
func (e Entry) Appliers() (out []Entry) {
	if k := e.Kustomization; k != nil {
		out = e.Cluster.appliers(k.Entry)
		for _, o := range k.origins {
			out = append(out, e.Cluster.appliers(o.Entry)...)
		}
	}
	return out
}

// appliers is the entry point of a Kustomization, and what applies that, up to the root.
func (c *Cluster) appliers(k *Kustomization) []Entry {
	out := []Entry{c.entry(k)}
	for by := out[0]; by.Kustomization != nil && len(out) <= kustomize.MaxDepth; out = append(out, by) {
		by = c.entry(by.Kustomization.Entry)
	}
	return out
}

// foreign is the objects of a name that the entry point does not apply itself, nor what comes with it.
func (e Entry) foreign(r manifest.Ref, comes func(Entry) bool) []*thing {
	s := e.Cluster.index.find(r, Object{})
	if s == nil {
		return nil
	}
	own := func(one *thing) bool {
		if comes != nil && one.by == nil && !slices.ContainsFunc(e.Cluster.appliers(one.Entry), func(by Entry) bool { return !comes(by) }) {
			return true
		}
		by := e.Cluster.entry(one.Entry).Kustomization
		if by == nil || e.Kustomization == nil {
			return by == e.Kustomization
		}
		return by.Namespace == e.Kustomization.Namespace && by.Name == e.Kustomization.Name
	}
	return slices.DeleteFunc(slices.Clone(e.Cluster.index.like(s)), own)
}

// Plain is the files that the ConfigMaps or Secrets of a name were read from, and what [manifest.ValuesOf] says of each as far as all is known; known is false if nothing
// refers to such.
func (c *Cluster) Plain(of manifest.Ref) (files, values []string, known bool) {
	if c.referred == nil {
		c.referred = map[manifest.Ref]bool{}
		for _, refs := range c.refs {
			maps.Copy(c.referred, refs)
		}
	}
	if !c.referred[of] {
		return nil, nil, false
	}
	for _, s := range c.index[of] {
		if s.by != nil {
			continue
		}
		if files = append(files, s.File); s.made != nil {
			files = append(files, s.made.Files...)
		}
		for _, p := range s.patched {
			files = append(files, p.File)
		}
		if all := s.values(c.tree); !s.unread && len(s.hidden) == 0 {
			values = append(values, manifest.ValuesOf(all))
		}
	}
	return files, values, true
}
