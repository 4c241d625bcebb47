package flux

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	deploy "github.com/sluicegate/sluice/deploy/flux"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/test/githubapi"
)

// guide is docs/windowed-branches.md.
func guide(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/windowed-branches.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ruleset is as much of a ruleset as the guide writes.
type ruleset struct {
	Name, Target, Enforcement string
	Conditions                struct {
		RefName struct{ Include, Exclude []string } `json:"ref_name"`
	}
	BypassActors []struct {
		ActorType  string `json:"actor_type"`
		ActorID    int    `json:"actor_id"`
		BypassMode string `json:"bypass_mode"`
	} `json:"bypass_actors"`
	Rules []struct {
		Type       string
		Parameters *struct {
			Strict   bool `json:"strict_required_status_checks_policy"`
			NotAtAll bool `json:"do_not_enforce_on_create"`
			Checks   []struct {
				Context     string
				Integration int `json:"integration_id"`
			} `json:"required_status_checks"`
		}
	}
}

// created answers like GitHub does when a ruleset is made.
type created struct{}

// RoundTrip implements http.RoundTripper.
func (created) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"id": 1, "name": "x", "source": "acme/fleet", "enforcement": "active"}`)),
	}, nil
}

// TestRulesetsOfTheGuide: what people paste is what GitHub's own description takes, and does what the guide says.
func TestRulesetsOfTheGuide(t *testing.T) {
	const context = "sluice/promote/rw/cluster-1"
	checker := githubapi.New(t)
	client := http.Client{Transport: checker.Transport(created{})}
	bodies := regexp.MustCompile(`(?s)--method POST repos/acme/fleet/rulesets --input - <<'JSON'\n(.*?)\nJSON\n`).FindAllStringSubmatch(guide(t), -1)
	var rules []string
	for _, b := range bodies {
		answer, err := client.Post("https://api.github.com/repos/acme/fleet/rulesets", "application/json", strings.NewReader(b[1]))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		var r ruleset
		dec := json.NewDecoder(strings.NewReader(b[1]))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("%v in %s", err, b[1])
		}
		if r.Target != "branch" || r.Enforcement != "active" || len(r.Conditions.RefName.Include) != 1 {
			t.Errorf("%s: %+v", r.Name, r)
		}
		for _, rule := range r.Rules {
			free := "nobody"
			if len(r.BypassActors) == 1 && r.BypassActors[0].ActorType == "Integration" && r.BypassActors[0].BypassMode == "always" {
				free = "the App"
			}
			rules = append(rules, strings.Join([]string{r.Conditions.RefName.Include[0], rule.Type, "but", free}, " "))
			if p := rule.Parameters; p != nil && (len(p.Checks) != 1 || p.Checks[0].Context != context || p.Checks[0].Integration == 0 || p.Strict) {
				t.Errorf("%s: %+v", r.Name, p)
			}
		}
	}
	want := []string{
		"refs/heads/rw/* creation but the App", "refs/heads/rw/* update but the App",
		"refs/heads/rw/* deletion but nobody", "refs/heads/rw/* non_fast_forward but nobody",
		"refs/heads/rw/cluster-1 deletion but nobody", "refs/heads/rw/cluster-1 non_fast_forward but nobody",
		"refs/heads/rw/cluster-1 required_status_checks but nobody",
	}
	if !slices.Equal(rules, want) {
		t.Errorf("the guide's rules are %q", rules)
	}
	if rest, _ := checker.Checked(); rest != 3 {
		t.Errorf("%d rulesets were checked, want 3", rest)
	}
}

// TestGuideQuotesReasons: every reason that the guide explains is one that sluice gives. What it says is golden-tested where it
// decides, so those files are what is searched; an ellipsis stands for anything.
func TestGuideQuotesReasons(t *testing.T) {
	golden := scenarios(t)
	quotes := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|$").FindAllStringSubmatch(section(t, "## 9."), -1)
	for _, line := range []string{section(t, "## 8."), section(t, "## 10.")} {
		quotes = append(quotes, regexp.MustCompile("`((?:open;|1 branch waits;|would |Flux prunes)[^`]+)`").FindAllStringSubmatch(line, -1)...)
	}
	if len(quotes) < 14 {
		t.Fatalf("%d quotes: %q", len(quotes), quotes)
	}
	for _, q := range quotes {
		var parts []string
		for part := range strings.SplitSeq(strings.Join(strings.Fields(q[1]), " "), "…") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		if !regexp.MustCompile("(?m)" + strings.Join(parts, ".*")).MatchString(golden) {
			t.Errorf("the guide explains %q, which no scenario says", q[1])
		}
	}
}

