package graph

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// Object is what every object has.
type Object struct {
	Place            // of its document in its file
	APIVersion, Kind string
	Namespace, Name  string
	Entry            *Kustomization // the Flux Kustomization that applies it; nil: the root, or not known
	patched          []Place        // the patches that changed it
}

// title is NAMESPACE/NAME; "" for the root.
func (k *Kustomization) title() string {
	if k == nil {
		return ""
	}
	return k.Namespace + "/" + k.Name
}

// Source is a GitRepository or an OCIRepository.
type Source struct {
	Object
	URL                              string
	Branch, Tag, Semver, Commit, Ref string // of spec.ref; Ref is its name, such as refs/heads/main
	RefLine                          Place  // of spec.ref; of the object if it has none
	Secret                           string // the name of its secretRef
	Interval, Timeout                string
	Filter
}

// leaves reports whether the source itself says that something is left out of it.
func (s *Source) leaves() bool { return s != nil && len(s.Ignore)+len(s.Sparse) > 0 }

// Follows is the branch that a GitRepository tracks; "" if it is none, or not known from the file. Flux prefers what is more exact, and
// where nothing is said it tracks master.
func (s *Source) Follows() string {
	branch, named := strings.CutPrefix(s.Ref, "refs/heads/")
	switch {
	case s.Kind != "GitRepository" || s.Commit != "" || s.Ref != "" && !named:
		return ""
	case named:
		return branch
	case s.Semver != "" || s.Tag != "":
		return ""
	case s.Branch != "":
		return s.Branch
	}
	return "master"
}

// Kustomization is a Flux Kustomization: an entry point into the tree.
type Kustomization struct {
	Object
	// Path is spec.path, cleaned and kept within the repository, as Flux does; "." is its root. Where its source is put together of others, by an
	// ArtifactGenerator or by spec.include, it is the first directory of this repository that stands there.
	Path            string
	PathLine        Place
	SourceRef       Ref
	SourceLine      Place   // of spec.sourceRef
	Source          *Source // what SourceRef names, or what Path is copied or included from; nil: it stands in no file that was read
	DependsOn       []Ref
	Suspend         Statement
	TargetNamespace string
	NamePrefix      string
	NameSuffix      string
	Components      []string // as written, relative to Path
	Patches         []Patch
	Substitute      map[string]string // postBuild.substitute
	SubstituteFrom  []Ref             // postBuild.substituteFrom, in its order
	Interval        string
	Timeout         string
	// Keeps reports whether spec.prune is false: what leaves it stays in the cluster.
	Keeps bool
	// KubeConfig is what spec.kubeConfig names, which is another cluster than the one it stands in: it applies its objects there. "": it has none.
	KubeConfig string
	// Here reports whether its source is this repository, or not known: only then does its path name a directory of the tree. It is
	// false in Tree.Objects, which knows no cluster.
	Here bool

	optional bool    // a component that is missing is none: spec.ignoreMissingComponents
	guess    bool    // its source stands in no file, and may be this repository
	copied   bool    // Path is where what it reads is copied or included from
	parts    []piece // what its source is put together of, if it is
	own      []piece // what stands of these in its path; first what is there
	foreign  bool    // some of these is not of this repository
	apart    bool    // these stand in several places of the tree
	uses     []use
	origins  []origin
	leads    []string        // the files that lead to it and to its origins, once they were asked for
	looked   map[string]bool // as that of a result
	edges    map[string]Edge // by file
	added    bool            // to these: until then they are those of a result
	unsure   []Problem       // what is not known of what it applies
	from     *thing          // what SourceRef names, of whatever kind
	names    []string        // of the variables that its definition has
	digest   string
	vars     *Variables // of what it applies
}

// Instance is a FluxInstance of the Flux Operator, or the values of its chart.
type Instance struct {
	Object
	SourceKind, URL, Ref, Path string // of spec.sync

	values  bool   // it is the values of the chart
	sync    string // the name of what it syncs
	pull    string // the Secret that its source is read by
	patches []Patch
}

// CronJob is a CronJob of Kubernetes.
type CronJob struct {
	Object
	Schedule, TimeZone, Suspend Statement
	Command                     string // command and arguments of its containers, by spaces; "" in a patch
}

