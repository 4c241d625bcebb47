package graph

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Object is what every object has.
type Object struct {
	manifest.Place   // of its document in its file
	APIVersion, Kind string
	Namespace, Name  string
	Entry            *Kustomization   // the Flux Kustomization that applies it; nil: the root, or not known
	patched          []manifest.Place // the patches that changed it
}

// InSet reports whether a ResourceSet makes it: its document stands in that.
func (k *Kustomization) InSet() bool { return k.set != nil }

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
	Branch, Tag, Semver, Commit, Ref string         // of spec.ref; Ref is its name, such as refs/heads/main
	RefLine                          manifest.Place // of spec.ref; of the object if it has none
	Secret                           string         // the name of its secretRef
	Interval, Timeout                string
	kustomize.Filter
}

// revision is what of it is read.
func (s *Source) revision() manifest.Revision {
	return manifest.Revision{Branch: s.Branch, Tag: s.Tag, Semver: s.Semver, Commit: s.Commit, Name: s.Ref}
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
	Path       string
	PathLine   manifest.Place
	SourceRef  manifest.Ref
	SourceLine manifest.Place // of spec.sourceRef
	Source     *Source        // what SourceRef names, or what Path is copied or included from; nil: it stands in no file that was read
	DependsOn  []manifest.Ref
	Suspend    manifest.Statement
	kustomize.Overlay
	Substitute     map[string]string // postBuild.substitute
	Always         bool              // postBuild.substituteStrategy: what has no value is filled in where nothing has one
	SubstituteFrom []manifest.Ref    // postBuild.substituteFrom, in its order
	Interval       string
	Timeout        string
	// Keeps reports whether spec.prune is false: what leaves it stays in the cluster.
	Keeps bool
	// Ends reports whether spec.deletionPolicy is one by which all that it has applied goes with it, whatever Keeps.
	Ends bool
	// Prunes reports whether what it applies may go where it leaves it although that says that it stays: spec.commonMetadata or spec.ignore changes what it says.
	Prunes bool
	Labels bool // spec.commonMetadata gives labels
	Force  bool // spec.force: what cannot be changed is deleted and made anew
	// KubeConfig is what spec.kubeConfig names, which is another cluster than the one it stands in: it applies its objects there. "": it has none.
	KubeConfig string
	// Here reports whether its source is this repository, or not known: only then does its path name a directory of the tree. It is
	// false in Tree.Objects, which knows no cluster.
	Here bool
	// Copied reports whether Path is not spec.path, but where what stands there is copied or included from.
	Copied bool

	set     *thing  // the ResourceSet that makes it
	open    bool    // whether it does is not known
	guess   bool    // its source stands in no file, and may be this repository
	parts   []piece // what its source is put together of, if it is
	own     []piece // what stands of these in its path; first what is there
	foreign bool    // some of these is not of this repository
	apart   bool    // these stand in several places of the tree
	uses    []use
	origins []origin
	leads   []string                  // the files that lead to it and to its origins, once they were asked for
	looked  map[string]bool           // as that of a result
	edges   map[string]kustomize.Edge // by file
	added   bool                      // to these: until then they are those of a result
	unsure  []manifest.Problem        // what is not known of what it applies
	from    *thing                    // what SourceRef names, of whatever kind
	names   []string                  // of the variables that its definition has
	digest  string
	vars    *manifest.Variables // of what it applies
}

// Instance is a FluxInstance of the Flux Operator, or the values of its chart.
type Instance struct {
	Object
	SourceKind, URL, Ref, Path string // of spec.sync

	values  bool           // it is the values of the chart
	sync    string         // the name of what it syncs
	pull    string         // the Secret that its source is read by
	more    manifest.Place // where a HelmRelease names further values, which are not read
	apart   string         // as that of its document
	patches []manifest.Patch
}

// CronJob is a CronJob of Kubernetes.
type CronJob struct {
	Object
	Schedule, TimeZone, Suspend manifest.Statement
	Command                     string // command and arguments of its containers, by spaces; "" in a patch
}

// InputProvider is a ResourceSetInputProvider of the Flux Operator.
type InputProvider struct {
	Object
	Schedule []Schedule
}

// Schedule is when the Flux Operator looks for something new.
type Schedule struct {
	manifest.Place
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
	packed   []*thing // these, and HelmReleases of charts that stand in the tree
	makers   []*thing // of which operators make Secrets
	index    index    // sources, ConfigMaps and Secrets
}

// kustomizationNodes is what a Kustomization takes beyond any other object, with what is kept of it as an entry point.
const kustomizationNodes = 6

