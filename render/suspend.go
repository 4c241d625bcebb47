package render

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
)

// Kind is what runs `sluice suspend` in a cluster.
type Kind string

// The kinds.
const (
	Deployment Kind = "Deployment" // again and again, and at the instant of a change
	CronJob    Kind = "CronJob"    // one pass each minute
)

// ImagePlaceholder begins the image until somebody names theirs: Kubernetes takes no name in capitals.
const ImagePlaceholder = "REGISTRY/"

// fluxNamespace is where Flux lives unless somebody chose otherwise.
const fluxNamespace = "flux-system"

// maxHeld bounds what one Deployment holds: more, `sluice suspend` does not take.
const maxHeld = 1000

// Suspend writes for each cluster with windowed Kustomizations what holds them by suspend: nothing else in the cluster, and no service, is
// needed. clean is false if Git says something of suspend of one of them, which the comments say, too.
func Suspend(in Input, kind Kind, image string) (out []byte, clean bool, err error) {
	var b bytes.Buffer
	if in, err = in.assume(); err != nil {
		return nil, false, err
	}
	clean = true
	owners := owners(in.Policy, in.Clusters)
	for _, c := range in.Clusters {
		if !in.wanted(c) {
			continue
		}
		held, left := owners.Windowed(c)
		if len(held) > maxHeld {
			return nil, false, errors.New(wordTooMany(c, len(held)))
		}
		v := suspendView{
			Cluster: c, Kind: kind, Image: image, Held: held, File: string(in.File),
			Observe: in.Policy.Mode == config.Observe, Notes: notes(left, in.Graph.Problems), Namespace: fluxNamespace,
		}
		if note := owners.ofRoot(c); note != "" {
			v.Notes = append(v.Notes, note)
		}
		for _, h := range held {
			if h.Suspend.Set() {
				v.Errors = append(v.Errors, Contradiction{c.Name, h}.Sentence())
				clean = false
			}
		}
		v.roles()
		if b.Len() > 0 {
			b.WriteString("---\n")
		}
		if err := suspendTemplate.Execute(&b, v); err != nil {
			return nil, false, err
		}
	}
	return b.Bytes(), clean, nil
}

// suspendView is one cluster for the template.
type suspendView struct {
	graph.Cluster
	Kind          Kind
	Image, File   string
	Namespace     string // of what runs
	Held          []Hold
	Roles         []role
	Observe       bool
	Notes, Errors []string
}

// role is the Kustomizations of one namespace.
type role struct {
	Namespace string
	Names     []string
}

// roles is what may be written, by namespace. Where Flux's usual one has none of them, the first is home to what runs.
func (v *suspendView) roles() {
	for _, h := range v.Held {
		if n := len(v.Roles); n == 0 || v.Roles[n-1].Namespace != h.Namespace {
			v.Roles = append(v.Roles, role{Namespace: h.Namespace})
		}
		last := &v.Roles[len(v.Roles)-1]
		last.Names = append(last.Names, h.Name)
	}
	if len(v.Roles) > 0 && !slices.ContainsFunc(v.Roles, func(r role) bool { return r.Namespace == fluxNamespace }) {
		v.Namespace = v.Roles[0].Namespace
	}
}

// Args is how `sluice suspend` is called.
func (v suspendView) Args() []string {
	out := []string{"suspend", "--file=/etc/sluice/sluice.yaml", "--cluster=" + cmp.Or(v.Name, "cluster")}
	for _, h := range v.Held {
		out = append(out, "--kustomization="+h.ID()+"="+joined(h.Windows))
	}
	if v.Kind == Deployment {
		out = append(out, "--every=30s")
	}
	return out
}

// Placeholder reports whether the image is still to be named.
func (v suspendView) Placeholder() bool { return strings.HasPrefix(v.Image, ImagePlaceholder) }

var suspendTemplate = parsed("suspend", `{{comment (printf "Cluster %s" .Name)}}
{{range .Notes}}{{comment .}}
{{end}}{{range .Errors}}{{comment (printf "ERROR: %s" .)}}
{{end}}{{if not .Held}}# No Flux Kustomization of this cluster is windowed as a whole: nothing is held here.
{{else -}}
# To be applied from a live path of this cluster, never by a Kustomization that is held. Every manifest in Git must be silent on
# spec.suspend of what is held: Flux puts back what Git says. Rendered by "sluice render suspend"; render it anew when the file changes.
{{range .Held}}{{if .Elsewhere}}{{comment (printf "%s: files that it shares with other clusters need %s, too, which are those clusters' own: here its own window counts alone." .ID .Others)}}
{{end}}{{if not .File}}{{comment (printf "Assumed: %s loads ./%s; its manifest is not in Git. Correct its name where it is another." .ID .Path)}}
{{end}}{{end}}{{if .Placeholder}}# No image is named REGISTRY: name yours with --image. Until then nothing runs here, and nothing is held.
{{end}}{{if .Observe}}# The file says "mode: observe": nothing is suspended until it says enforce.
{{end -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
{{- range .Roles}}
---
# get and patch of these Kustomizations alone. patch is patch: whoever has this token may change all of their spec.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
rules:
  - apiGroups: [kustomize.toolkit.fluxcd.io]
    resources: [kustomizations]
    resourceNames:
{{- range .Names}}
      - {{q .}}
{{- end}}
    verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: sluice-suspend
subjects:
  - kind: ServiceAccount
    name: sluice-suspend
    namespace: {{q $.Namespace}}
{{- end}}
---
# The repository's file as it stands, so that it can be compared. It is read anew at each pass: a change needs no restart.
apiVersion: v1
kind: ConfigMap
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
  annotations:
    kustomize.toolkit.fluxcd.io/substitute: disabled # the file is not changed on its way, whatever it says in ${}
data:
  sluice.yaml: {{file .File}}
---
{{if eq .Kind "Deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
spec:
  replicas: 1
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app.kubernetes.io/name: sluice-suspend
  template:
{{.Pod 4}}{{else -}}
# A run that is missed is made good by the next: each sets what holds then.
apiVersion: batch/v1
kind: CronJob
metadata:
  name: sluice-suspend
  namespace: {{q .Namespace}}
spec:
  schedule: "* * * * *" # the windows are in the file, with their zones
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 50
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 0
      activeDeadlineSeconds: 50
      template:
{{.Pod 8}}{{end -}}
{{end -}}
`)

// Pod is what both kinds run, with so many spaces before each line.
func (v suspendView) Pod(indent int) (string, error) {
	var b strings.Builder
	if err := podTemplate.Execute(&b, v); err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.Repeat(" ", indent) + line)
	}
	return out.String(), nil
}

var podTemplate = parsed("pod", `metadata:
  labels:
    app.kubernetes.io/name: sluice-suspend
spec:
{{- if eq .Kind "CronJob"}}
  restartPolicy: Never
{{- end}}
  serviceAccountName: sluice-suspend
  enableServiceLinks: false
{{- if eq .Kind "Deployment"}}
  tolerations: # by default the pod of a node that is gone is replaced after 5 minutes, which may be past a close
    - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
    - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
{{- end}}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: suspend
      image: {{q .Image}}
      args:
{{- range .Args}}
        - {{q .}}
{{- end}}
      resources:
        requests:
          cpu: 10m
          memory: 32Mi
        limits:
          memory: 128Mi
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: file # the whole volume: a subPath would never change
          mountPath: /etc/sluice
          readOnly: true
  volumes:
    - name: file
      configMap:
        name: sluice-suspend
`)