// InputProvider is a ResourceSetInputProvider of the Flux Operator.
type InputProvider struct {
	Object
	Schedule []Schedule
}

// Schedule is when the Flux Operator looks for something new.
type Schedule struct {
	Place
	Cron, TimeZone, Window string
}

// Objects is objects by what they are, in the order in which they were found.
type Objects struct {
	Sources        []*Source
	Kustomizations []*Kustomization
	Instances      []*Instance
	CronJobs       []*CronJob
	Inputs         []*InputProvider

	releases []*thing // HelmReleases, and what else refers to objects and to the tree
	sets     []*thing // ResourceSets
	makers   []*thing // of which operators make Secrets
	index    index    // sources, ConfigMaps and Secrets
}

// kustomizationNodes is what a Kustomization takes beyond any other object, with what is kept of it as an entry point.
const kustomizationNodes = 6

// add reads a document into the list that it belongs to. by is the entry point that it is applied by; nil: the root.
func (o *Objects) add(t *Tree, d *doc, by *Kustomization) {
	nodes, bytes := 3, 4*len(scalar(at(d.node, "spec", "path"))) // which is kept as written, cleaned, and as a key
	if kind := d.text("kind"); strings.Contains(d.text("apiVersion"), "fluxcd") || kind == serviceAccount || kind == "" {
		nodes, bytes = nodes+d.listed(), bytes+d.expanded() // what its lists make takes what they do, for each cluster that reads it
	}
	if t.hold(d.place.File, nodes, bytes) {
		return
	}
	object := Object{
		Place: d.place, APIVersion: d.text("apiVersion"), Kind: d.text("kind"),
		Namespace: d.text("metadata", "namespace"), Name: d.text("metadata", "name"), Entry: by, patched: d.patched,
	}
	group, _, _ := strings.Cut(object.APIVersion, "/")
	switch {
	case group == fluxKustomize && object.Kind == "Kustomization":
		if t.hold(d.place.File, kustomizationNodes, 0) {
			return
		}
		o.Kustomizations = append(o.Kustomizations, t.kustomization(d, object))
	case group == fluxSource && (object.Kind == "GitRepository" || object.Kind == "OCIRepository"):
		o.Sources = append(o.Sources, t.source(d, object))
		o.thing(t, d, object, o.Sources[len(o.Sources)-1])
	case group == fluxOperator && object.Kind == "FluxInstance":
		o.Instances = append(o.Instances, t.instance(d, object, "spec"))
	case at(d.node, "spec", "values", "instance", "sync", "path") != nil:
		o.Instances = append(o.Instances, t.instance(d, object, "spec", "values", "instance"))
	case object.Kind == "" && at(d.node, "instance", "sync", "path") != nil:
		o.Instances = append(o.Instances, t.instance(d, object, "instance"))
	case group == fluxOperator && object.Kind == "ResourceSetInputProvider":
		o.Inputs = append(o.Inputs, t.inputs(d, object))
		o.thing(t, d, object, nil)
	case group == fluxArtifacts && object.Kind == "ArtifactGenerator":
		o.generator(t, d, object)
	case group == "batch" && object.Kind == "CronJob":
		o.CronJobs = append(o.CronJobs, t.cronJob(d, object))
	default:
		o.thing(t, d, object, nil)
	}
}

// reads reports whether an object is one for which a controller reads what a source hands on: a HelmRelease, and others.
func (s *thing) reads() bool {
	return s.Kind == "HelmRelease" || s.Kind == resourceSet || len(s.uses) > 0 && s.data == nil && !isSource(s.Kind) && s.Kind != serviceAccount && s.Kind != inputProvider
}

// thing adds an object that others refer to, or that refers to others.
func (o *Objects) thing(t *Tree, d *doc, object Object, source *Source) {
	s := t.thing(d, object)
	switch {
	case s == nil || t.hold(d.place.File, len(s.uses), 0):
	case s.reads():
		s.digest, s.names = d.digest(), d.variables(object.Entry != nil)
		if o.releases = append(o.releases, s); s.Kind == resourceSet {
			o.sets = append(o.sets, s)
		}
	case makes(s.Kind):
		s.digest, s.names = d.digest(), d.variables(object.Entry != nil)
		o.makers = append(o.makers, s)
	default:
		if s.source = source; s.data == nil {
			s.digest = d.digest()
		}
		s.names = d.variables(object.Entry != nil)
		o.file(t, s)
	}
}