// add reads a document into the list that it belongs to. by is the entry point that it is applied by; nil: the root.
func (o *Objects) add(t *Tree, d *manifest.Doc, by *Kustomization) {
	nodes, bytes := 3, 4*len(manifest.Scalar(manifest.At(d.Node, "spec", "path"))) // which is kept as written, cleaned, and as a key
	if kind := d.Text("kind"); strings.Contains(d.Text("apiVersion"), "fluxcd") || kind == manifest.ServiceAccount || kind == "" {
		nodes, bytes = nodes+d.Listed(), bytes+d.Expanded() // what its lists make takes what they do, for each cluster that reads it
	}
	if t.Hold(d.Place.File, nodes, bytes) {
		return
	}
	object := Object{
		Place: d.Place, APIVersion: d.Text("apiVersion"), Kind: d.Text("kind"),
		Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name"), Entry: by, patched: d.Patched,
	}
	group, _, _ := strings.Cut(object.APIVersion, "/")
	switch {
	case group == manifest.GroupKustomize && object.Kind == "Kustomization":
		if t.Hold(d.Place.File, kustomizationNodes, 0) {
			return
		}
		for _, p := range unfollowed(d, object) {
			t.Note(p)
		}
		t.keepsBack(d, object)
		o.Kustomizations = append(o.Kustomizations, t.kustomization(d, object))
	case group == manifest.GroupSource && (object.Kind == "GitRepository" || object.Kind == "OCIRepository"):
		o.Sources = append(o.Sources, t.source(d, object))
		o.thing(t, d, object, o.Sources[len(o.Sources)-1])
	case group == manifest.GroupOperator && object.Kind == "FluxInstance":
		o.Instances = append(o.Instances, t.instance(d, object, "spec"))
	case object.Kind == "" && manifest.At(d.Node, "instance", "sync", "path") != nil:
		o.Instances = append(o.Instances, t.instance(d, object, "instance"))
	case group == manifest.GroupOperator && object.Kind == "ResourceSetInputProvider":
		o.Inputs = append(o.Inputs, t.inputs(d, object))
		o.thing(t, d, object, nil)
	case group == manifest.GroupArtifacts && object.Kind == "ArtifactGenerator":
		o.generator(t, d, object)
	case group == "batch" && object.Kind == "CronJob":
		o.CronJobs = append(o.CronJobs, t.cronJob(d, object))
	default:
		if manifest.At(d.Node, "spec", "values", "instance", "sync", "path") != nil {
			o.Instances = append(o.Instances, t.instance(d, object, "spec", "values", "instance"))
		}
		o.thing(t, d, object, nil)
	}
}

// reads reports whether an object is one for which a controller reads what a source hands on: a HelmRelease, and others.
func (s *thing) reads() bool {
	return s.Kind == helmRelease || s.Kind == resourceSet || len(s.uses) > 0 && s.data == nil && !isSource(s.Kind) && s.Kind != manifest.ServiceAccount && s.Kind != inputProvider
}

// thing adds an object that others refer to, or that refers to others.
func (o *Objects) thing(t *Tree, d *manifest.Doc, object Object, source *Source) {
	s := t.thing(d, object)
	if s != nil && (isSource(s.Kind) || s.Kind == helmRelease) {
		s.unfollowed = unfollowed(d, object)
	}
	switch {
	case s == nil || t.Hold(d.Place.File, len(s.uses), 0):
	case s.reads():
		s.digest, s.names = d.Digest(), d.Variables(object.Entry != nil)
		if o.releases = append(o.releases, s); s.Kind == resourceSet {
			o.sets = append(o.sets, s)
		}
	case manifest.Makes(s.Kind):
		s.digest, s.names = d.Digest(), d.Variables(object.Entry != nil)
		o.makers = append(o.makers, s)
	default:
		if s.source = source; s.data == nil {
			s.digest = d.Digest()
		}
		s.names = d.Variables(object.Entry != nil)
		o.file(t, s)
	}
}

// file adds to the index.
func (o *Objects) file(t *Tree, s *thing) {
	if o.index == nil {
		o.index = index{}
	}
	if !o.index.add(s) {
		t.Problem(o.index.like(s)[0].Place, wordManyLike(s.Object)) // once for all of them
	}
}

