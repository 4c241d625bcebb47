package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/layout"
)

// mainBranch is what pull requests go into.
const mainBranch = "main"

// fact is a cluster that there is, whatever the repository says of it.
type fact struct {
	Name string   // as the file may call it
	Path string   // of its root
	Hand []string // files of the repository that somebody applied by hand once
	Own  string   // what somebody applied by hand that stands in no file
}

// world is a repository, and what is true of it.
type world struct {
	files map[string]string
	urls  []string // where it lies, as far as somebody writes it
	facts []fact

	origin   string   // the clone's; "": none
	features []string // what it was drawn with
}

// with is the world with other files.
func (w *world) with(files map[string]string) *world {
	out := *w
	out.files = files
	return &out
}

// miss is a file that must be windowed and is not.
type miss struct {
	file, entry string // the entry point as CLUSTER NAMESPACE/NAME
	why         string
	has, needs  []layout.Release
	ch          *change // nil: the file is read, and one of needs is enough; otherwise all of them
}

func (m miss) String() string {
	return fmt.Sprintf("%s: %s %s; sluice gives it %q, and it needs %q", m.file, m.entry, m.why, m.has, m.needs)
}

// judge follows a world and asks sluice about it.
type judge struct {
	*world
	b      *builder
	check  checked
	base   []*cluster
	failed []string         // what did not build
	late   []config.Finding // errors of check with builds
}

// newJudge follows a world as it is. The errors of check are in it.
func newJudge(w *world) *judge {
	j := &judge{world: w, b: newBuilder(), check: check(w.files, w.origin)}
	j.base = j.followed(w.files)
	for i, c := range j.base {
		for name, e := range c.entries {
			if e.built != nil && e.err != nil {
				j.failed = append(j.failed, fmt.Sprintf("%s %s: %v", w.facts[i].Name, name, e.err))
			}
		}
	}
	slices.Sort(j.failed)
	return j
}

// followed is the clusters after main became a tree, while nobody moves a windowed branch.
func (j *judge) followed(head map[string]string) []*cluster {
	p := &place{urls: j.urls, branches: map[string]map[string]string{mainBranch: head}, handed: map[string]*artifact{}}
	if j.check.policy != nil {
		for _, b := range j.check.policy.Branches {
			p.branches[b.Name] = j.files
		}
	}
	var out []*cluster
	for i, f := range j.facts {
		var hand []object
		for _, name := range f.Hand {
			hand = append(hand, objects(j.files[name])...)
		}
		var before *cluster
		if j.base != nil {
			before = j.base[i]
		}
		out = append(out, follow(p, j.b, append(hand, objects(f.Own)...), before))
	}
	return out
}

// windowed is what the file of rules asks of an entry point: the releases that hold its content, and the windows of these; none: it is live.
func (j *judge) windowed(f fact, e *entry) (releases, windows []layout.Release) {
	p := j.check.policy
	if e.artifact != nil {
		for _, branch := range e.artifact.tracks {
			if slices.ContainsFunc(p.Branches, func(b config.Branch) bool { return b.Name == branch }) {
				releases = append(releases, layout.BranchRelease(layout.Literal(branch)))
			}
		}
	}
	for i := 0; len(releases) == 0 && i < len(p.EntryPoints); i++ {
		if p.EntryPoints[i].Fits(f.Name, e.namespace()+"/"+e.name(), e.dir()) {
			releases = p.EntryPoints[i].Releases
			break
		}
	}
	windows = slices.DeleteFunc(reach.Windows(p, releases), func(r layout.Release) bool { return r == layout.Live })
	return slices.Concat(releases, windows), windows
}

