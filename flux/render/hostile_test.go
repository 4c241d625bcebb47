package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/meter"
)

// watched is a tree that counts how often a file is opened, and calls somebody each time.
type watched struct {
	fs.FS
	opened map[string]int
	then   func()
}

// Open implements fs.FS.
func (w watched) Open(name string) (fs.File, error) {
	w.opened[name]++
	w.then()
	return w.FS.Open(name)
}

// thousands is a cluster whose one file has many Flux Kustomizations.
func thousands(n int) fstest.MapFS {
	var text strings.Builder
	text.WriteString(sourceText)
	for i := range n {
		text.WriteString("---\n" + kustomization("name: apps", fmt.Sprint("name: k", i), "  prune: true\n", fmt.Sprintf("  dependsOn: [{name: k%d}]\n", i/2)))
	}
	tree := simple()
	tree["clusters/c/apps.yaml"] = &fstest.MapFile{Data: []byte(text.String())}
	return tree
}

const windowedBranch = head + "branches: [{name: rw, from: main, window: cluster-1}]\nlayout: {rules: [{paths: [\"apps/**\"], release: {branches: [rw]}}]}\n"

// TestFileOnce: a file is read once, however many Flux Kustomizations stand in it, and each gets its own document.
func TestFileOnce(t *testing.T) {
	const n = 300
	in := input(t, windowedBranch, thousands(n))
	tree := watched{in.Tree, map[string]int{}, func() {}}
	in.Tree = tree
	out, err := Flux(in, "https://github.com/acme/fleet", "")
	if err != nil || tree.opened["clusters/c/apps.yaml"] != 1 {
		t.Errorf("%v, opened %v", err, tree.opened)
	}
	for i := range n {
		if want := fmt.Sprintf("metadata: {name: k%d, namespace: flux-system}\n", i); strings.Count(string(out), want) != 1 {
			t.Errorf("%d times: %s", strings.Count(string(out), want), want)
		}
	}
}

// TestStops: each loop of what is written charges the run that read the tree, whose end ends it wherever it comes. How many steps there are is written
// down, so that a loop that charges none any more is noticed.
func TestStops(t *testing.T) {
	bare := simple()
	delete(bare, "clusters/c/apps.yaml")
	bare["clusters/c/a/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: [../cm.yaml]\n")}
	bare["clusters/c/cm.yaml"] = &fstest.MapFile{Data: []byte("kind: ConfigMap\n")}
	flux := func(in Input) error { _, err := Flux(in, "https://github.com/acme/fleet", ""); return err }
	suspend := func(in Input) error { _, err := Suspend(in, Call{Kind: Deployment, Image: image}); return err }
	for name, c := range map[string]struct {
		tree         fstest.MapFS
		write        func(Input) error
		steps, nodes int64
	}{
		"flux":           {thousands(3), flux, 23, 30},
		"suspend":        {thousands(3), suspend, 10, 7},
		"contradictions": {thousands(3), func(in Input) error { _, err := Contradictions(in); return err }, 10, 7},
		"assumed":        {bare, flux, 20, 19},
	} {
		for _, kind := range []meter.Kind{meter.Steps, meter.Nodes} {
			took := func(more int64) (int64, error) {
				m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
				in := inputBy(t, m, windowedBranch, c.tree)
				before := m.Readings()[kind].Used
				if more >= 0 { // a run that may take so much more
					l := meter.Limits{meter.Time: -1}
					l[kind] = before + more
					in = inputBy(t, meter.New(t.Context(), l), windowedBranch, c.tree)
				}
				err := c.write(in)
				return m.Readings()[kind].Used - before, err
			}
			all, err := took(-1)
			if want := map[meter.Kind]int64{meter.Steps: c.steps, meter.Nodes: c.nodes}[kind]; err != nil || all != want {
				t.Errorf("%s: %d of kind %d, want %d; %v", name, all, kind, want, err)
			}
			for n := range all {
				var bound *meter.Error
				if _, err := took(n); !errors.As(err, &bound) {
					t.Errorf("%s: after %d of kind %d of %d: %v", name, n, kind, all, err)
				}
			}
		}
	}
	ending, end := context.WithCancel(t.Context())
	in := inputBy(t, meter.New(ending, meter.Limits{meter.Time: -1}), windowedBranch, thousands(3))
	in.Tree = watched{in.Tree, map[string]int{}, end}
	if err := flux(in); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is written: %v", err)
	}
}

