package fluxtrees

import (
	"fmt"
	"strings"
)

// The entry points and CronJobs of [Honest].
const (
	honestEntry = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec: {path: %q}\n"
	honestJob   = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s, labels: {a: b}}\nspec: {schedule: '1 1 * * *'}\n"
)

// Honest is the texts of a repository of 10 clusters, in which each app has an entry point: 400 files and 10 entry points for an app, most of whose objects are
// of the kinds that are read.
func Honest(apps int) map[string]string {
	kinds := []string{"apps/v1 Deployment", "v1 Service", "v1 ConfigMap", "helm.toolkit.fluxcd.io/v2 HelmRelease", "networking.k8s.io/v1 Ingress", "v1 ServiceAccount", "v1 Secret", "batch/v1 CronJob"}
	texts := map[string]string{}
	object := func(file, name string, i int) {
		api, kind, _ := strings.Cut(kinds[i%len(kinds)], " ")
		texts[file] = fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, labels: {app: a}}\nspec:\n  values:\n%s", api, kind, name, strings.Repeat("    - {a: b, c: [d, e]}\n", 20))
		switch api {
		case "batch/v1":
			texts[file] = fmt.Sprintf(honestJob, name) + "x: [a, {b: c, d: e}, {f: [g, h, i]}, {j: {k: l, m: n}}]\n"
		case "v1":
			texts[file] = fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: %s}\ndata:\n", kind, name)
			for key := range 10 {
				texts[file] += fmt.Sprintf("  key%d: value\n", key)
			}
		}
	}
	for app := range apps {
		list := "resources:\n"
		for i := range 30 {
			object(fmt.Sprintf("apps/%d/base/%d.yaml", app, i), fmt.Sprint("b", i), i)
			list += fmt.Sprintf("- %d.yaml\n", i)
		}
		texts[fmt.Sprintf("apps/%d/base/kustomization.yaml", app)] = list
		for c := range 10 {
			dir := fmt.Sprintf("apps/%d/c%d", app, c)
			list := "namespace: a\nlabels: [{pairs: {cluster: c}}]\npatches: [{target: {kind: CronJob}, patch: '{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {suspend: true}}'}]\nresources:\n- ../base\n"
			for i := range 35 {
				object(fmt.Sprintf("%s/%d.yaml", dir, i), fmt.Sprint("r", i), i)
				list += fmt.Sprintf("- %d.yaml\n", i)
			}
			texts[dir+"/kustomization.yaml"] = list
			texts[fmt.Sprintf("clusters/c%d/a%d.yaml", c, app)] = fmt.Sprintf(honestEntry, fmt.Sprint("a", app), dir)
		}
	}
	return texts
}
