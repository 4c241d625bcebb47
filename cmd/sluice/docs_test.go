package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
)

// pages are what a new user reads, by their paths from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"README.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md", "deploy/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out[filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))] = string(data)
		}
	}
	return out
}

// fences are the blocks of code of a page in a language.
func fences(page, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^ *```"+language+"\n(.*?)^ *```$").FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestDocsLinks: a link of a page to another one, or to a heading, leads there.
func TestDocsLinks(t *testing.T) {
	all := pages(t)
	for path, page := range all {
		for _, m := range regexp.MustCompile(`\]\(([^()\s]+)\)`).FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(path), file))
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
			if heading != "" && !slices.Contains(headings(all[to]), heading) {
				t.Errorf("%s links to %s: there is no such heading", path, m[1])
			}
		}
	}
}

// headings are the names that GitHub gives a page's headings.
func headings(page string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

// TestDocsTraps: every test that the page of traps names is in the package that it names, or in test/e2e; and every file that it names as what
// closes a trap is there, with the declarations that are named right after it.
func TestDocsTraps(t *testing.T) {
	test := regexp.MustCompile("(?:\\b(cmd/sluice-demo|cmd/sluice|api|service|test/hour|test/flux|flux/analysis|flux/build|flux/graph|flux/manifest|flux/reach|flux/survey|flux/render|flux/suspend|bound|budget|gate|plan|reconcile|outbox|flux/revisions|forge/branches|forge/client|forge/look|forge|store|webhook|listen|config|window|layout|login|web|promoter|internal/standin/site|internal/standin/api|internal/standin|gitremote) )?(?:[^`|;:]*, )?`((?:Test|Fuzz)\\w+)[/`]")
	closing := regexp.MustCompile("`([\\w/-]+\\.go)`((?:,? \\w+)*)")
	known, tests, files := map[string]map[string]bool{}, 0, 0
	holds := func(pattern, name string) {
		if known[pattern] == nil {
			known[pattern] = declared(t, pattern)
		}
		if !known[pattern][name] {
			t.Errorf("%s has no %s", pattern, name)
		}
	}
	for _, line := range strings.Split(read(t, "docs/traps.md"), "\n") {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ';' || r == '|' }) {
			pkg := "test/e2e" // of a list of names, until the next package or semicolon
			for _, m := range test.FindAllStringSubmatch(part, -1) {
				pkg = cmp.Or(m[1], pkg)
				holds(pkg+"/*_test.go", m[2])
				tests++
			}
		}
		for _, m := range closing.FindAllStringSubmatch(line, -1) {
			holds(m[1], "")
			for _, name := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ' ' || r == ',' }) {
				holds(m[1], name)
			}
			files++
		}
	}
	if tests < 200 || files < 200 {
		t.Errorf("only %d tests and %d files are named", tests, files)
	}
}

// TestDocsArchitecture: each file that the page on the architecture names is there.
func TestDocsArchitecture(t *testing.T) {
	files := regexp.MustCompile("`([\\w/-]+\\.(?:go|md))`?").FindAllStringSubmatch(read(t, "docs/architecture.md"), -1)
	for _, m := range files {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("there is no %s", m[1])
		}
	}
	if len(files) < 40 {
		t.Errorf("only %d files are named", len(files))
	}
}

// declared are the names that files declare at their top; "" stands for there being files at all.
func declared(t *testing.T, pattern string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join("../..", pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		names[""] = true
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				names[n.Name.Name] = true
				return false
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
				return false
			}
			return true
		})
	}
	return names
}

// TestDocsGlossary: what each exported type is stands in the glossary: the last word of its name, or the whole of it.
func TestDocsGlossary(t *testing.T) {
	known := map[string]bool{}
	for _, word := range regexp.MustCompile(`\pL+`).FindAllString(strings.ToLower(read(t, "docs/glossary.md")), -1) {
		known[strings.TrimSuffix(word, "s")] = true
	}
	last, types := regexp.MustCompile(`[A-Z][a-z]*$`), 0
	files, err := filepath.Glob("../../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if is, ok := n.(*ast.TypeSpec); ok && is.Name.IsExported() {
				types++
				name := is.Name.Name
				if !known[strings.TrimSuffix(strings.ToLower(last.FindString(name)), "s")] && !known[strings.ToLower(name)] {
					t.Errorf("%s: the glossary has no word for %s", path, name)
				}
			}
			return true
		})
	}
	if types < 150 {
		t.Errorf("%d types found", types)
	}
}

