package fluxtrees

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// large is the files of [Large] while they are written.
type large struct{ fstest.MapFS }

// Large is a repository of the size and the shape of a company's: 16 clusters with 74 entry points, in which 250 directories of apps, half of them for each of
// two environments, read one base beside that of their team. What the apps of a cluster make follows a windowed branch.
func Large(t testing.TB) fstest.MapFS {
	t.Helper()
	const teams, environments, clusters = 125, 2, 16
	l := large{fstest.MapFS{}}
	l.common()
	for i := range teams {
		l.team(i)
	}
	for e := range environments {
		list := ""
		for i := range teams {
			list += fmt.Sprintf("  - ../team-%03d/env-%d\n", i, e)
			l.overlay(i, e)
		}
		l.kustomization(fmt.Sprintf("apps/env-%d", e), list)
	}
	branches := ""
	for c := range clusters {
		l.cluster(c, c%environments, c < 10)
		branches += fmt.Sprintf("  - {name: rw/c%02d, from: main, window: weekdays}\n", c)
	}
	l.put(".github/sluice.yaml", "version: 1\ntimezone: Europe/Berlin\nwindows:\n  weekdays: {open: \"0 8 * * MON\", close: \"0 17 * * THU\"}\n"+
		"layout: {flux: true, unmatched: live}\nbranches:\n"+branches)
	if len(l.MapFS) != 1763 { // figures name it
		t.Fatalf("%d files", len(l.MapFS))
	}
	return l.MapFS
}

func (l large) put(name, text string) {
	l.MapFS[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

func (l large) kustomization(dir, resources string, more ...string) {
	l.put(dir+"/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"+resources+strings.Join(more, ""))
}

// common is the base that all apps read, and what all clusters have.
func (l large) common() {
	l.kustomization("apps/common", "  - account.yaml\n  - role.yaml\n  - network.yaml\n")
	l.put("apps/common/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default-app}\n")
	l.put("apps/common/role.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: app}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects:\n  - {kind: ServiceAccount, name: default-app, namespace: default}\n")
	l.put("apps/common/network.yaml", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: default-deny}\nspec: {podSelector: {}, policyTypes: [Ingress]}\n")
	l.kustomization("infra/base", "  - ns.yaml\n")
	l.put("infra/base/ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: infra}\n")
	l.put("monitoring/rules.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rules, namespace: infra}\ndata: {a: b}\n")
}

// release is a HelmRelease.
func release(name string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: " + name + "\n  annotations: {flux.weave.works/automated: \"true\"}\nspec:\n" +
		"  releaseName: " + name + "\n  interval: 5m\n  timeout: 10m\n  install: {remediation: {retries: 10}}\n  upgrade: {remediation: {retries: 10}}\n" +
		"  chart: {spec: {chart: web, version: 1.2.3, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}\n" +
		"  values:\n    web:\n      replicas: 2\n      image: registry.example.com/" + name + ":1.0.0\n      ingressHost: " + name + ".example.com\n" +
		"      environment:\n        LOG_LEVEL: info\n        A: \"1\"\n        B: \"2\"\n        DB_HOST: db.example.com\n      memoryRequests: 256Mi\n      cpuRequests: 100m\n"
}

// team is the base of a team: five releases and their namespace.
func (l large) team(i int) {
	dir, list := fmt.Sprintf("apps/team-%03d/base", i), "  - ns.yaml\n"
	l.put(dir+"/ns.yaml", fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-%03d}\n", i))
	for j := range 5 {
		list += fmt.Sprintf("  - app-%d.yaml\n", j)
		l.put(fmt.Sprintf("%s/app-%d.yaml", dir, j), release(fmt.Sprintf("team-%03d-app-%d", i, j)))
	}
	l.kustomization(dir, list)
}

// overlay is a team's apps in an environment.
func (l large) overlay(i, e int) {
	dir := fmt.Sprintf("apps/team-%03d/env-%d", i, e)
	l.put(dir+"/app-0.yaml", fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"+
		"metadata: {name: team-%03d-app-0}\nspec: {values: {web: {replicas: %d, environment: {ENV: env-%d}}}}\n", i, e+1, e))
	l.put(dir+"/settings.yaml", fmt.Sprintf("env: env-%d\nteam: team-%03d\n", e, i))
	l.kustomization(dir, "  - ../base\n  - ../../common\n", fmt.Sprintf("namespace: team-%03d\n", i), "patches:\n  - path: app-0.yaml\n",
		"configMapGenerator:\n  - name: settings\n    files: [settings.yaml]\n")
}

// cluster is what one cluster is pointed at, in an environment.
func (l large) cluster(c, e int, monitored bool) {
	dir, list := fmt.Sprintf("clusters/c%02d", c), "  - gotk-sync.yaml\n  - sources.yaml\n  - kustomizations.yaml\n"
	source := func(name, branch string) string {
		return fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {interval: 1m, url: \"https://github.com/example/fleet\", ref: {branch: %s}}\n", name, branch)
	}
	flux := func(name, path, source string) string {
		return fmt.Sprintf("---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {interval: 10m, prune: true, path: ./%s, sourceRef: {kind: GitRepository, name: %s}}\n", name, path, source)
	}
	l.put(dir+"/gotk-sync.yaml", source("flux-system", "main")+flux("flux-system", dir, "flux-system"))
	l.put(dir+"/sources.yaml", source("rw", fmt.Sprintf("rw/c%02d", c)))
	own := fmt.Sprintf("apps/clusters/c%02d", c)
	l.kustomization(own, fmt.Sprintf("  - ../../env-%d\n", e), "labels:\n  - {pairs: {cluster: "+fmt.Sprintf("c%02d", c)+"}}\n")
	l.kustomization(fmt.Sprintf("infra/c%02d", c), "  - ../base\n")
	l.kustomization(fmt.Sprintf("config/c%02d", c), "  - settings.yaml\n")
	l.put(fmt.Sprintf("config/c%02d/settings.yaml", c), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster, namespace: infra}\ndata: {name: c%02d}\n", c))
	text := flux("infra", fmt.Sprintf("infra/c%02d", c), "flux-system") + flux("config", fmt.Sprintf("config/c%02d", c), "flux-system") + flux("apps", own, "rw")
	if monitored {
		text += flux("monitoring", "monitoring", "flux-system")
	}
	l.put(dir+"/kustomizations.yaml", strings.TrimPrefix(text, "---\n"))
	l.kustomization(dir, list)
}
