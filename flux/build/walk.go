package build

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluicegate/sluice/flux/kustomize"
)

// walk follows what entries refer to, and refuses what kustomize must not see. Of a directory that many lead to, what it costs is found once,
// and counts each time, for kustomize builds it each time.
//
// It is one entry's: whether a directory is nested too deeply or leads back to itself depends on where one comes from. What a file of YAML is like
// does not, and is found once for all of them.
type walk struct {
	*lookup
	limits Limits
	units  map[string]*unit
	texts  map[string]*text
	schema bool // the entry says by which schema kustomize knows the APIs
}

// unit is what was found of a directory that is built as a unit.
type unit struct {
	cost cost
	err  error
}

// text is what was found of a file that is YAML.
type text struct {
	docs int
	err  error
}

// cost is what kustomize would have to do.
type cost struct {
	dirs, docs int
	bytes      int64
}

// maxDirs is how many directories may be built for one entry, one as often as others lead to it.
const maxDirs = 5000

func newWalk(l *lookup, limits Limits, texts map[string]*text) *walk {
	return &walk{lookup: l, limits: limits, units: map[string]*unit{}, texts: texts}
}

// entry refuses an entry, whose directory is built by a kustomization.yaml, or gives nil.
func (w *walk) entry(dir, file string, k *types.Kustomization) error {
	v := visit{walk: w, dir: dir, file: file, above: []string{dir}}
	v.all(k)
	return v.err
}

// unit gives what a directory costs.
func (w *walk) unit(dir string, above []string) *unit {
	if u, ok := w.units[dir]; ok {
		return u
	}
	u := &unit{err: errors.New(wordCycle)} // until it is known: who finds it so comes from below
	w.units[dir] = u
	file := w.kustomization(dir)
	content, err := w.content(file)
	if u.err = err; err != nil {
		return u
	}
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		u.err = fmt.Errorf("%s: %w", file, err)
		return u
	}
	v := visit{walk: w, dir: dir, file: file, above: append(above[:len(above):len(above)], dir)}
	v.spend(cost{dirs: 1, bytes: int64(len(content))})
	v.all(&k)
	u.cost, u.err = v.cost, v.err
	return u
}

// content gives a kustomization.yaml that may be parsed.
func (w *walk) content(file string) ([]byte, error) {
	content, err := w.yaml(file)
	if err == nil && len(content) > maxKustomization {
		err = errors.New(wordLongKustomization(file))
	}
	return content, err
}

// visit is the walk through one kustomization.yaml. After a refusal nothing more is looked at.
type visit struct {
	*walk
	dir, file string
	above     []string // the directories that lead here, and this one
	cost      cost
	err       error
}

// all looks at every field by which kustomize reads or runs something.
func (v *visit) all(k *types.Kustomization) {
	if k.HelmGlobals != nil || len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0 {
		v.refuse("helm", errors.New(wordHelm))
	}
	v.each(v.resource, k.Resources, k.Bases) //nolint:staticcheck // deprecated fields are read all the same
	v.each(v.component, k.Components)
	v.each(v.config, k.Crds, k.Configurations)
	v.each(v.plugin, k.Generators, k.Transformers, k.Validators)
	v.schema = v.schema || len(k.OpenAPI) > 0
	if p, ok := k.OpenAPI["path"]; ok {
		v.config(p)
	}
	for _, p := range append(k.Patches[:len(k.Patches):len(k.Patches)], k.PatchesJson6902...) { //nolint:staticcheck // deprecated fields are read all the same
		if v.inline(p.Patch); p.Path != "" {
			v.config(p.Path)
		}
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // deprecated fields are read all the same
		if strings.Contains(string(p), "\n") {
			v.inline(string(p))
		} else {
			v.config(string(p))
		}
	}
	for _, r := range k.Replacements {
		if r.Path != "" {
			v.config(r.Path)
		}
	}
	for _, g := range k.ConfigMapGenerator {
		v.sources(g.KvPairSources)
	}
	for _, g := range k.SecretGenerator {
		v.sources(g.KvPairSources)
	}
}

func (v *visit) each(look func(string), lists ...[]string) {
	for _, list := range lists {
		for _, ref := range list {
			look(ref)
		}
	}
}

// sources looks at what a generator reads.
func (v *visit) sources(s types.KvPairSources) {
	v.each(func(ref string) {
		if _, after, found := strings.Cut(ref, "="); found {
			ref = after
		}
		v.plain(ref)
	}, s.FileSources)
	v.each(v.plain, s.EnvSources)
	if s.EnvSource != "" {
		v.plain(s.EnvSource)
	}
}

// spend adds to what the visit costs.
func (v *visit) spend(c cost) {
	v.cost.dirs, v.cost.docs, v.cost.bytes = v.cost.dirs+c.dirs, v.cost.docs+c.docs, v.cost.bytes+c.bytes
	switch {
	case v.err != nil:
	case v.cost.dirs > maxDirs:
		v.err = errors.New(wordDirs)
	case v.cost.docs > v.limits.Objects:
		v.err = errors.New(wordObjects(v.limits.Objects))
	case v.cost.bytes > maxRead:
		v.err = errors.New(wordRead())
	}
}