// TestDocsCalls: every command that a page tells people to run exists, with every flag that it is given there.
func TestDocsCalls(t *testing.T) {
	call := regexp.MustCompile(`(?m)(?:^|[ /])(?:sluice|\./cmd/sluice) ([a-z]+)([^#\n]*)`)
	found := 0
	for path, page := range pages(t) {
		for _, block := range fences(page, "sh") {
			for _, m := range call.FindAllStringSubmatch(block, -1) {
				cmd, _, err := newRoot(&env{}).Find(append([]string{m[1]}, strings.Fields(m[2])...))
				if err != nil || !cmd.HasParent() {
					continue // a user, or a directory, of that name
				}
				found++
				for _, flag := range regexp.MustCompile(` --([a-z._-]+)`).FindAllStringSubmatch(m[2], -1) {
					if cmd.Flags().Lookup(flag[1]) == nil {
						t.Errorf("%s: sluice %s has no flag --%s", path, m[1], flag[1])
					}
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("%d calls found", found)
	}
}

// TestDocsSettings: every variable that an example sets is a setting.
func TestDocsSettings(t *testing.T) {
	known := map[string]bool{gitToken: true}
	for _, s := range knownSettings() {
		known[envName(s.key)] = true
	}
	text := map[string]string{"Dockerfile": read(t, "Dockerfile"), "deploy/kubernetes/sluice.yaml": read(t, "deploy/kubernetes/sluice.yaml"),
		"deploy/kubernetes/promote.yaml": read(t, "deploy/kubernetes/promote.yaml")}
	for path, page := range pages(t) {
		text[path] = strings.Join(fences(page, "sh"), "")
	}
	found := 0
	for path, s := range text {
		for _, name := range regexp.MustCompile(`\bSLUICE_[A-Z_]+`).FindAllString(s, -1) {
			if found++; !known[name] {
				t.Errorf("%s: there is no setting %s", path, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d settings found", found)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReadmeFile: the seven lines of the README do what it says of them: everything is merged at once, and production receives it on a
// weekday, from the same base.
func TestReadmeFile(t *testing.T) {
	rules := fences(read(t, "README.md"), "yaml")[0]
	if n := strings.Count(rules, "\n"); n != 7 {
		t.Errorf("they are %d", n)
	}
	t.Chdir(t.TempDir())
	lay(t, []txtar.File{{Name: "repo/.github/sluice.yaml", Data: []byte(rules)}, {Name: "repo/apps/base/web.yaml"}}, "repo/")
	if stdout, stderr, code := sluice("check", "repo"); code != 0 || !strings.HasPrefix(stdout, "repo/.github/sluice.yaml: ok\n") {
		t.Errorf("check: code %d, %s%s", code, stdout, stderr)
	}
	for at, want := range map[string]string{
		"2026-11-28":       "\nrelease: open; production receives it on Mon 30 Nov 2026 08:00 CET\n",
		"2026-11-27T20:00": "\nrelease: open; production receives it on Mon 30 Nov 2026 08:00 CET\n",
		"2026-11-27T12:00": "\nrelease: open; production receives it now\n",
	} {
		stdout, stderr, code := sluice("classify", "--repo", "repo", "apps/base/web.yaml", "--at", at)
		if code != 0 || !strings.HasSuffix(stdout, want) {
			t.Errorf("%s: code %d, %s%s, want %s", at, code, stdout, stderr, want)
		}
	}
	f := newFleet(t, rules, "production")
	saturday, monday := time.Date(2026, 11, 28, 11, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)
	for at, moved := range map[time.Time]bool{saturday: false, monday: true} {
		if _, out, stderr := promoteAt(t, at, "--repo", f.dir, "--ignore-checks", "--dry-run"); strings.Contains(out, "due: ") != moved {
			t.Errorf("%s: %s%s", at, out, stderr)
		}
	}
}

// TestKubernetesManifest: what runs in a cluster is what the image is made for: its user, its port, its one directory; and what an Ingress
// shows to the world is nothing but what GitHub and Flux post to.
func TestKubernetesManifest(t *testing.T) {
	manifest, docker := read(t, "deploy/kubernetes/sluice.yaml"), read(t, "Dockerfile")
	var kinds []string
	for dec := yaml.NewDecoder(bytes.NewReader([]byte(manifest))); ; {
		var o struct{ Kind string }
		if dec.Decode(&o) != nil {
			break
		}
		kinds = append(kinds, o.Kind)
	}
	if want := []string{"PersistentVolumeClaim", "Deployment", "Service", "Ingress", "NetworkPolicy"}; !slices.Equal(kinds, want) {
		t.Errorf("it holds %v, want %v", kinds, want)
	}
	for _, pair := range [][2]string{
		{"USER 65532:65532", "runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532"},
		{"SLUICE_LISTEN=0.0.0.0:8080", "containerPort: 8080"},
		{"SLUICE_DATABASE=/data/sluice.db", "mountPath: /data}"},
	} {
		if !strings.Contains(docker, pair[0]) || !strings.Contains(manifest, pair[1]) {
			t.Errorf("the image has %s, the manifest %s", pair[0], pair[1])
		}
	}
	var shown []string
	for _, m := range regexp.MustCompile(`\{path: (\S+), pathType`).FindAllStringSubmatch(manifest, -1) {
		shown = append(shown, m[1])
	}
	if want := []string{"/webhook", "/flux/"}; !slices.Equal(shown, want) {
		t.Errorf("the Ingress shows %v, want %v", shown, want)
	}
}

// TestMetricsOfTheManifest: Prometheus reaches the metrics of the Deployment: at an address that is not the pod's own, by a port that has a name, under
// the labels that the PodMonitor selects; and by that port alone.
func TestMetricsOfTheManifest(t *testing.T) {
	type selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	var deployment struct {
		Kind string
		Spec struct {
			Template struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					Containers []struct {
						Env   []struct{ Name, Value string }
						Ports []struct {
							Name          string
							ContainerPort int `yaml:"containerPort"`
						}
					}
				}
			}
		}
	}
	var policy struct {
		Spec struct {
			PodSelector selector `yaml:"podSelector"`
			PolicyTypes []string `yaml:"policyTypes"`
			Ingress     []struct {
				From  []any
				Ports []struct{ Port string }
			}
		}
	}
	var monitor struct {
		Kind string
		Spec struct {
			Selector            selector
			PodMetricsEndpoints []struct{ Port, Path string } `yaml:"podMetricsEndpoints"`
		}
	}
	manifest := strings.Split(read(t, "deploy/kubernetes/sluice.yaml"), "\n---\n")
	for text, into := range map[string]any{manifest[1]: &deployment, manifest[len(manifest)-1]: &policy, read(t, "deploy/prometheus/podmonitor.yaml"): &monitor} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	c := deployment.Spec.Template.Spec.Containers[0]
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if i := slices.IndexFunc(c.Env, func(e struct{ Name, Value string }) bool { return e.Name == envName("metrics.listen") }); i < 0 || c.Env[i].Value != fmt.Sprintf("0.0.0.0:%d", ports["metrics"]) {
		t.Errorf("the metrics' port is %d, and %s %+v", ports["metrics"], envName("metrics.listen"), c.Env)
	}
	labels := deployment.Spec.Template.Metadata.Labels
	if m := monitor.Spec; monitor.Kind != "PodMonitor" || !maps.Equal(m.Selector.MatchLabels, labels) || len(m.PodMetricsEndpoints) != 1 || m.PodMetricsEndpoints[0].Port != "metrics" ||
		m.PodMetricsEndpoints[0].Path != "" { // the default is /metrics
		t.Errorf("PodMonitor: %+v of pods with %v", m, labels)
	}
	p := policy.Spec
	if !maps.Equal(p.PodSelector.MatchLabels, labels) || !slices.Equal(p.PolicyTypes, []string{"Ingress"}) || len(p.Ingress) != 2 {
		t.Fatalf("NetworkPolicy: %+v", p)
	}
	for i, port := range []string{"hook", "metrics"} {
		in := p.Ingress[i]
		if len(in.Ports) != 1 || in.Ports[0].Port != port || (len(in.From) == 1) != (port == "metrics") {
			t.Errorf("NetworkPolicy: %+v", in)
		}
	}
}

// cronJob is what a CronJob of one container says.
type cronJob struct {
	Kind string
	Spec struct {
		ConcurrencyPolicy string `yaml:"concurrencyPolicy"`
		JobTemplate       struct {
			Spec struct {
				ActiveDeadlineSeconds int `yaml:"activeDeadlineSeconds"`
				Template              struct{ Spec podSpec }
			}
		} `yaml:"jobTemplate"`
	}
}

type podSpec struct {
	Automount          *bool  `yaml:"automountServiceAccountToken"`
	ServiceAccountName string `yaml:"serviceAccountName"`
	SecurityContext    struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
		RunAsGroup   int  `yaml:"runAsGroup"`
	} `yaml:"securityContext"`
	Containers []struct {
		Args, Command []string
		Env           []struct {
			Name, Value string
			ValueFrom   struct {
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		SecurityContext struct {
			ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
			Escalation   *bool `yaml:"allowPrivilegeEscalation"`
			Capabilities struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
}

// TestPromoteManifest: `promote` in a cluster runs as the image's user with a token from a Secret, writes to no place but the image's /tmp,
// may do nothing in the cluster, and never runs twice at once; its call is one that the program knows, and ends before its Job does.
func TestPromoteManifest(t *testing.T) {
	manifest, docker := read(t, "deploy/kubernetes/promote.yaml"), read(t, "Dockerfile")
	var job cronJob
	dec := yaml.NewDecoder(strings.NewReader(manifest))
	if err := dec.Decode(&job); err != nil || job.Kind != "CronJob" || dec.Decode(new(any)) == nil {
		t.Fatalf("%v, or it is not one CronJob alone: %+v", err, job)
	}
	within := job.Spec.JobTemplate.Spec
	pod := within.Template.Spec
	if job.Spec.ConcurrencyPolicy != "Forbid" || time.Duration(within.ActiveDeadlineSeconds)*time.Second <= promoteFor {
		t.Errorf("%+v", job.Spec)
	}
	user := pod.SecurityContext
	if !user.RunAsNonRoot || !strings.Contains(docker, fmt.Sprintf("USER %d:%d\n", user.RunAsUser, user.RunAsGroup)) || pod.ServiceAccountName != "" || pod.Automount == nil || *pod.Automount {
		t.Errorf("%+v", pod)
	}
	c := pod.Containers[0]
	if bound := c.SecurityContext; !bound.ReadOnly || bound.Escalation == nil || *bound.Escalation || !slices.Equal(bound.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("%+v", bound)
	}
	if len(pod.Containers) != 1 || len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != "/tmp" || !strings.Contains(docker, " /tmp\n") {
		t.Errorf("%+v", c.VolumeMounts)
	}
	if len(c.Env) != 1 || c.Env[0].Name != gitToken || c.Env[0].Value != "" || c.Env[0].ValueFrom.SecretKeyRef.Name == "" {
		t.Errorf("%+v", c.Env)
	}
	cmd, flags, err := newRoot(&env{}).Find(c.Args)
	if err != nil || cmd.Name() != "promote" || len(c.Command) != 0 || cmd.ParseFlags(flags) != nil || cmd.Flags().NArg() != 0 {
		t.Errorf("sluice %q: %v", c.Args, err)
	}
}

// TestPipelines: the pipelines that people copy are YAML without a key twice, run when they should and never twice at once, and the calls in
// them are ones that the program knows, with their flags.
func TestPipelines(t *testing.T) {
	var github struct {
		Name        string
		On          map[string]any
		Permissions map[string]string
		Concurrency struct {
			Group  string
			Cancel bool `yaml:"cancel-in-progress"`
		}
		Jobs map[string]struct {
			Environment string
			RunsOn      string `yaml:"runs-on"`
			Timeout     int    `yaml:"timeout-minutes"`
			Steps       []struct {
				Name, Run string
				Env       map[string]string
			}
		}
	}
	strictly(t, "deploy/ci/github.yaml", &github)
	job := github.Jobs["promote"]
	if len(github.Jobs) != 1 || len(job.Steps) != 1 || github.On["schedule"] == nil || github.Permissions == nil || len(github.Permissions) != 0 ||
		github.Concurrency.Group == "" || github.Concurrency.Cancel || job.RunsOn == "" || job.Environment == "" ||
		time.Duration(job.Timeout)*time.Minute <= promoteFor {
		t.Fatalf("%+v", github)
	}
	step := job.Steps[0]
	if step.Env[gitToken] != "${{ secrets.PROMOTE_TOKEN }}" || !strings.Contains(step.Run, "--env "+gitToken+" ") {
		t.Errorf("the token: %q", step)
	}
	var gitlab map[string]struct {
		Image         string
		Rules         []struct{ If string }
		ResourceGroup string `yaml:"resource_group"`
		Interruptible bool
		Timeout       string
		Variables     map[string]string
		Script        []string
	}
	strictly(t, "deploy/ci/gitlab.yaml", &gitlab)
	lab := gitlab["promote"]
	if most, err := time.ParseDuration(lab.Timeout); err != nil || most <= promoteFor || len(gitlab) != 1 || len(lab.Rules) != 1 || lab.ResourceGroup == "" || lab.Interruptible {
		t.Fatalf("%v %+v", err, gitlab)
	}
	call := regexp.MustCompile(`(?:^|[ /])sluice(?::VERSION)? (.*)`)
	for _, line := range append(slices.Clone(lab.Script), step.Run) {
		m := call.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q calls no sluice", line)
		}
		cmd, flags, err := newRoot(&env{}).Find(strings.Fields(m[1]))
		if err != nil || cmd.Name() != "promote" || cmd.ParseFlags(flags) != nil || cmd.Flags().NArg() != 0 {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// strictly decodes a file of one document into a value that has all its keys.
func strictly(t *testing.T, path string, into any) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(read(t, path)))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if dec.Decode(new(any)) == nil {
		t.Fatalf("%s: more than one document", path)
	}
}