// effect is everything of a windowed entry point that must not change outside of its windows.
func (c *cluster) effect(e *entry) string {
	var out strings.Builder
	add := func(o object) {
		if o == nil {
			out.WriteString("none\n")
			return
		}
		spec, _ := o["spec"].(map[string]any)
		spec = maps.Clone(spec)
		delete(spec, "dependsOn")
		fmt.Fprintln(&out, o.id(), text(spec), text(c.variants[o.id()]))
	}
	add(e.object)
	if e.artifact == nil {
		return out.String()
	}
	for _, s := range e.artifact.sources {
		add(s)
	}
	fmt.Fprintln(&out, text(c.valuesOf(e.object)))
	if name := e.at("spec", "serviceAccountName"); name != nil {
		account := c.find("", e.object, object{"kind": "ServiceAccount", "name": name})
		fmt.Fprintln(&out, text(account))
		for _, pull := range list(account.at("imagePullSecrets")) {
			fmt.Fprintln(&out, text(c.find("", account, object{"kind": "Secret", "name": pull["name"]})))
		}
	}
	if e.built == nil || e.err != nil {
		out.WriteString("not built\n")
		return out.String()
	}
	fmt.Fprintln(&out, text(e.objects))
	for _, o := range e.objects {
		if o.group() == groupOperator && o.kind() == "ResourceSet" {
			for _, secret := range c.mentioned(o) {
				fmt.Fprintln(&out, text(secret))
			}
		}
		if o.group() != groupHelm || o.kind() != "HelmRelease" {
			continue
		}
		ch := c.chartOf(o)
		for _, s := range ch.objects {
			add(s)
		}
		out.WriteString(ch.text)
		from := values{}
		for _, ref := range list(o.at("spec", "valuesFrom")) {
			c.hold(from, object{"kind": ref["kind"], "name": ref["name"], "namespace": o.namespace()})
		}
		fmt.Fprintln(&out, text(from))
	}
	return out.String()
}

// mentioned is the Secrets that the objects of a ResourceSet refer to.
func (c *cluster) mentioned(set object) []object {
	var out []object
	for _, r := range expanded(set) {
		if name := r.at("spec", "secretRef", "name"); name != nil {
			out = append(out, c.find("", set, object{"kind": "Secret", "name": name}))
		}
	}
	return out
}