// file adds to the index.
func (o *Objects) file(t *Tree, s *thing) {
	if o.index == nil {
		o.index = index{}
	}
	if !o.index.add(s) {
		t.problem(o.index.like(s)[0].Place, wordManyLike(s.Object)) // once for all of them
	}
}

func (t *Tree) kustomization(d *doc, object Object) *Kustomization {
	k := &Kustomization{
		Object: object, Path: t.path(d), PathLine: d.line("spec", "path"),
		SourceRef: ref(d, at(d.node, "spec", "sourceRef")), SourceLine: d.line("spec", "sourceRef"), Suspend: d.stated("spec", "suspend"),
		TargetNamespace: d.text("spec", "targetNamespace"), NamePrefix: d.text("spec", "namePrefix"), NameSuffix: d.text("spec", "nameSuffix"),
		Components: t.texts(d, "spec", "components"),
		Substitute: d.pairs("spec", "postBuild", "substitute"), Interval: d.text("spec", "interval"), Timeout: d.text("spec", "timeout"),
	}
	k.optional = d.text("spec", "ignoreMissingComponents") == "true"
	k.Keeps = d.text("spec", "prune") == "false"
	k.KubeConfig = kubeConfig(d)
	for _, n := range t.list(d, "spec", "dependsOn") {
		k.DependsOn = append(k.DependsOn, ref(d, n))
	}
	for _, n := range t.list(d, "spec", "patchesStrategicMerge") { // of v1beta2, as are patchesJson6902
		k.Patches = append(k.Patches, d.inlinePatch(n, Target{}, before))
	}
	for _, n := range t.list(d, "spec", "patches") {
		k.Patches = append(k.Patches, d.patch(n))
	}
	for _, n := range t.list(d, "spec", "patchesJson6902") {
		if patch := at(n, "patch"); patch != nil {
			k.Patches = append(k.Patches, d.inlinePatch(patch, d.target(at(n, "target")), after))
		}
	}
	for _, n := range t.list(d, "spec", "postBuild", "substituteFrom") {
		k.SubstituteFrom = append(k.SubstituteFrom, ref(d, n))
	}
	text := 0
	for _, p := range k.Patches {
		if p.Stage() != among { // it was no text before
			text += len(p.Text)
		}
	}
	k.digest, k.names = d.digest(), d.variables(object.Entry != nil)
	k.uses = t.kustomizationUses(d, k.SourceRef)
	t.hold(d.place.File, len(k.uses)+len(k.Substitute)/3, text)
	return k
}

// kubeConfig is what names the cluster that an object is for; "": the one that it stands in.
func kubeConfig(d *doc) string {
	for _, kind := range []string{"secretRef", "configMapRef"} {
		if name := d.text("spec", "kubeConfig", kind, "name"); name != "" {
			return path.Join(kind, d.text("metadata", "namespace"), name, d.text("spec", "kubeConfig", kind, "key"))
		}
	}
	return ""
}

// path is the path of a Flux Kustomization. A Secret's value counts only where it leads to a directory of the tree: it is no secret then.
func (t *Tree) path(d *doc) string {
	p := Clean(d.text("spec", "path"))
	if d.vars == nil || len(d.vars.secret) == 0 || unfilled(p) == "" {
		return p
	}
	all := *d.vars
	all.Values = maps.Clone(all.Values)
	maps.Copy(all.Values, all.secret)
	if open := Clean(all.Expand(scalar(at(d.node, "spec", "path")))); t.isDir(open) {
		return open
	}
	return p
}