func (t *Tree) kustomization(d *manifest.Doc, object Object) *Kustomization {
	k := &Kustomization{
		Object: object, Path: t.path(d), PathLine: d.Line("spec", "path"),
		SourceRef: manifest.RefOf(d, manifest.At(d.Node, "spec", "sourceRef")), SourceLine: d.Line("spec", "sourceRef"), Suspend: d.Stated("spec", "suspend"),
		Overlay: kustomize.Overlay{
			TargetNamespace: d.Text("spec", "targetNamespace"), NamePrefix: d.Text("spec", "namePrefix"), NameSuffix: d.Text("spec", "nameSuffix"),
			Components: t.Texts(d, "spec", "components"), Optional: d.Text("spec", "ignoreMissingComponents") == "true",
		},
		Substitute: d.Pairs("spec", "postBuild", "substitute"), Interval: d.Text("spec", "interval"), Timeout: d.Text("spec", "timeout"),
	}
	if n := manifest.At(d.Node, "spec", "postBuild", "substitute"); manifest.Unfilled(manifest.Scalar(n)) != "" {
		k.Substitute = map[string]string{n.Value: ""} // which may be any
	}
	k.Keeps = d.Text("spec", "prune") == "false"
	policy := d.Text("spec", "deletionPolicy")
	k.Ends = policy != "" && policy != "MirrorPrune" && policy != "Orphan"
	k.Labels = manifest.At(d.Node, "spec", "commonMetadata", "labels") != nil
	force := d.Text("spec", "force")
	k.Prunes, k.Force = manifest.At(d.Node, "spec", "ignore") != nil, force != "" && force != "false"
	for _, section := range []string{"annotations", "labels"} {
		says := func(key string) string {
			return d.Text("spec", "commonMetadata", section, manifest.GroupKustomize+"/"+key)
		}
		k.Force = k.Force || says("force") != "" && says("force") != "disabled"
		k.Prunes = k.Prunes || says("prune") != "" && says("prune") != "disabled" || says("ssa")+says("reconcile") != ""
	}
	strategy := d.Text("spec", "postBuild", "substituteStrategy")
	k.Always = strategy != "" && strategy != "WithVariables"
	k.KubeConfig = kubeConfig(d)
	for _, n := range t.List(d, "spec", "dependsOn") {
		k.DependsOn = append(k.DependsOn, manifest.RefOf(d, n))
	}
	for _, n := range t.List(d, "spec", "patchesStrategicMerge") { // of v1beta2, as are patchesJson6902
		k.Patches = append(k.Patches, d.InlinePatch(n, manifest.Target{}, manifest.BeforePatches))
	}
	for _, n := range t.List(d, "spec", "patches") {
		k.Patches = append(k.Patches, d.Patch(n))
	}
	for _, n := range t.List(d, "spec", "patchesJson6902") {
		if patch := manifest.At(n, "patch"); patch != nil {
			k.Patches = append(k.Patches, d.InlinePatch(patch, d.Target(manifest.At(n, "target")), manifest.AfterPatches))
		}
	}
	for _, n := range t.List(d, "spec", "postBuild", "substituteFrom") {
		k.SubstituteFrom = append(k.SubstituteFrom, manifest.RefOf(d, n))
	}
	text := 0
	for _, p := range k.Patches {
		if p.Stage() != manifest.AmongPatches { // it was no text before
			text += len(p.Text)
		}
	}
	k.digest, k.names = d.Digest(), d.Variables(object.Entry != nil)
	k.uses = t.kustomizationUses(d, k.SourceRef)
	t.Hold(d.Place.File, len(k.uses)+len(k.Substitute)/3, text)
	return k
}

// kubeConfig is what names the cluster that an object is for; "": the one that it stands in.
func kubeConfig(d *manifest.Doc) string {
	for _, kind := range []string{"secretRef", "configMapRef"} {
		if name := d.Text("spec", "kubeConfig", kind, "name"); name != "" {
			key := d.Text("spec", "kubeConfig", kind, "key")
			if key == "value" || key == "value.yaml" { // which Flux looks for by itself
				key = ""
			}
			return path.Join(kind, d.Text("metadata", "namespace"), name, key)
		}
	}
	return ""
}

// path is the path of a Flux Kustomization. A Secret's value counts only where it leads to a directory of the tree: it is no secret then.
func (t *Tree) path(d *manifest.Doc) string {
	p := manifest.Clean(d.Text("spec", "path"))
	if d.Vars == nil || len(d.Vars.Secret) == 0 || manifest.Unfilled(p) == "" {
		return p
	}
	all := *d.Vars
	all.Values = maps.Clone(all.Values)
	maps.Copy(all.Values, all.Secret)
	if open := manifest.Clean(all.Expand(manifest.Scalar(manifest.At(d.Node, "spec", "path")))); t.IsDir(open) {
		return open
	}
	return p
}

func (t *Tree) source(d *manifest.Doc, object Object) *Source {
	s := &Source{
		Object: object, URL: t.url(d, "spec", "url"), Branch: d.Text("spec", "ref", "branch"), Tag: d.Text("spec", "ref", "tag"),
		Semver: d.Text("spec", "ref", "semver"), Commit: d.Text("spec", "ref", "commit"), Ref: d.Text("spec", "ref", "name"),
		RefLine: d.Line("spec", "ref"), Secret: d.Text("spec", "secretRef", "name"),
		Interval: d.Text("spec", "interval"), Timeout: d.Text("spec", "timeout"), Filter: kustomize.Filter{Ignore: d.Text("spec", "ignore")},
	}
	s.Others = len(t.List(d, "spec", "include")) > 0 || d.Text("spec", "recurseSubmodules") == "true" || d.Text("spec", "layerSelector", "operation") == "copy"
	for _, dir := range t.Texts(d, "spec", "sparseCheckout") {
		s.Sparse = append(s.Sparse, manifest.Clean(dir))
	}
	if s.RefLine.File == "" {
		s.RefLine = object.Place
	}
	return s
}