// refuse keeps the first refusal, with the place of what it is for.
func (v *visit) refuse(ref string, err error) {
	if v.err != nil {
		return
	}
	place := v.file
	if content, ok := v.text(v.file); !ok {
		place = v.dir
	} else if before, _, found := bytes.Cut(content, []byte(ref)); found && ref != "" {
		place = fmt.Sprintf("%s:%d", v.file, 1+bytes.Count(before, []byte("\n")))
	}
	v.err = fmt.Errorf("%s: %w", place, err)
}

// local gives the path that a reference of the kustomization.yaml names; ok is false if it is refused.
func (v *visit) local(ref string) (name string, ok bool) {
	switch {
	case v.err != nil:
		return "", false
	case kustomize.Remote(ref):
		v.refuse(ref, &remoteError{ref})
		return "", false
	case path.IsAbs(ref):
		v.refuse(ref, errors.New(wordAbsolute(ref)))
		return "", false
	}
	return clean(path.Join(v.dir, ref)), true
}

// resource looks at a file, or a directory with a kustomization.yaml.
func (v *visit) resource(ref string) {
	name, ok := v.local(ref)
	switch {
	case !ok:
	case v.directory(name):
		v.below(ref, name)
	default:
		v.objects(ref, name)
	}
}

// component looks at a directory with a kustomization.yaml.
func (v *visit) component(ref string) {
	if name, ok := v.local(ref); ok {
		v.below(ref, name)
	}
}

// below looks at a directory.
func (v *visit) below(ref, dir string) {
	switch {
	case len(v.above) > kustomize.MaxDepth:
		v.refuse(ref, errors.New(wordDeep))
		return
	case slices.Contains(v.above, dir):
		v.refuse(ref, errors.New(wordCycle))
		return
	case v.kustomization(dir) == "":
		v.refuse(ref, errors.New(wordNoBuild(dir)))
		return
	}
	u := v.unit(dir, v.above)
	if v.spend(u.cost); u.err != nil && v.err == nil {
		v.err = u.err
	}
}

// objects looks at a file of objects, or of what says how to change them.
func (v *visit) objects(ref, name string) []byte {
	content, err := v.yaml(name)
	if err != nil {
		v.refuse(ref, err)
		return nil
	}
	v.spend(cost{docs: v.texts[name].docs, bytes: int64(len(content))})
	return content
}

// config looks at a file that says how to change objects.
func (v *visit) config(ref string) {
	if name, ok := v.local(ref); ok {
		v.objects(ref, name)
	}
}

// inline looks at YAML that stands in the kustomization.yaml.
func (v *visit) inline(content string) {
	if err := tame([]byte(content)); err != nil {
		v.refuse("", err)
	}
	v.spend(cost{bytes: int64(len(content))})
}

// plain looks at a file whose content becomes a value.
func (v *visit) plain(ref string) {
	name, ok := v.local(ref)
	if !ok {
		return
	}
	content, err := v.read(name)
	if err != nil {
		v.refuse(ref, err)
	}
	v.spend(cost{bytes: int64(len(content))})
}

// plugin looks at what configures a generator, a transformer or a validator: a text, a file, or a directory.
func (v *visit) plugin(ref string) {
	content := []byte(ref)
	if strings.Contains(ref, "\n") {
		v.inline(ref)
	} else {
		name, ok := v.local(ref)
		if !ok {
			return
		}
		if v.directory(name) {
			v.below(ref, name)
			return
		}
		content = v.objects(ref, name)
	}
	if v.err != nil {
		return
	}
	nodes, err := kio.FromBytes(content)
	if err != nil {
		v.refuse(ref, err)
		return
	}
	for _, n := range nodes {
		if strings.TrimPrefix(n.GetApiVersion(), "/") != "builtin" || n.GetAnnotations()["config.kubernetes.io/function"] != "" {
			v.refuse(ref, errors.New(wordPlugin(n.GetKind())))
			return
		}
		if n.GetKind() == "HelmChartInflationGenerator" {
			v.refuse(ref, errors.New(wordHelm))
			return
		}
		v.paths(n.YNode(), false)
	}
}

// paths refuses what a plugin's configuration would read from elsewhere.
func (v *visit) paths(n *yaml.Node, named bool) {
	if _, after, _ := strings.Cut(n.Value, "="); named && n.Kind == yaml.ScalarNode && (kustomize.Remote(n.Value) || kustomize.Remote(after)) {
		v.refuse(n.Value, &remoteError{n.Value})
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode {
			named = i%2 == 1 && slices.Contains([]string{"path", "paths", "files", "envs", "env", "targetFilePath"}, n.Content[i-1].Value)
		}
		v.paths(child, named)
	}
}

// read gives a file.
func (l *lookup) read(name string) ([]byte, error) {
	content, ok := l.text(name)
	switch {
	case l.left(name):
		return nil, errors.New(wordLeft(name))
	case !ok:
		return nil, errors.New(wordMissing(name))
	}
	return content, nil
}

// yaml gives a file that kustomize may parse.
func (w *walk) yaml(name string) ([]byte, error) {
	content, err := w.read(name)
	if err != nil {
		return nil, err
	}
	t, ok := w.texts[name]
	if !ok {
		t = &text{docs: 1 + bytes.Count(content, []byte("\n---"))}
		if err := tame(content); err != nil {
			t.err = fmt.Errorf("%s: %w", name, err)
		}
		w.texts[name] = t
	}
	return content, t.err
}
