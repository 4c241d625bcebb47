package render

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
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

// maxRuns bounds the namespaces for which something runs: a tenant may have objects in any number of them.
const maxRuns = 50

// Call is what somebody asks [Suspend].
type Call struct {
	Kind      Kind
	Image     string
	Namespace string // where what runs is; "": Flux's own
}

// Suspension is what Suspend writes.
type Suspension struct {
	Manifests []byte
	Clean     bool     // Git says nothing of suspend of what is held; what it says the comments say, too
	Reach     []string // who could touch what beside the cluster's administrators, in sentences
}

// Suspend writes for each cluster with windowed Kustomizations what holds them by suspend: nothing else in the cluster, and no service, is
// needed. All of it runs in one namespace, which is never chosen by the tree, and for each namespace that has some of them with a token of its own that may
// patch these alone.
func Suspend(in Input, call Call) (Suspension, error) {
	out := Suspension{Clean: true}
	if call.Namespace = cmp.Or(call.Namespace, fluxNamespace); !namespaceShape.MatchString(call.Namespace) {
		return out, errors.New(wordNamespace(call.Namespace))
	}
	in, err := in.assume()
	if err != nil {
		return out, err
	}
	owners, err := newOwners(in)
	if err != nil {
		return out, err
	}
	var b bytes.Buffer
	for _, c := range in.Clusters {
		if !in.wanted(c) {
			continue
		}
		held, left, err := owners.windowed(c)
		if err != nil {
			return out, err
		}
		if len(held) > maxHeld {
			return out, errors.New(wordTooMany(c, len(held)))
		}
		v := suspendView{
			Cluster: c, Call: call, Held: held, File: string(in.File), Runs: runs(c, held, call),
			Observe: in.Policy.Mode == config.Observe, Notes: notes(left, in.Graph.Problems),
		}
		if len(v.Runs) > maxRuns {
			return out, errors.New(wordManyRuns(c, len(v.Runs)))
		}
		if note := owners.ofRoot(c); note != "" {
			v.Notes = append(v.Notes, note)
		}
		for _, h := range held {
			if h.Suspend.Set() {
				v.Errors = append(v.Errors, h.Contradiction())
				out.Clean = false
			}
		}
		v.Reach = reach(v.Runs, call.Namespace)
		for _, sentence := range v.Reach {
			out.Reach = append(out.Reach, wordOfCluster(c, sentence))
		}
		if b.Len() > 0 {
			b.WriteString("---\n")
		}
		if err := suspendTemplate.Execute(&b, v); err != nil {
			return out, err
		}
	}
	out.Manifests = b.Bytes()
	return out, nil
}

// suspendView is one cluster for the template.
type suspendView struct {
	graph.Cluster
	Call
	File          string
	Held          []Hold
	Runs          []run
	Observe       bool
	Notes, Errors []string
	Reach         []string
}

// run is what runs for one namespace: it may write the Kustomizations there that are held, and nothing else.
type run struct {
	Call
	Cluster string
	Of      string // the namespace
	Name    string // of the account and of what runs by it
	Held    []Hold
}

// runs is a run for each namespace of what is held, which is sorted.
func runs(c graph.Cluster, held []Hold, call Call) (out []run) {
	for _, h := range held {
		if n := len(out); n == 0 || out[n-1].Of != h.Namespace {
			out = append(out, run{Call: call, Cluster: cmp.Or(c.Name, "cluster"), Of: h.Namespace, Name: account(h.Namespace, call.Namespace)})
		}
		last := &out[len(out)-1]
		last.Held = append(last.Held, h)
	}
	return out
}

// account is what runs for a namespace is called: no longer than a CronJob's name may be.
func account(of, home string) string {
	const name, longest, digits = "sluice-suspend", 52, 8
	if of == home {
		return name
	}
	out := name + "-" + of
	if len(out) < longest { // one of that length is cut, too: or it could be what another one is cut to
		return out
	}
	sum := sha256.Sum256([]byte(of))
	return out[:longest-1-digits] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// reach says which tenant could touch what.
func reach(runs []run, home string) (out []string) {
	if len(runs) == 0 || len(runs) == 1 && runs[0].Of == home && home == fluxNamespace {
		return nil
	}
	out = append(out, wordHome(runs, home))
	for _, r := range runs {
		if r.Of != home {
			out = append(out, wordTenant(r))
		}
	}
	return out
}

// Args is how `sluice suspend` is called.
func (r run) Args() []string {
	out := []string{"suspend", "--file=/etc/sluice/sluice.yaml", "--cluster=" + r.Cluster}
	for _, h := range r.Held {
		out = append(out, "--kustomization="+h.ID()+"="+joined(h.Windows))
	}
	if r.Kind == Deployment {
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
{{range .Reach}}{{comment .}}
{{end}}{{range .Held}}{{if .Elsewhere}}{{comment (printf "%s: files that it shares with other clusters need %s, too, which are those clusters' own: here its own window counts alone." .ID .Others)}}
{{end}}{{if not .File}}{{comment (printf "Assumed: %s loads ./%s; its manifest is not in Git. Correct its name where it is another." .ID .Path)}}
{{end}}{{end}}{{if .Placeholder}}# No image is named REGISTRY: name yours with --image. Until then nothing runs here, and nothing is held.
{{end}}{{if .Observe}}# The file says "mode: observe": nothing is suspended until it says enforce.
{{end -}}
{{- range $i, $run := .Runs}}{{if $i}}---
{{end -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{q .Name}}
  namespace: {{q .Namespace}}
---
# get and patch of these Kustomizations alone. patch is patch: whoever has this token may change all of their spec.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: sluice-suspend
  namespace: {{q .Of}}
rules:
  - apiGroups: [kustomize.toolkit.fluxcd.io]
    resources: [kustomizations]
    resourceNames:
{{- range .Held}}
      - {{q .Name}}
{{- end}}
    verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: sluice-suspend
  namespace: {{q .Of}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: sluice-suspend
subjects:
  - kind: ServiceAccount
    name: {{q .Name}}
    namespace: {{q .Namespace}}
{{end}}---
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
{{- range .Runs}}
---
{{if eq .Kind "Deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{q .Name}}
  namespace: {{q .Namespace}}
spec:
  replicas: 1
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app.kubernetes.io/name: {{q .Name}}
  template:
{{.Pod 4}}{{else -}}
# A run that is missed is made good by the next: each sets what holds then.
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{q .Name}}
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
{{end -}}
`)

// Pod is what both kinds run, with so many spaces before each line.
func (r run) Pod(indent int) (string, error) {
	var b strings.Builder
	if err := podTemplate.Execute(&b, r); err != nil {
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
    app.kubernetes.io/name: {{q .Name}}
spec:
{{- if eq .Kind "CronJob"}}
  restartPolicy: Never
{{- end}}
  serviceAccountName: {{q .Name}}
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
