package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

// TestDocumentsPaid: a file of nothing but the beginnings of documents is charged for each of them, so that a signal ends it.
func TestDocumentsPaid(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	readBy(t, m, files(map[string]string{"k/cm.yaml": strings.Repeat("\n---\n", 100_000)}))
	if took := m.Readings()[meter.Steps].Used; took < 100_000 {
		t.Errorf("%d steps are charged for 100,000 documents", took)
	}
}

// TestPaid: what a few long texts make, again for each object that leads to them or for each cluster that is named, is charged, and once where it is made once.
func TestPaid(t *testing.T) {
	const long = 100_000
	each := func(n int, text string) map[string]string {
		out := map[string]string{"k/cm.yaml": "kind: ConfigMap\n"}
		for i := range n {
			out[fmt.Sprintf("k/%d.yaml", i)] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
		}
		return out
	}
	instances := each(10, "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec: {sync: {url: https://example.org/a, path: k}, kustomize: {patches: "+
		"[{patch: \"kind: Kustomization\\nmetadata: {name: flux-system}\\nspec: {x: "+strings.Repeat("x", long)+"}\"}]}}\n")
	remote := each(20, fmt.Sprintf(entry, "ks-#", "b"))
	remote["b/kustomization.yaml"] = "resources: [\"https://example.org/" + strings.Repeat("x", long) + "\"]\n"
	artifact := "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: %s, namespace: flux-system}\nspec:\n  sources: [{alias: s, kind: %s, name: %s}]\n" +
		"  artifacts: [{name: %[1]s, copy: [%[4]s]}]\n"
	copied := map[string]string{
		"k/a.yaml": fmt.Sprintf(artifact, "a", "GitRepository", "flux-system", strings.Repeat("{from: '@s/**', to: '@artifact/x/'}, ", 50)),
		"k/b.yaml": fmt.Sprintf(artifact, "b", "ExternalArtifact", "a", "{from: '@s/**', to: '@artifact/"+strings.Repeat("x", long)+"/'}"),
		"k/c.yaml": strings.Replace(fmt.Sprintf(entry, "ks", "p"), "spec: {", "spec: {sourceRef: {kind: ExternalArtifact, name: b}, ", 1),
		"k/s.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://example.org/a}\n",
	}
	modules := map[string]string{"k/kustomization.yaml": "resources: [gone]\n", ".gitmodules": strings.Repeat("[x]\n", 5000)}
	var maps []string
	for i := range 10 {
		maps = append(maps, fmt.Sprintf("{kind: ConfigMap, name: c%d}", i))
	}
	variables := each(20, strings.Replace(fmt.Sprintf(entry, "ks-#", "p"), "spec: {", "spec: {postBuild: {substituteFrom: ["+strings.Join(maps, ", ")+"]}, ", 1))
	variables["p/cm.yaml"] = "kind: ConfigMap\n"
	for i := range 10 {
		keys := make([]string, 100)
		for j := range keys {
			keys[j] = fmt.Sprintf("k%d_%d: b", i, j)
		}
		variables[fmt.Sprintf("k/c%d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: flux-system}\ndata: {%s}\n", i, strings.Join(keys, ", "))
	}
	unread := map[string]string{"k/cm.yaml": "kind: ConfigMap\n", "k/kustomization.yaml": "resources: [cm.yaml]\npatches:\n" +
		strings.Repeat("- {target: {kind: '(((ConfigMap){1,9}){1,9}){1,9}'}, patch: '[no JSON]'}\n", 20)}
	optional := map[string]string{"k/cm.yaml": unread["k/cm.yaml"], "k/kustomization.yaml": strings.ReplaceAll(unread["k/kustomization.yaml"], "(((ConfigMap){1,9}){1,9}){1,9}", `\pL{1,50}`)}
	jobs := each(10, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j#}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{args: ["+
		strings.Repeat("x", long)+"]}]}}}}}\n")
	release := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h#, namespace: flux-system}\nspec: {valuesFrom: ["
	charts := each(10, release+strings.Repeat("{kind: ConfigMap, name: v}, ", 1000)+"]}\n")
	accounts := each(10, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s#}\nsecrets: ["+strings.Repeat("{name: v}, ", 1000)+"]\n")
	filled := each(10, release+strings.Repeat("{kind: ConfigMap, name: '${x}'}, ", 1000)+"]}\n")
	filled["k/e.yaml"] = strings.Replace(fmt.Sprintf(entry, "e", "f"), "spec: {", "spec: {postBuild: {substitute: {x: "+strings.Repeat("x", 250)+"}}, ", 1)
	for i := range 10 {
		filled[fmt.Sprintf("f/%d.yaml", i)] = filled[fmt.Sprintf("k/%d.yaml", i)]
		delete(filled, fmt.Sprintf("k/%d.yaml", i))
	}
	merged := each(10, strings.Replace(fmt.Sprintf(entry, "ks-#", "p"), "spec: {", "spec: {patchesStrategicMerge: [{a: "+strings.Repeat("<", long)+"}], ", 1))
	left := map[string]string{
		"k/s.yaml": copied["k/s.yaml"], "k/e.yaml": strings.Replace(fmt.Sprintf(entry, "e", "f"), "spec: {", "spec: {sourceRef: {kind: GitRepository, name: flux-system}, ", 1),
		"f/.sourceignore": strings.Repeat("*"+strings.Repeat("[^b]", 100)+"\n", 200),
	}
	for i := range 10 {
		left[fmt.Sprintf("f/%d/kustomization.yaml", i)] = "resources: []\n"
	}
	tests := each(10, release+strings.Repeat("{kind: ConfigMap, name: v}, ", 1000)+"]}\n")
	tests["k/kustomization.yaml"] = "resources: [0.yaml, 1.yaml]\npatches: [{target: {kind: HelmRelease}, path: p}]\n"
	tests["k/p"] = strings.Repeat("- {op: test, path: /spec, value: a}\n", 100)
	many := map[string]string{"k/kustomization.yaml": "resources: []\ntransformers: [" + strings.Repeat("../x, ", 200) + "]\n"}
	for i := range 1000 {
		many[fmt.Sprintf("x/%d", i)] = ""
	}
	for name, c := range map[string]struct {
		texts map[string]string
		kind  meter.Kind
		least int64
	}{
		"patches of instances":     {instances, meter.Steps, 10 * long >> 8},
		"bases that are elsewhere": {remote, meter.Steps, 20 * long >> 8},
		"copies to long paths":     {copied, meter.Bytes, 50 * long},
		"commands":                 {jobs, meter.Bytes, 10 * long},
		"submodules":               {modules, meter.Steps, 5000},
		"targets of bad patches":   {unread, meter.Nodes, 20 * 1000},
		"targets of letters":       {optional, meter.Nodes, 20 * (780 << 10) / meter.NodeBytes},
		"variables":                {variables, meter.Nodes, 20 * 1000},
		"values of charts":         {charts, meter.Nodes, 10 * 2 * 1000},
		"lists of accounts":        {accounts, meter.Nodes, 10 * 1000},
		"variables in lists":       {filled, meter.Bytes, 10 * 1000 * 250},
		"patches that are no text": {merged, meter.Bytes, 10 * 6 * long},
		"patterns of what is left": {left, meter.Steps, 10 * 200 * 401 * 20 >> 10},
		"directories of plugins":   {many, meter.Steps, 200 * 1000 >> 4},
		"tests in patches":         {tests, meter.Steps, 2 * 100 * 2000 >> 4},
	} {
		if !race.Some(3) {
			continue
		}
		m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
		g := readBy(t, m, files(c.texts))
		var roots []graph.Root
		for i := range 50 {
			roots = append(roots, graph.Root{Name: fmt.Sprint(i), Path: map[bool]string{true: "k", false: "none"}[i == 0]})
		}
		before := m.Readings()[c.kind].Used
		g.Clusters(roots)
		if took := m.Readings()[c.kind].Used - before; took < c.least || took > 8*c.least {
			t.Errorf("%s: %d are charged, want %d at least, and not for each of 50 clusters", name, took, c.least)
		}
	}
}
