package main

import (
	"fmt"
	"strings"
)

// The repository of the walk-through: nginx with a live and a windowed side, on one cluster.

func demoFiles(minute string) map[string]string {
	cron := "*/2 * * * *"
	if strings.Contains(minute, "odd") {
		cron = "1-59/2 * * * *"
	}
	return map[string]string{
		".github/sluice.yaml":                                    fmt.Sprintf(demoRules, cron),
		"README.md":                                              "# The fleet\n",
		"apps/nginx/nginx-rt/deployment.yaml":                    demoDeployment(2),
		"apps/nginx/nginx-rt/kustomization.yaml":                 demoKustomization("deployment.yaml"),
		"apps/nginx/nginx-rw/service.yaml":                       demoService(80),
		"apps/nginx/nginx-rw/kustomization.yaml":                 demoKustomization("service.yaml"),
		"clusters/cluster-1/apps/apps-rt/kustomization.yaml":     demoKustomization("../../../../apps/nginx/nginx-rt"),
		"clusters/cluster-1/apps/apps-rw/kustomization.yaml":     demoKustomization("../../../../apps/nginx/nginx-rw"),
		"clusters/cluster-1/flux-system/gotk-sync.yaml":          "# what bootstraps Flux; sluice keeps its hands off it\n",
		"clusters/cluster-1/infra/namespaces/nginx.yaml":         "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: nginx\n",
		"clusters/cluster-1/infra/namespaces/kustomization.yaml": demoKustomization("nginx.yaml"),
	}
}

const demoRules = `version: 1
timezone: UTC

windows:
  demo:
    description: One minute in two
    open: "%s"
    duration: 1m
    cutoff: 10s

layout:
  preset: rt-rw
  window: demo
  rules:
    - paths: ["clusters/*/infra/**"]
      release: live

pull_requests:
  method: squash
  settle: 3s # there is no CI here: wait three seconds for checks, not two minutes
`

func demoKustomization(resources ...string) string {
	return "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - " + strings.Join(resources, "\n  - ") + "\n"
}

func demoDeployment(replicas int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
  namespace: nginx
spec:
  replicas: %d
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}}
    spec:
      containers:
        - {name: nginx, image: "nginx:1.29"}
`, replicas)
}

func demoService(port int) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: nginx
  namespace: nginx
spec:
  selector: {app: nginx}
  ports:
    - {port: %d, targetPort: 80}
`, port)
}