// url is a URL. Each object that leads to it has it compared with this repository's in all their spellings: whose a longer one is, is not known, as if it had a variable.
func (t *Tree) url(d *manifest.Doc, keys ...string) string {
	url := d.Text(keys...)
	if len(url) <= maxURL {
		return url
	}
	t.Problem(d.Line(keys...), wordLongURL())
	return "${url}"
}

// instance reads what the keys lead to: a FluxInstance, or values of its chart.
func (t *Tree) instance(d *manifest.Doc, object Object, keys ...string) *Instance {
	of := func(key string) string { return d.Text(append(slices.Clone(keys), "sync", key)...) }
	i := &Instance{
		Object: object, SourceKind: of("kind"), URL: t.url(d, append(slices.Clone(keys), "sync", "url")...), Ref: of("ref"), Path: manifest.Clean(of("path")),
		values: object.Kind != "FluxInstance", pull: of("pullSecret"), more: d.Line("spec", "valuesFrom"), apart: d.Apart("metadata"),
	}
	i.sync = cmp.Or(of("name"), i.namespace())
	for _, n := range t.List(d, append(slices.Clone(keys), "kustomize", "patches")...) {
		i.patches = append(i.patches, d.Patch(n))
	}
	return i
}

func (t *Tree) cronJob(d *manifest.Doc, object Object) *CronJob {
	job := &CronJob{
		Object: object, Schedule: d.Stated("spec", "schedule"), TimeZone: d.Stated("spec", "timeZone"), Suspend: d.Stated("spec", "suspend"),
	}
	var words []string
	size := 0
	for _, container := range t.List(d, "spec", "jobTemplate", "spec", "template", "spec", "containers") {
		c := &manifest.Doc{Place: d.Place, Node: container, Vars: d.Vars}
		words = append(append(words, t.Texts(c, "command")...), t.Texts(c, "args")...)
	}
	for _, word := range words {
		size += len(word) + 1
	}
	if !t.Hold(d.Place.File, 0, size) { // each cluster that reads it has one
		job.Command = strings.Join(words, " ")
	}
	return job
}

func (t *Tree) inputs(d *manifest.Doc, object Object) *InputProvider {
	p := &InputProvider{Object: object}
	for _, n := range t.List(d, "spec", "schedule") {
		of := func(key string) string { return d.Vars.Expand(manifest.Scalar(manifest.At(n, key))) }
		p.Schedule = append(p.Schedule, Schedule{d.At(n), of("cron"), of("timeZone"), of("window")})
	}
	return p
}

// generator reads an ArtifactGenerator: each artifact that it makes is a source.
func (o *Objects) generator(t *Tree, d *manifest.Doc, object Object) {
	sources, uses := map[string]manifest.Ref{}, []use{}
	for _, n := range t.List(d, "spec", "sources") {
		r := manifest.RefOf(d, n)
		sources[d.Vars.Expand(manifest.Scalar(manifest.At(n, "alias")))] = r
		uses = append(uses, use{ref: r, role: roleSource})
	}
	hash, variables, says := d.Digest(), d.Variables(object.Entry != nil), unfollowed(d, object)
	for _, artifact := range t.List(d, "spec", "artifacts") {
		a := &manifest.Doc{Place: d.Place, Node: artifact, Vars: d.Vars}
		made := &thing{Object: object, uses: uses, digest: hash, names: variables, placed: t.copies(a, sources), unfollowed: says}
		made.Kind, made.Namespace, made.Name = externalArtifact, cmp.Or(a.Text("namespace"), object.Namespace), a.Text("name")
		o.file(t, made)
	}
}

// externalArtifact is the kind of what an ArtifactGenerator makes.
const externalArtifact = "ExternalArtifact"

var packing = []string{externalArtifact, "HelmChart"} // what stands in no file may be made of anything

// link finds the sources of the Kustomizations from an index on.
func (o *Objects) link(from int) {
	for _, k := range o.Kustomizations[from:] {
		if k.from = o.index.find(k.SourceRef, k.Object); k.from != nil && !k.Copied {
			k.Source = k.from.source
		}
	}
}

// near is how much of its directory one file shares with another, and that they are one: in the files of many clusters one name means many objects.
func near(a, b manifest.Place) int {
	n := 0
	if a.File == b.File {
		n = 1
	}
	for i := 0; i < len(a.File) && i < len(b.File) && a.File[i] == b.File[i]; i++ {
		if a.File[i] == '/' {
			n++
		}
	}
	return n
}