// TestTenants: what holds the Kustomizations of tenants runs where none of them may write, with a token for each that reaches no other one, and it is
// said who could touch what.
func TestTenants(t *testing.T) {
	tree, long := simple(), "team-"+strings.Repeat("z", 58)
	var text strings.Builder
	for _, namespace := range []string{"team-a", "team-b", long} {
		text.WriteString(kustomization("namespace: flux-system", "namespace: "+namespace, "name: fleet", "name: fleet, namespace: flux-system") + "---\n")
	}
	tree["clusters/c/apps.yaml"].Data = []byte(text.String() + sourceText)
	in := input(t, windowed, tree)
	for home, call := range map[string]Call{"flux-system": {Kind: Deployment, Image: image}, "ops": {Kind: CronJob, Image: image, Namespace: "ops"}, "team-b": {Kind: Deployment, Image: image, Namespace: "team-b"}} {
		out, err := Suspend(in, call)
		if err != nil || len(out.Reach) == 0 || !strings.Contains(out.Reach[0], "cluster c: whoever may write to the namespace "+home+", where this runs, may change the windows, and patch everything that is held: team-a/apps, team-b/apps, team-") {
			t.Errorf("%s: %v %q", home, err, out.Reach)
		}
		var accounts, roles []string // NAME may patch in NAMESPACE
		for _, o := range decoded(t, out.Manifests) {
			meta := o["metadata"].(map[string]any)
			name, namespace := meta["name"].(string), meta["namespace"].(string)
			switch kind := o["kind"]; {
			case kind == "RoleBinding":
				subject := o["subjects"].([]any)[0].(map[string]any)
				if accounts = append(accounts, fmt.Sprint(subject["name"], " ", namespace)); subject["namespace"] != home {
					t.Errorf("%s: %v", home, subject)
				}
			case kind == "Role": // elsewhere its binding points at nothing
				roles = append(roles, namespace)
			case namespace != home, len(name) > 52:
				t.Errorf("%s: %s %s stands in %s", home, kind, name, namespace)
			case kind == "Deployment" || kind == "CronJob":
				if n := strings.Count(fmt.Sprint(o), "--kustomization="); n != 1 || strings.Count(fmt.Sprint(o), "serviceAccountName:"+name) != 1 {
					t.Errorf("%s: %v", home, o)
				}
			}
		}
		want := []string{"sluice-suspend-team-a team-a", "sluice-suspend-team-b team-b", account(long, home) + " " + long}
		if home == "team-b" {
			want[1] = "sluice-suspend team-b"
		}
		if !slices.Equal(roles, []string{"team-a", "team-b", long}) {
			t.Errorf("%s: Roles stand in %q", home, roles)
		}
		if !slices.Equal(accounts, want) {
			t.Errorf("%s: %q, want %q", home, accounts, want)
		}
		for _, sentence := range out.Reach {
			if !strings.Contains(string(out.Manifests), "\n# "+strings.TrimPrefix(sentence, "cluster c: ")+"\n") {
				t.Errorf("%s: not in a comment: %s", home, sentence)
			}
		}
	}
	if cut := strings.TrimPrefix(account(long, "x"), "sluice-suspend-"); account(cut, "x") == account(long, "x") {
		t.Errorf("the namespace %s has the account of another one", cut)
	}
	if account(long, "x") == account(long[:62]+"y", "x") {
		t.Error("two namespaces, one account")
	}
	if out, err := Suspend(input(t, windowed, simple()), Call{Kind: Deployment, Image: image}); err != nil || len(out.Reach) > 0 {
		t.Errorf("where nobody else has a part in it: %v %q", err, out.Reach)
	}
	if _, err := Suspend(in, Call{Kind: Deployment, Image: image, Namespace: "a: b"}); err == nil {
		t.Error("a namespace that is none")
	}
}

// TestManyNamespaces: a tenant with objects in any number of namespaces lets no number of processes run.
func TestManyNamespaces(t *testing.T) {
	tree := simple()
	var text strings.Builder
	for i := range maxRuns + 1 {
		text.WriteString(kustomization("namespace: flux-system", fmt.Sprintf("namespace: t%d", i), "name: fleet", "name: fleet, namespace: flux-system") + "---\n")
	}
	tree["clusters/c/apps.yaml"].Data = []byte(text.String() + sourceText)
	_, err := Suspend(input(t, windowed, tree), Call{Kind: Deployment, Image: image})
	if err == nil || !strings.Contains(err.Error(), "in 51 namespaces; at most 50") {
		t.Error(err)
	}
}

// TestLineBreaks: what breaks a line for YAML and for nobody else puts no document in another one's place.
func TestLineBreaks(t *testing.T) {
	for _, broken := range []string{"\r", "\u2028", "\u0085", "\r\n"} {
		for _, n := range []int{5, 60} {
			files := thousands(3)
			text := string(files["clusters/c/apps.yaml"].Data)
			files["clusters/c/apps.yaml"].Data = []byte("#" + strings.Repeat(broken, n) + "\n" + text)
			out, err := Flux(input(t, windowedBranch, files), "https://github.com/acme/fleet", "")
			if err != nil {
				t.Errorf("%q: %v", broken, err)
			}
			for i := range 3 {
				if want := fmt.Sprintf("metadata: {name: k%d, namespace: flux-system}\n", i); strings.Count(string(out), want) != 1 {
					t.Errorf("%q: %d times: %s", broken, strings.Count(string(out), want), want)
				}
			}
		}
	}
}
