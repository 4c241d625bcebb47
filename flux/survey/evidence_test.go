package survey

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/layout"
)

// bootstrap is what `flux bootstrap` writes for a cluster.
func bootstrap(texts map[string]string, name string) {
	texts["clusters/"+name+"/flux-system/gotk-sync.yaml"] = kustomization("flux-system", "./clusters/"+name, "main")
}

// job is a CronJob with a command.
func job(name, schedule, zone, command string) string {
	if zone != "" {
		zone = "\n  timeZone: " + zone
	}
	return fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s, namespace: flux-system}\nspec:\n  schedule: %q%s\n"+
		"  jobTemplate: {spec: {template: {spec: {containers: [{command: [sh, -c, %q]}]}}}}\n---\n", name, schedule, zone, command)
}

// jobs is two CronJobs that open a window at 8 and close it at 10; the command says VERB and TRUE for what it does.
func jobs(stem, command string) string {
	var b strings.Builder
	for i, verb := range []string{"resume", "suspend"} {
		b.WriteString(job(verb+"-"+stem, fmt.Sprintf("0 %d * * *", 8+2*i), "", strings.NewReplacer("VERB", verb, "TRUE", fmt.Sprint(i == 1)).Replace(command)))
	}
	return b.String()
}

const whole = "flux VERB kustomization --all"

// windowedBy reports whether a draft holds a file: by a window, or by a branch that something in the tree tracks.
func windowedBy(d Draft, tracked map[string]bool, file string) bool {
	return windowed(d.Policy, tracked, file)
}

// proposed is the policy of the lines that a file has as a comment instead of rules, with what the references of a tree say; nil: it has none.
func proposed(t *testing.T, d Draft, tree *graph.Tree) *config.Policy {
	t.Helper()
	before, rest, _ := strings.Cut(string(d.File), "  rules:")
	_, lines, found := strings.Cut(rest, wordFlux+"\n")
	if !found {
		return nil
	}
	lines, after, _ := strings.Cut(lines, "\n\n")
	p, findings := config.Parse([]byte(before + strings.ReplaceAll(lines, "  # ", "  ") + "\n\n" + after))
	if p == nil || !p.Flux {
		t.Fatalf("%v\n%s", findings, d.File)
	}
	return p.With(reach.New(p, tree.Clusters(p.Clusters)))
}

func windowed(p *config.Policy, tracked map[string]bool, file string) bool {
	for _, r := range p.Layout.Classify(file).Releases {
		if r == layout.Live {
			continue
		}
		if _, branch := r.BranchGlob(); !branch {
			return true
		}
		if matching := p.Matching(r); len(matching) > 0 && !slices.ContainsFunc(matching, func(b config.Branch) bool { return !tracked[b.Name] }) {
			return true
		}
	}
	return false
}