// reads is the files of the repository that an entry point is made of.
func (c *cluster) reads(e *entry) []string {
	if e.built == nil || e.artifact == nil {
		return nil
	}
	var out []string
	for _, name := range e.trace.read() {
		if origin := e.artifact.origins[name]; origin != "" {
			out = append(out, origin)
		}
	}
	for _, o := range e.objects {
		if o.group() == groupHelm && o.kind() == "HelmRelease" {
			out = append(out, c.chartOf(o).files...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// subject is a windowed entry point of a world.
type subject struct {
	cluster           int
	name              string
	releases, windows []layout.Release
	effect            string
}

// subjects is the windowed entry points of the world.
func (j *judge) subjects() []subject {
	var out []subject
	for i, c := range j.base {
		for _, name := range slices.Sorted(maps.Keys(c.entries)) {
			e := c.entries[name]
			if releases, windows := j.windowed(j.facts[i], e); len(windows) > 0 {
				out = append(out, subject{i, name, releases, windows, c.effect(e)})
			}
		}
	}
	return out
}

// skipped is files that do not count; nil: all do.
var skipped *regexp.Regexp

// misses is what sluice misses of a world; limit is how many are enough.
func (j *judge) misses(limit int) []miss {
	if j.check.policy == nil || len(j.check.errors) > 0 {
		return nil
	}
	subjects := j.subjects()
	out := append(j.unread(subjects), j.idle(subjects)...)
	for _, ch := range j.changes(subjects) {
		if len(out) >= limit {
			break
		}
		if skipped != nil && skipped.MatchString(ch.file) {
			continue
		}
		out = append(out, j.atOnce(subjects, ch)...)
	}
	if len(out) > 0 {
		if j.late = j.check.whole(); len(j.late) > 0 {
			return nil
		}
	}
	return out
}

// unread is the files that windowed entry points read and that are not windowed.
func (j *judge) unread(subjects []subject) []miss {
	var out []miss
	classes := j.check.classify()
	for _, s := range subjects {
		c := j.base[s.cluster]
		for _, file := range c.reads(c.entries[s.name]) {
			has := classes.Classify(file).Releases
			if !holds(has) && !slices.ContainsFunc(has, func(r layout.Release) bool { return slices.Contains(s.releases, r) }) {
				out = append(out, miss{file: file, entry: j.facts[s.cluster].Name + " " + s.name, why: "reads it", has: has, needs: s.releases})
			}
		}
	}
	return out
}

// idle is what the file windows and nothing in the clusters is, or reads anything here: people trust in a hold that there is not.
func (j *judge) idle(subjects []subject) []miss {
	var out []miss
	add := func(what, why string, needs ...layout.Release) {
		out = append(out, miss{file: config.File, entry: what, why: why, needs: needs})
	}
	branches, points := j.check.policy.Branches, j.check.policy.EntryPoints
	if slices.Contains(j.features, "root-left-out") { // what the list names counts, too, though Flux does not read it
		branches, points = nil, nil
	}
	for _, b := range branches {
		said := slices.ContainsFunc(j.check.warnings, func(f config.Finding) bool {
			return f.Code == "branch-unfollowed" && strings.Contains(f.Message, b.Name)
		})
		if !said && !slices.ContainsFunc(j.base, func(c *cluster) bool { return c.tracks(b.Name) }) {
			add(b.Name, "is tracked by no source", layout.BranchRelease(layout.Literal(b.Name)))
		}
	}
	for i, p := range points {
		fits := false
		for at, c := range j.base {
			for name, e := range c.entries {
				fits = fits || p.Fits(j.facts[at].Name, name, e.dir())
			}
		}
		if !fits {
			add(fmt.Sprintf("entrypoints[%d]", i), "is no Flux Kustomization", p.Releases...)
		}
	}
	for _, s := range subjects {
		c := j.base[s.cluster]
		e := c.entries[s.name]
		stands := func(file string) bool { return strings.HasPrefix(file, e.dir()+"/") }       // then it is held, though its source hands nothing of it on
		ours := e.artifact != nil && len(e.artifact.tracks) > 0 && c.is(e.artifact.sources[0]) // what else hands a part of it on may have other directories
		if ours && len(c.reads(e)) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(j.files)), stands) {
			add(j.facts[s.cluster].Name+" "+s.name, "reads nothing", s.releases...)
		}
	}
	return out
}

// tracks reports whether a source of a cluster follows a branch of this repository.
func (c *cluster) tracks(branch string) bool {
	for _, o := range c.objects {
		if c.is(o) && tracked(o) == branch {
			return true
		}
	}
	return false
}

// dir is the path of a Flux Kustomization, as the file has it.
func (e *entry) dir() string {
	return strings.Trim(strings.TrimPrefix(textOf(e.at("spec", "path")), "./"), "/")
}

// holds reports whether one of some releases never opens, or is of a window that nobody knows here.
func holds(releases []layout.Release) bool {
	return slices.ContainsFunc(releases, func(r layout.Release) bool {
		return r == layout.Unclear || r == layout.Unread || strings.HasPrefix(string(r), "not read")
	})
}

// atOnce is what sluice misses of a change that reaches windowed entry points at once.
func (j *judge) atOnce(subjects []subject, ch change) []miss {
	head, ok := ch.apply(j.files)
	if !ok {
		return nil
	}
	after := j.followed(head)
	var has []layout.Release
	var out []miss
	for _, s := range subjects {
		if now := after[s.cluster].entries[s.name]; now != nil && after[s.cluster].effect(now) == s.effect {
			continue
		}
		if has == nil {
			has = j.check.change(head, ch.file)
		}
		if !holds(has) && slices.ContainsFunc(s.windows, func(r layout.Release) bool { return !slices.Contains(has, r) }) {
			out = append(out, miss{
				file: ch.file, entry: j.facts[s.cluster].Name + " " + s.name, why: "changes at once when somebody " + ch.String(), has: has, needs: s.windows, ch: &ch,
			})
		}
	}
	return out
}