func (t *Tree) source(d *doc, object Object) *Source {
	s := &Source{
		Object: object, URL: d.text("spec", "url"), Branch: d.text("spec", "ref", "branch"), Tag: d.text("spec", "ref", "tag"),
		Semver: d.text("spec", "ref", "semver"), Commit: d.text("spec", "ref", "commit"), Ref: d.text("spec", "ref", "name"),
		RefLine: d.line("spec", "ref"), Secret: d.text("spec", "secretRef", "name"),
		Interval: d.text("spec", "interval"), Timeout: d.text("spec", "timeout"), Filter: Filter{Ignore: d.text("spec", "ignore")},
	}
	for _, dir := range t.texts(d, "spec", "sparseCheckout") {
		s.Sparse = append(s.Sparse, Clean(dir))
	}
	if s.RefLine.File == "" {
		s.RefLine = object.Place
	}
	return s
}

// instance reads what the keys lead to: a FluxInstance, or values of its chart.
func (t *Tree) instance(d *doc, object Object, keys ...string) *Instance {
	of := func(key string) string { return d.text(append(slices.Clone(keys), "sync", key)...) }
	i := &Instance{
		Object: object, SourceKind: of("kind"), URL: of("url"), Ref: of("ref"), Path: Clean(of("path")),
		values: object.Kind != "FluxInstance", pull: of("pullSecret"),
	}
	i.sync = cmp.Or(of("name"), i.namespace())
	for _, n := range t.list(d, append(slices.Clone(keys), "kustomize", "patches")...) {
		i.patches = append(i.patches, d.patch(n))
	}
	return i
}

func (t *Tree) cronJob(d *doc, object Object) *CronJob {
	job := &CronJob{
		Object: object, Schedule: d.stated("spec", "schedule"), TimeZone: d.stated("spec", "timeZone"), Suspend: d.stated("spec", "suspend"),
	}
	var words []string
	size := 0
	for _, container := range t.list(d, "spec", "jobTemplate", "spec", "template", "spec", "containers") {
		c := &doc{place: d.place, node: container, vars: d.vars}
		words = append(append(words, t.texts(c, "command")...), t.texts(c, "args")...)
	}
	for _, word := range words {
		size += len(word) + 1
	}
	if !t.hold(d.place.File, 0, size) { // each cluster that reads it has one
		job.Command = strings.Join(words, " ")
	}
	return job
}

func (t *Tree) inputs(d *doc, object Object) *InputProvider {
	p := &InputProvider{Object: object}
	for _, n := range t.list(d, "spec", "schedule") {
		of := func(key string) string { return d.vars.Expand(scalar(at(n, key))) }
		p.Schedule = append(p.Schedule, Schedule{d.at(n), of("cron"), of("timeZone"), of("window")})
	}
	return p
}

// generator reads an ArtifactGenerator: each artifact that it makes is a source.
func (o *Objects) generator(t *Tree, d *doc, object Object) {
	sources, uses := map[string]Ref{}, []use{}
	for _, n := range t.list(d, "spec", "sources") {
		r := ref(d, n)
		sources[d.vars.Expand(scalar(at(n, "alias")))] = r
		uses = append(uses, use{ref: r, role: roleSource})
	}
	hash, variables := d.digest(), d.variables(object.Entry != nil)
	for _, artifact := range t.list(d, "spec", "artifacts") {
		a := &doc{place: d.place, node: artifact, vars: d.vars}
		made := &thing{Object: object, uses: uses, digest: hash, names: variables, placed: t.copies(a, sources)}
		made.Kind, made.Name = externalArtifact, a.text("name")
		o.file(t, made)
	}
}

// externalArtifact is the kind of what an ArtifactGenerator makes.
const externalArtifact = "ExternalArtifact"

// link finds the sources of the Kustomizations from an index on.
func (o *Objects) link(from int) {
	for _, k := range o.Kustomizations[from:] {
		if k.from = o.index.find(k.SourceRef, k.Object); k.from != nil && !k.copied {
			k.Source = k.from.source
		}
	}
}

// near is how much of its directory one file shares with another: in the files of many clusters one name means many objects.
func near(a, b Place) int {
	n := 0
	for i := 0; i < len(a.File) && i < len(b.File) && a.File[i] == b.File[i]; i++ {
		if a.File[i] == '/' {
			n++
		}
	}
	return n
}