// TestEvidence: what is held in one cluster is decided by what was found for it, whatever was found for another one.
func TestEvidence(t *testing.T) {
	cm := func(texts map[string]string, files ...string) {
		for _, f := range files {
			texts[f] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
		}
	}
	two := func(one, two string) map[string]string {
		texts := map[string]string{
			"clusters/one/apps.yaml": kustomization("apps", "./one/apps", "main") + one,
			"clusters/two/apps.yaml": kustomization("apps", "./two/apps", "main") + two,
		}
		bootstrap(texts, "one")
		bootstrap(texts, "two")
		cm(texts, "one/apps/a.yaml", "two/apps/a.yaml")
		return texts
	}
	withNames := func(texts map[string]string, live, windowed string) map[string]string {
		texts["clusters/two/names.yaml"] = kustomization("x-live", "./two/"+live, "main") + kustomization("x-held", "./two/"+windowed, "main")
		cm(texts, "two/"+live+"/a.yaml", "two/"+windowed+"/a.yaml", "two/"+windowed+"/b.yaml")
		return texts
	}
	for _, c := range []struct {
		name       string
		texts      map[string]string
		held, live string // files
		notes      string // what one of the notes holds
	}{
		{
			"whole beside names", withNames(two(jobs("window", whole), ""), "x-rt", "x-rw"),
			"one/apps/a.yaml clusters/one/apps.yaml two/x-rw/a.yaml", "two/apps/a.yaml two/x-rt/a.yaml", "",
		},
		{
			"by their names alone, beside names", withNames(two(strings.ReplaceAll(jobs("window", ""), `"sh","-c",""`, ""), ""), "x-rt", "x-rw"),
			"one/apps/a.yaml clusters/one/apps.yaml two/x-rw/a.yaml", "two/x-rt/a.yaml", "",
		},
		{
			"whole, names of its own", withNames(two("", jobs("window", whole)), "x-rt", "x-rw"),
			"two/apps/a.yaml two/x-rw/a.yaml two/x-rt/a.yaml clusters/two/apps.yaml", "one/apps/a.yaml", "",
		},
		{
			"two conventions", func() map[string]string {
				texts := withNames(two("", jobs("window", "echo")), "x-rt", "x-mw")
				texts["clusters/one/names.yaml"] = kustomization("y-live", "./one/y-rt", "main") + kustomization("y-held", "./one/y-rw", "main")
				cm(texts, "one/y-rt/a.yaml", "one/y-rw/a.yaml", "one/y-rw/b.yaml", "one/y-rw/c.yaml")
				return texts
			}(),
			"one/y-rw/a.yaml two/x-mw/a.yaml", "one/y-rt/a.yaml two/x-rt/a.yaml", "",
		},
		{
			"whole beside a branch", two(jobs("window", whole), kustomization("rw", "./two/rw", "rw")),
			"one/apps/a.yaml", "two/apps/a.yaml", "",
		},
		{
			"a live name that is suspended", withNames(two("", jobs("window", "flux VERB ks x-live")), "x-rt", "x-rw"),
			"two/x-rt/a.yaml two/x-rw/a.yaml", "two/apps/a.yaml", "",
		},
		{
			"two time zones beside a window", two(job("resume-a", "0 8 * * *", "Europe/Berlin", "flux resume ks apps")+
				job("suspend-a", "0 10 * * *", "", "flux suspend ks apps"), jobs("window", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "two time zones",
		},
		{
			"a schedule with a variable beside a window", two(job("resume-a", "${OPEN}", "", "flux resume ks --all")+
				job("suspend-a", "${CLOSE}", "", "flux suspend ks --all"), jobs("window", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "variable",
		},
		{
			"nothing closes it", two(job("resume-a", "0 8 * * *", "", "flux resume ks apps"), jobs("window", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "nothing closes it",
		},
		{
			"the root's own Kustomization", two(jobs("window", "flux VERB ks flux-system"), ""),
			"clusters/one/apps.yaml", "two/apps/a.yaml clusters/two/apps.yaml", "",
		},
		{
			"the namespace first", two(jobs("a", "flux -n flux-system VERB kustomization apps"), jobs("b", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "",
		},
		{
			"the namespace first, of kubectl", two(jobs("a", "kubectl --namespace flux-system patch kustomization apps --type merge -p '{\"spec\":{\"suspend\":TRUE}}'"), jobs("b", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "",
		},
		{
			"a JSON patch", two(jobs("a", "kubectl patch ks apps --type=json -p='[{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":TRUE}]'"), jobs("b", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "",
		},
		{
			"a Kustomization and a source", two(jobs("window", "flux VERB ks other; flux VERB source git flux-system"), ""),
			"one/apps/a.yaml", "two/apps/a.yaml", "",
		},
		{
			"a variable beside a name", two(kustomization("other", "./one/other", "main")+jobs("window", "flux VERB ks other; for k in apps; do flux VERB ks $k; done"), ""),
			"one/apps/a.yaml", "two/apps/a.yaml", "",
		},
		{
			"several windows for one", two(job("resume-a", "0 8 * * *", "", "flux resume ks apps")+job("suspend-a", "0 10 * * *", "", "flux suspend ks apps")+
				job("resume-b", "0 20 * * *", "", "flux resume ks apps")+job("suspend-b", "0 22 * * *", "", "flux suspend ks apps"), ""),
			"one/apps/a.yaml", "two/apps/a.yaml", "more than one window",
		},
		{
			"branches that the file cannot have", func() map[string]string {
				texts := two(kustomization("rw", "./one/rw", "rw"), kustomization("rw", "./two/rw", "RW")+kustomization("odd", "./two/odd", "rw..x"))
				cm(texts, "one/rw/a.yaml", "two/rw/a.yaml", "two/odd/a.yaml")
				return texts
			}(),
			"one/rw/a.yaml two/rw/a.yaml two/odd/a.yaml", "one/apps/a.yaml two/apps/a.yaml", "",
		},
		{
			"nobody applies the jobs", func() map[string]string {
				texts := two("", "")
				texts["by-hand/jobs.yaml"] = jobs("window", whole)
				return texts
			}(),
			"one/apps/a.yaml two/apps/a.yaml", "", "",
		},
		{
			"in UTC and in a zone", two(job("resume-a", "0 8 * * *", "Europe/Berlin", whole1("resume"))+job("suspend-a", "0 10 * * *", "Europe/Berlin", whole1("suspend")), jobs("window", whole)),
			"one/apps/a.yaml two/apps/a.yaml", "", "",
		},
		{
			"lists that lead to a definition, or to what it refers to", func() map[string]string {
				texts := two("", "")
				texts["clusters/one/apps.yaml"] = kustomization("ks", "./ks", "main") + kustomization("charts", "./charts", "main") + jobs("window", "flux VERB ks apps")
				texts["ks/kustomization.yaml"] = "resources: [group, live.yaml]\n"
				texts["ks/live.yaml"] = kustomization("live", "./live", "main")
				texts["ks/group/kustomization.yaml"] = "resources: [apps.yaml]\n"
				texts["ks/group/apps.yaml"] = kustomization("apps", "./one/apps", "main")
				texts["charts/kustomization.yaml"] = "resources: [oci.yaml, unused]\n"
				texts["charts/oci.yaml"] = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: chart, namespace: a}\nspec: {url: oci://example.com/chart}\n"
				texts["charts/unused/kustomization.yaml"] = "resources: [a.yaml]\n"
				texts["one/apps/release.yaml"] = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: a}\nspec: {chartRef: {kind: OCIRepository, name: chart}}\n"
				texts["one/.sourceignore"] = "x.yaml\n"
				texts["live/more.yaml"] = "kind: List\nitems: {{ broken }\n"
				cm(texts, "live/a.yaml", "charts/unused/a.yaml")
				return texts
			}(),
			"one/apps/release.yaml ks/group/apps.yaml ks/group/kustomization.yaml ks/kustomization.yaml charts/oci.yaml charts/kustomization.yaml one/.sourceignore live/more.yaml",
			"live/a.yaml ks/live.yaml charts/unused/kustomization.yaml charts/unused/a.yaml", "",
		},
		{
			"never open together", func() map[string]string {
				texts := map[string]string{}
				for i, name := range []string{"one", "two"} {
					bootstrap(texts, name)
					texts["clusters/"+name+"/apps.yaml"] = kustomization("apps", "./apps", "main") + windowJobs(8+6*i, "apps")
				}
				cm(texts, "apps/a.yaml")
				return texts
			}(),
			"apps/a.yaml", "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, errs := draftOf(t, files(c.texts))
			tracked := map[string]bool{"rw": true}
			for _, f := range strings.Fields(c.held) {
				if !windowedBy(d, tracked, f) {
					t.Errorf("%s: %v", f, d.Policy.Layout.Classify(f).Releases)
				}
			}
			for _, f := range strings.Fields(c.live) {
				if got := d.Policy.Layout.Classify(f).Releases; !slices.Equal(got, []layout.Release{layout.Live}) {
					t.Errorf("%s: %v, want live", f, got)
				}
			}
			if c.notes != "" && !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, c.notes) }) {
				t.Errorf("no note has %q: %q", c.notes, d.Notes)
			}
			if len(errs) > 0 || t.Failed() {
				t.Errorf("%v\n%s", errs, d.File)
			}
		})
	}
}

func whole1(verb string) string { return strings.ReplaceAll(whole, "VERB", verb) }

// world is a tree that is drawn, with what is known of it: the Flux Kustomizations, by CLUSTER/NAME, that have a window.
type world struct {
	texts map[string]string
	held  map[string]bool
}

// draw draws a tree of a few clusters. How each is held is drawn for itself; directories of bases are shared.
func draw(r *rand.Rand) world {
	w := world{map[string]string{}, map[string]bool{}}
	for i := range 1 + r.IntN(4) {
		w.cluster(r, fmt.Sprintf("%s-%d", []string{"prod", "edge", "staging"}[r.IntN(3)], i))
	}
	for i := range 3 {
		w.texts[fmt.Sprintf("base/b-%d/cm.yaml", i)] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
		w.texts[fmt.Sprintf("base/b-%d/kustomization.yaml", i)] = "resources: [cm.yaml]\n"
	}
	return w
}

// cluster draws one: entry points under names of one convention or none, and what holds them.
func (w world) cluster(r *rand.Rand, name string) {
	if r.IntN(4) > 0 {
		bootstrap(w.texts, name)
	}
	suffixes := [][2]string{{"", ""}, {"-rt", "-rw"}, {"-rt", "-mw"}, {"-live", "-window"}}[r.IntN(4)]
	var all, targets []string
	objects := ""
	how := r.IntN(6)
	for i := range 1 + r.IntN(4) {
		ks, windowed := fmt.Sprintf("app-%d", i), r.IntN(2) == 0
		dir := fmt.Sprintf("apps/%s/%s%s", name, ks, suffixes[0])
		if windowed {
			dir = fmt.Sprintf("apps/%s/%s%s", name, ks, suffixes[1])
		}
		branch := "main"
		if how == 4 && windowed {
			branch = "rw/" + name
			w.held[name+"/"+ks] = true
		}
		objects += kustomization(ks, "./"+dir, branch)
		base := fmt.Sprintf("base/b-%d", r.IntN(3))
		if r.IntN(4) == 0 {
			base += suffixes[0] // a name that lies
			w.texts[base+"/kustomization.yaml"] = "resources: [cm.yaml]\n"
			w.texts[base+"/cm.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: b}\n"
		}
		w.texts[dir+"/kustomization.yaml"] = "nameSuffix: -" + ks + "\nresources: [own.yaml, ../../../" + base + "]\n"
		w.texts[dir+"/own.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: b}\n", ks)
		if all = append(all, ks); r.IntN(2) == 0 {
			targets = append(targets, ks)
		}
	}
	hold := func(some []string) {
		for _, ks := range some {
			w.held[name+"/"+ks] = true
		}
	}
	hour := r.IntN(20)
	pair := func(command string) string {
		zone := []string{"", "UTC", "Europe/Berlin"}[r.IntN(3)]
		out := ""
		for i, verb := range []string{"resume", "suspend"} {
			schedule := fmt.Sprintf("0 %d * * *", hour+2*i)
			switch r.IntN(12) {
			case 0:
				schedule = "${" + strings.ToUpper(verb) + "}"
			case 1:
				zone = "America/New_York"
			}
			out += job(fmt.Sprintf("%s-%d", verb, r.IntN(2)), schedule, zone, fmt.Sprintf(command, verb))
		}
		return out
	}
	switch how {
	case 0:
		objects += pair("flux %s kustomization --all")
		hold(all)
	case 1:
		if len(targets) > 0 {
			objects += pair("flux %s kustomization " + strings.Join(targets, " ") + " -n flux-system")
			hold(targets)
		}
	case 2:
		objects += pair("flux %s source git flux-system")
		hold(all)
	case 3:
		objects += fmt.Sprintf("apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {name: hours}\n"+
			"spec: {schedule: [{cron: \"0 %d * * *\", window: 2h}]}\n---\n", hour)
		if suffixes[0] == "" {
			hold(all)
		}
	}
	w.texts["clusters/"+name+"/all.yaml"] = objects
}

// TestFoundIsHeld: of whatever tree, each file is windowed that an entry point reads for which a window was found.
func TestFoundIsHeld(t *testing.T) {
	proposals := 0
	for seed := range race.Or[uint64](60, 300) {
		w := draw(rand.New(rand.NewPCG(seed, 1)))
		d, errs := draftOf(t, files(w.texts))
		if len(errs) > 0 {
			t.Errorf("seed %d: %v\n%s", seed, errs, d.File)
		}
		for _, f := range config.Check(d.Policy, d.File, config.CheckInput{Paths: sortedNames(w.texts), At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}) {
			if f.Code == "rule-never-matches" {
				t.Errorf("seed %d: %s", seed, f.Message)
			}
		}
		read, err := graph.Read(files(w.texts))
		if err != nil {
			t.Fatal(err)
		}
		checked, other := 0, proposed(t, d, read)
		if other != nil {
			proposals++
		}
		for _, c := range read.Clusters(nil) {
			for _, e := range c.Entries() {
				if e.Kustomization == nil || !w.held[c.Name+"/"+e.Kustomization.Name] {
					continue
				}
				for _, file := range e.Files() {
					checked++
					if other != nil && !windowed(other, map[string]bool{"rw/" + c.Name: true}, file) {
						t.Errorf("seed %d: the proposal: %s, which %s of %s reads: %v", seed, file, e.Kustomization.Name, c.Name, other.Layout.Classify(file))
					}
					if !windowedBy(d, map[string]bool{"rw/" + c.Name: true}, file) {
						t.Errorf("seed %d: %s, which %s of %s reads: %v", seed, file, e.Kustomization.Name, c.Name, d.Policy.Layout.Classify(file))
					}
				}
			}
		}
		for file := range w.texts {
			if other == nil || strings.HasPrefix(other.Layout.Classify(file).Rule, "unmatched") {
				continue
			}
			tracked := map[string]bool{}
			for _, b := range d.Policy.Branches {
				tracked[b.Name] = true
			}
			if windowed(other, tracked, file) && !windowedBy(d, tracked, file) {
				t.Errorf("seed %d: %s is held by references and not by rules: %v", seed, file, d.Policy.Layout.Classify(file))
			}
		}
		if len(w.held) > 0 && checked == 0 {
			t.Errorf("seed %d: nothing was checked of %v", seed, w.held)
		}
		if t.Failed() {
			t.Fatalf("%s\n%v", d.File, w.held)
		}
	}
	if proposals < race.Or(2, 10) {
		t.Errorf("%d proposals", proposals)
	}
}

// TestFoundIsHeldInTrees: the same of the trees of testdata, by what the survey itself found.
func TestFoundIsHeldInTrees(t *testing.T) {
	once := func(t *testing.T, texts map[string]string) {
		tree := files(texts)
		d, _ := draftOf(t, tree)
		read, err := graph.Read(tree)
		if err != nil {
			t.Fatal(err)
		}
		other := proposed(t, d, read)
		s, tracked := newSurvey(read, sortedNames(texts), ""), map[string]bool{}
		for _, c := range s.clusters {
			for _, src := range c.Sources {
				tracked[src.Follows()] = true
			}
		}
		if other != nil { // the rules hold what the references hold
			for file := range texts {
				if by := other.Layout.Classify(file).Rule; windowed(other, tracked, file) && !strings.HasPrefix(by, "unmatched") && !windowedBy(d, tracked, file) {
					t.Errorf("%s by the proposal, %v by the rules: %s\n%s", by, d.Policy.Layout.Classify(file), file, d.File)
				}
			}
		}
		for _, c := range s.clusters {
			h := s.holderOf(c)
			for _, k := range c.Kustomizations {
				for _, file := range k.Files() {
					if !h.held(k).live && other != nil && !windowed(other, tracked, file) {
						t.Errorf("the proposal: %s, which %s of %s reads: %v\n%s", file, k.Name, c.Name, other.Layout.Classify(file), d.File)
					}
					if !h.held(k).live && !windowedBy(d, tracked, file) {
						t.Errorf("%s, which %s of %s reads: %v\n%s", file, k.Name, c.Name, d.Policy.Layout.Classify(file), d.File)
					}
				}
			}
		}
	}
	fluxtrees.Each(t, func(t *testing.T, name string) { once(t, textsOf(t, fluxtrees.Tree(t, name))) })
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		delete(g.Tree, config.File)
		once(t, textsOf(t, g.Tree))
	})
}

// textsOf is the texts of a tree's files.
func textsOf(t *testing.T, tree fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, file)
		out[file] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func sortedNames(texts map[string]string) []string { return slices.Sorted(maps.Keys(texts)) }

// TestManyHeldWhole: of more clusters with windows than a file may have windows, none is live.
func TestManyHeldWhole(t *testing.T) {
	texts := map[string]string{}
	for i := range config.MaxWindows + 30 {
		name := fmt.Sprintf("c-%d", i)
		bootstrap(texts, name)
		texts["clusters/"+name+"/apps.yaml"] = kustomization("apps", "./apps/"+name, "main") +
			job("resume", fmt.Sprintf("%d %d * * *", i%60, i/60), "", whole1("resume")) + job("suspend", fmt.Sprintf("%d %d * * *", i%60, i/60+2), "", whole1("suspend"))
		texts["apps/"+name+"/a.yaml"] = "a: b\n"
	}
	d, errs := draftOf(t, files(texts))
	for file := range texts {
		if !windowedBy(d, nil, file) {
			t.Errorf("%s: %v", file, d.Policy.Layout.Classify(file))
		}
	}
	if len(errs) > 0 || len(d.Policy.Windows) > config.MaxWindows {
		t.Error(errs)
	}
}

// TestBeyondRules: where the rules cannot hold all that they should, everything waits: too many of them, and names that no pattern has.
func TestBeyondRules(t *testing.T) {
	t.Run("names", func(t *testing.T) {
		texts := map[string]string{
			"clusters/one/all.yaml":   kustomization("apps", "./apps", "main") + kustomization("other", "./other", "main") + jobs("window", "flux VERB ks apps"),
			"apps/kustomization.yaml": "resources: [\"../mixed/a\\u0001b.yaml\"]\n", "other/kustomization.yaml": "resources: [../mixed/live.yaml]\n",
			"mixed/a\x01b.yaml": "a: b\n", "mixed/live.yaml": "a: b\n",
		}
		bootstrap(texts, "one")
		d, errs := draftOf(t, files(texts))
		if !windowedBy(d, nil, "mixed/a\x01b.yaml") || len(errs) > 0 {
			t.Errorf("%v\n%s", errs, d.File)
		}
	})
	t.Run("rules", func(t *testing.T) {
		texts := map[string]string{}
		for i := range 60 {
			name := fmt.Sprintf("c-%d", i)
			bootstrap(texts, name)
			objects := ""
			for j := range 40 { // each file needs another pair of windows
				texts[fmt.Sprintf("apps/%d-%d/a.yaml", i, j)] = "a: b\n"
				objects += kustomization(fmt.Sprintf("own-%d", j), fmt.Sprintf("./apps/%d-%d", i, j), "main") +
					kustomization(fmt.Sprintf("other-%d", j), fmt.Sprintf("./apps/%d-%d", (i+j)%60, j), "main")
			}
			texts["clusters/"+name+"/apps.yaml"] = objects + job("resume", fmt.Sprintf("%d 8 * * *", i), "", whole1("resume")) + job("suspend", fmt.Sprintf("%d 10 * * *", i), "", whole1("suspend"))
		}
		d, errs := draftOf(t, files(texts))
		for file := range texts {
			if !windowedBy(d, nil, file) {
				t.Fatalf("%s: %v", file, d.Policy.Layout.Classify(file))
			}
		}
		if len(errs) > 0 || !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "no rules can hold") }) {
			t.Errorf("%v %q\n%.3000s", errs, d.Notes, d.File)
		}
	})
}

// TestShort: of hundreds of applications with an overlay for each cluster the file has a rule for each overlay, and a line by what Flux reads.
func TestShort(t *testing.T) {
	texts := map[string]string{}
	for _, c := range []string{"production", "staging"} {
		bootstrap(texts, c)
		for i := range 300 {
			at := fmt.Sprintf("apps/app-%d/", i)
			texts["clusters/"+c+"/apps.yaml"] += kustomization(fmt.Sprintf("app-%d", i), "./"+at+"overlays/"+c, "main")
			texts[at+"overlays/"+c+"/kustomization.yaml"], texts[at+"base/kustomization.yaml"] = "resources: [../../base]\n", "resources: [a.yaml]\n"
			texts[at+"base/a.yaml"] = "a: b\n"
		}
	}
	texts["apps/odd/overlays/staging/kustomization.yaml"] = "resources: []\n" // which production reads, too
	texts["clusters/production/odd.yaml"] = kustomization("odd", "./apps/odd/overlays/staging", "main")
	d, errs := draftOf(t, files(texts))
	for _, line := range []string{`- "apps/*/overlays/production/**"`, `- "apps/*/base/**"`, `#   - {cluster: production, where: "**", release: maintenance-window}`} {
		if !strings.Contains(string(d.File), line) {
			t.Errorf("no %s", line)
		}
	}
	for file, held := range map[string]bool{
		"apps/odd/overlays/staging/kustomization.yaml": true, "apps/app-7/overlays/staging/kustomization.yaml": false, "apps/app-7/base/a.yaml": true,
	} {
		if windowedBy(d, nil, file) != held {
			t.Errorf("%s: %v", file, d.Policy.Layout.Classify(file))
		}
	}
	if n := strings.Count(string(d.File), "\n"); n > 110 || len(errs) > 0 {
		t.Errorf("%d lines, %v\n%s", n, errs, d.File)
	}
}