// TestGuideQuotesTheSample: the file that the guide shows is the sample's, and the rule that it adds for a second cluster does
// what it says.
func TestGuideQuotesTheSample(t *testing.T) {
	src, err := fs.ReadFile(deploy.Sample(), config.File)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section(t, "## 2."), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of YAML in step 2", len(blocks))
	}
	comment := regexp.MustCompile(` *#.*`)
	theirs := comment.ReplaceAllString(string(src), "")
	for line := range strings.Lines(comment.ReplaceAllString(blocks[0][1], "")) {
		if !strings.Contains(theirs, line) {
			t.Errorf("the sample has no line %q", line)
		}
	}
	more := strings.Replace(string(src), "  rules:\n", blocks[1][1], 1) + "  - {name: rw/cluster-2, from: main, window: no-deploy-friday}\n"
	p, findings := config.Parse([]byte(more))
	if p == nil || len(findings) != 0 {
		t.Fatal(findings)
	}
	for path, want := range map[string]layout.Release{
		"clusters/cluster-2/apps/nginx-rw/service.yaml": layout.BranchRelease("rw/cluster-2"),
		"clusters/cluster-1/apps/nginx-rw/service.yaml": layout.BranchRelease("rw/*"),
		"clusters/cluster-2/apps/nginx-rt/pages.yaml":   layout.Live,
		"clusters/cluster-2/infra/namespace.yaml":       layout.Live,
	} {
		if got := p.Layout.Classify(path).Releases; !slices.Equal(got, []layout.Release{want}) {
			t.Errorf("%s needs %q, not %q", path, got, want)
		}
	}
}

// TestGuideByHTTPS: the source by https is the sample's but for its address, and fits Flux's schema.
func TestGuideByHTTPS(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section(t, "## 6."), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of YAML in step 6", len(blocks))
	}
	objects, err := decode([]byte(blocks[0][1]))
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	if err := load(t).validate(objects[0]); err != nil {
		t.Error(err)
	}
	sample := cluster(t)["GitRepository/fleet-rw"]
	if got := objects[0].text("spec", "url"); strings.Replace(got, "https://", "ssh://git@", 1) != sample.text("spec", "url") {
		t.Errorf("its address is %s", got)
	}
	for _, o := range []object{objects[0], sample} {
		o["spec"].(map[string]any)["url"] = ""
	}
	if diff := cmp.Diff(sample, objects[0]); diff != "" {
		t.Errorf("-sample +guide: %s", diff)
	}
}

// TestReceiverIngress: GitHub reaches the Receiver at the host that the guide names, and nothing else of Flux, whether by an Ingress or by a
// Gateway's route.
func TestReceiverIngress(t *testing.T) {
	data, err := os.ReadFile("../../deploy/flux/receiver-ingress.yaml")
	if err != nil {
		t.Fatal(err)
	}
	above, below, _ := strings.Cut(string(data), "#---\n")
	objects, err := decode([]byte(above + "---\n" + strings.ReplaceAll("\n"+below, "\n#", "\n")))
	if err != nil || len(objects) != 2 || objects[0].text("kind") != "Ingress" || objects[1].text("kind") != "HTTPRoute" {
		t.Fatal(objects, err)
	}
	for _, bad := range unknownFields(objects[0]) {
		t.Errorf("the Ingress has a field %s", bad)
	}
	const host = "flux.cluster-1.example.com"
	if !strings.Contains(section(t, "## 6."), "https://"+host+"$HOOK") {
		t.Errorf("the guide names another host than %s", host)
	}
	rule, route := list(objects[0], "spec", "rules")[0], list(objects[1], "spec", "rules")[0]
	path, match := list(rule, "http", "paths")[0], list(route, "matches")[0]
	back, to := object(path.at("backend", "service").(map[string]any)), list(route, "backendRefs")[0]
	for what, pair := range map[string][2]any{
		"host":      {rule.text("host"), objects[1].at("spec", "hostnames").([]any)[0]},
		"path":      {path.text("path"), match.text("path", "value")},
		"Service":   {back.text("name"), to.text("name")},
		"port":      {back.at("port", "number"), to.at("port")},
		"namespace": {objects[0].text("metadata", "namespace"), objects[1].text("metadata", "namespace")},
	} {
		want := map[string]any{"host": host, "path": "/hook/", "Service": "webhook-receiver", "port": 80, "namespace": "flux-system"}[what]
		if pair != [2]any{want, want} {
			t.Errorf("%s: %v, want %v", what, pair, want)
		}
	}
}

// section is the part of the guide below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(guide(t), "\n"+heading)
	if !ok {
		t.Fatalf("no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// scenarios is every golden decision on pull requests and windowed branches.
func scenarios(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"../../gate/testdata/scenarios", "../../promoter/testdata/scenarios"} {
		files, err := fs.Glob(os.DirFS(dir), "*.txtar")
		if err != nil || len(files) < 20 {
			t.Fatal(dir, len(files), err)
		}
		for _, f := range files {
			data, err := os.ReadFile(dir + "/" + f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
	}
	return all.String()
}

// TestGuideNamesFilesThatAreThere: links and paths.
func TestGuideNamesFilesThatAreThere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(guide(t), -1)
	if len(links) < 5 {
		t.Fatal(links)
	}
	for _, l := range links {
		if _, err := os.Stat("../../docs/" + l[1]); err != nil {
			t.Error(err)
		}
	}
}
