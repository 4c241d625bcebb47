package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/plan"
)

// Where the tree does not say: as the sample has it. The cutoff of a window must cover both of a source.
const (
	defaultInterval = "1m"
	defaultTimeout  = "60s"
	defaultName     = "fleet"
)

// ErrNoURL says that nothing says where the repository is.
var ErrNoURL = errors.New("neither a root's GitRepository nor the remote origin gives this repository's URL: set it with --url")

// Flux writes for each cluster the GitRepositories of the live and of each windowed side, the Flux Kustomizations of both with the source that
// is theirs, and what connects them with the forge: Receiver, Provider, Alert. fixed is the repository's URL whatever the tree says,
// otherwise the one where the tree says nothing; both may be "".
func Flux(in Input, fixed, otherwise string) ([]byte, error) {
	var b bytes.Buffer
	if _, err := repositoryURL(fixed); fixed != "" && err != nil {
		return nil, err
	}
	in, err := in.assume()
	if err != nil {
		return nil, err
	}
	owners, err := newOwners(in)
	if err != nil {
		return nil, err
	}
	d := drawing{in, owners, manuscripts{}, fixed, otherwise}
	shared, docs := map[string]int{}, documents{} // shared: clusters of a branch
	var views []fluxView
	for _, c := range in.Clusters {
		v, err := d.cluster(c)
		if err != nil && (in.wanted(c) || in.charge(c.Path, 1, 0, 0) != nil) {
			return nil, err
		}
		for _, s := range v.Windowed {
			shared[s.Branch]++
		}
		docs.count(c, v)
		if in.wanted(c) {
			views = append(views, v)
		}
	}
	for _, v := range views {
		if err := in.charge(v.Path, 1, 0, 0); err != nil {
			return nil, err
		}
		if b.Len() > 0 {
			b.WriteString("---\n")
		}
		docs.keep(&v)
		v.Shared = slices.ContainsFunc(v.Windowed, func(s side) bool { return shared[s.Branch] > 1 })
		if err := fluxTemplate.Execute(&b, v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// documents counts how often a document is used, and how often with one text: its place with or without that.
type documents map[string]int

func (d documents) count(c graph.Cluster, v fluxView) {
	for _, s := range c.Sources {
		d[s.String()]++
	}
	for _, k := range c.Kustomizations {
		d[k.String()]++
	}
	for _, s := range v.sides() {
		for _, e := range s.Entries {
			d[e.Place+e.Text]++
		}
	}
}

// keep says of what clusters share that it stays, where they do not need the same.
func (d documents) keep(v *fluxView) {
	for _, s := range v.sides() {
		if s.Place != "" && d[s.Place] > 1 {
			s.Kept = s.Place
		}
		for i := range s.Entries {
			if e := &s.Entries[i]; e.Place != "" && d[e.Place] > d[e.Place+e.Text] {
				e.Notes = append(e.Notes, wordShared)
			}
		}
	}
}

// fluxView is one cluster for the template.
type fluxView struct {
	graph.Cluster
	Namespace string
	Live      side
	Windowed  []side
	Forge     string // Flux's name of the forge, as far as Providers and Receivers know it; "": not known
	Address   string // of the repository for people and APIs
	Written   bool   // there is something to write: a windowed branch, or Kustomizations that are not in Git
	Shared    bool   // a branch is followed by several clusters
	Notes     []string
}

// side is a source and the Kustomizations that are made of it.
type side struct {
	Name, Namespace   string
	URL, Branch       string
	Secret            string
	Interval, Timeout string
	Held              bool   // by a window
	fixed             bool   // it follows no branch, but a tag or a commit
	Kept              string // where it stands and stays; "": it is written
	Place             string // where it stands and is replaced; "": nowhere
	Entries           []entry
}

// entry is one Flux Kustomization as it is written.
type entry struct {
	Name, Namespace string
	Place           string
	Notes           []string
	Text            string
}

// sides is both sides' sources.
func (v *fluxView) sides() []*side {
	out := []*side{&v.Live}
	for i := range v.Windowed {
		out = append(out, &v.Windowed[i])
	}
	return out
}

// drawing is what the objects of all clusters are made of.
type drawing struct {
	Input
	owners           owners
	manuscripts      manuscripts
	fixed, otherwise string // URLs
}

// cluster is what is to be written for one cluster.
func (in drawing) cluster(c graph.Cluster) (fluxView, error) {
	held, left, err := in.owners.windowed(c)
	if err != nil {
		return fluxView{}, err
	}
	v := fluxView{Cluster: c, Namespace: fluxNamespace, Notes: notes(left, in.Graph.Problems)}
	byBranch := map[string]*config.Branch{}
	of := map[*graph.Kustomization]*config.Branch{}
	for _, h := range held {
		if h.Branch == nil {
			v.Notes = append(v.Notes, wordNoBranch(h))
			continue
		}
		byBranch[h.Branch.Name], of[h.Kustomization] = h.Branch, h.Branch
	}
	v.Written = len(byBranch) > 0 || slices.ContainsFunc(c.Kustomizations, assumed)
	if !v.Written {
		return v, nil
	}
	address, err := repositoryURL(cmp.Or(in.fixed, c.URL, in.otherwise))
	if err != nil {
		return v, fmt.Errorf("cluster %s: %w", plan.Clean(c.Name), err)
	}
	v.Forge, v.Address = forgeOf(address)
	v.Live = in.live(c, address)
	v.Live.Branch = cmp.Or(c.Branch, "main")
	for _, b := range in.Policy.Branches {
		if byBranch[b.Name] != nil {
			v.Live.Branch = b.From
			v.Windowed = append(v.Windowed, in.windowed(c, v.Live, b, len(byBranch) > 1))
		}
	}
	byID := firstByID(c.Kustomizations)
	for _, k := range c.Kustomizations {
		if err := in.charge(k.File, 1, 1, 0); err != nil {
			return v, err
		}
		if root(c, k) || !named(k.Namespace, k.Name) {
			continue
		}
		if k.InSet() {
			v.Notes = append(v.Notes, wordInSet(k))
			continue
		}
		to := &v.Live
		if of[k] == nil && k.Source != nil && k.Source.Follows() != v.Live.Branch {
			v.Notes = append(v.Notes, wordOtherSource(k)) // a tenant's branch, a tag: nothing of it is known
			continue
		}
		if b := of[k]; b != nil {
			to = &v.Windowed[slices.IndexFunc(v.Windowed, func(s side) bool { return s.Branch == b.Name })]
		}
		e, err := in.entry(k, to, surrounding{byID, of})
		if err != nil {
			return v, err
		}
		to.Entries = append(to.Entries, e)
	}
	if v.Live.fixed {
		v.Live.Branch = ""
	}
	return v, nil
}

// firstByID is the first Flux Kustomization of each name.
func firstByID(all []*graph.Kustomization) map[string]*graph.Kustomization {
	out := map[string]*graph.Kustomization{}
	for _, k := range all {
		if out[id(k)] == nil {
			out[id(k)] = k
		}
	}
	return out
}

// live is the source of the live side: the root's own where it has one that the tree shows.
func (in Input) live(c graph.Cluster, address string) side {
	s := side{Name: slug(path.Base(strings.TrimSuffix(address, ".git")), defaultName), Namespace: fluxNamespace, URL: address, Interval: defaultInterval, Timeout: defaultTimeout}
	if strings.HasPrefix(address, "ssh://") {
		s.Secret = fluxNamespace
	}
	var found *graph.Source
	for _, k := range c.Kustomizations {
		if !k.Here || k.Source != nil && in.tracks(k.Source) {
			continue
		}
		if k.Source == nil && found == nil && named(fluxNamespace, k.SourceRef.Name) { // the operator, or bootstrap, makes it
			s.Name, s.Namespace, s.Kept = k.SourceRef.Name, cmp.Or(k.SourceRef.Namespace, k.Namespace, fluxNamespace), wordElsewhere
		}
		if k.Source != nil && (found == nil || k.Path == c.Path) {
			found = k.Source
		}
	}
	if found != nil && named(found.Namespace, found.Name) {
		s.Kept = ""
		s.from(found)
		s.fixed = found.Follows() == ""
		if dir := path.Base(path.Dir(found.File)); dir == fluxNamespace || s.fixed {
			s.Kept = found.String()
		}
	}
	return s
}

// from takes over what a source of the tree says.
func (s *side) from(source *graph.Source) {
	s.Name, s.Namespace, s.Place = source.Name, source.Namespace, source.String()
	s.Interval, s.Timeout = duration(source.Interval, defaultInterval), duration(source.Timeout, defaultTimeout)
	if named(fluxNamespace, source.Secret) {
		s.Secret = source.Secret
	}
}

var durationShape = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

// duration is one that Flux takes.
func duration(text, otherwise string) string {
	if len(text) > 20 || !durationShape.MatchString(text) {
		return otherwise
	}
	return text
}

// tracks reports whether a source follows a windowed branch.
func (in Input) tracks(s *graph.Source) bool {
	return slices.ContainsFunc(in.Policy.Branches, func(b config.Branch) bool { return b.Name == s.Follows() })
}

// windowed is the source of a windowed branch: the one that tracks it already, or one beside the live one, with its secret.
func (in Input) windowed(c graph.Cluster, live side, b config.Branch, several bool) side {
	s := live
	s.Held, s.Kept, s.Place, s.Branch, s.Entries = true, "", "", b.Name, nil
	suffix, _, _ := strings.Cut(b.Name, "/")
	if several {
		suffix = b.Name
	}
	s.Name = live.Name + "-" + slug(suffix, "windowed")
	for _, source := range c.Sources {
		if source.Follows() == b.Name && named(source.Namespace, source.Name) {
			s.from(source)
			break
		}
	}
	return s
}

// unnamed is what no name in Kubernetes has.
var unnamed = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a text as part of a name in Kubernetes.
func slug(text, otherwise string) string {
	out := strings.Trim(unnamed.ReplaceAllString(strings.ToLower(text), "-"), "-")
	const longest = 60
	if len(out) > longest {
		out = strings.Trim(out[:longest], "-")
	}
	return cmp.Or(out, otherwise)
}

// scp is git's short form of an SSH address.
var scp = regexp.MustCompile(`^([A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):([^/].*)$`)

// repositoryURL is a repository's address as Flux takes it, without a password or token.
func repositoryURL(text string) (string, error) {
	if text == "" {
		return "", ErrNoURL
	}
	if m := scp.FindStringSubmatch(text); m != nil && !strings.Contains(text, "://") {
		text = "ssh://" + cmp.Or(m[1], "git@") + m[2] + "/" + m[3]
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || plan.Clean(text) != text || strings.Contains(text, " ") {
		return "", fmt.Errorf("%q is not a repository's URL", shown(text))
	}
	u.RawQuery, u.Fragment = "", "" // of no repository, but perhaps of a token
	switch u.Scheme {
	case "ssh":
		u.User = url.User(cmp.Or(u.User.Username(), "git"))
	case "http", "https":
		u.User = nil
	default:
		return "", fmt.Errorf("%q: Flux supports https and ssh", shown(text))
	}
	return u.String(), nil
}

// secrets is where in an address a password or a token may stand.
var secrets = regexp.MustCompile(`//.*@|[?#].*`)

// shown is an address that is none, without what may be secret in it.
func shown(text string) string { return plan.Clean(secrets.ReplaceAllString(text, "//…")) }

// forgeOf is Flux's name for the forge, and the address of the repository over https.
func forgeOf(address string) (forge, https string) {
	u, err := url.Parse(address)
	if err != nil {
		return "", address // it was parsed before
	}
	if u.Scheme == "ssh" {
		u.Scheme, u.User, u.Host = "https", nil, u.Hostname()
	}
	u.Path = strings.TrimSuffix(u.Path, ".git")
	for _, name := range []string{"github", "gitlab"} {
		if strings.Contains(u.Host, name) {
			forge = name
		}
	}
	return forge, u.String()
}

// Events is what a Receiver listens to, in the forge's words.
func (v fluxView) Events() []string {
	if v.Forge == "gitlab" {
		return []string{"Push Hook"}
	}
	return []string{"ping", "push"}
}

// Reported is the Kustomizations that Flux reports on: those of windowed branches.
func (v fluxView) Reported() []entry {
	var out []entry
	for _, s := range v.Windowed {
		out = append(out, s.Entries...)
	}
	return out
}

// Expr is the context of a commit status: the branch in it tells sluice whose report it is.
func (v fluxView) Expr() string {
	out := "'kustomization/' + event.metadata.revision.split('@sha1:')[0] + '/' + "
	if v.Shared {
		out += "event.metadata.cluster + '/' + "
	}
	return out + "event.involvedObject.name"
}

var fluxTemplate = parsed("flux", `{{comment (printf "Cluster %s" .Name)}}
{{range .Notes}}{{comment .}}
{{end}}{{if not .Written}}# No Flux Kustomization of this cluster is held by a windowed branch as a whole: nothing is to be changed here.
{{else -}}
# Rendered by "sluice render flux". Review it, and put each document where the comment says, or below a live path of this cluster.
{{- if .Windowed}}
# Two sources of one repository: what is live comes from {{with .Live.Branch}}{{clean .}}{{else}}a tag or a commit{{end}}, what is windowed from the branch that sluice moves. They must be two:
# Kustomizations that share a source and depend on each other wait until both are at one revision.
{{- end}}
{{- template "source" .Live}}
{{- range .Windowed}}{{template "source" .}}{{end}}
{{- range .Live.Entries}}{{template "entry" .}}{{end}}
{{- range .Windowed}}{{range .Entries}}{{template "entry" .}}{{end}}{{end}}
{{- if not .Windowed}}
# No Receiver, Provider and Alert: no windowed branch is to be fetched or reported.
{{else if .Forge}}
---
# The forge calls this on every push, so that Flux looks at once. Its Secret holds the webhook's token, as "token".
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata:
  name: {{.Forge}}-push
  namespace: {{q .Live.Namespace}}
spec:
  type: {{.Forge}}
  events:
{{- range .Events}}
    - {{q .}}
{{- end}}
  secretRef:
    name: {{.Forge}}-push
  resources:
    - apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      name: {{q .Live.Name}}
      namespace: {{q .Live.Namespace}}
{{- range .Windowed}}
    - apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      name: {{q .Name}}
      namespace: {{q .Namespace}}
{{- end}}
---
# The way back: Flux sets a status on the commit that it applied. The Secret holds a token that may write commit statuses, as "token".
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata:
  name: {{.Forge}}-status
  namespace: {{q .Live.Namespace}}
spec:
  type: {{.Forge}}
  address: {{q .Address}}
  secretRef:
    name: {{.Forge}}-status
  commitStatusExpr: {{q .Expr}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: {{.Forge}}-status
  namespace: {{q .Live.Namespace}}
spec:
  providerRef:
    name: {{.Forge}}-status
  eventSeverity: info # errors are among them
  eventSources:
{{- range .Reported}}
    - kind: Kustomization
      name: {{q .Name}}
      namespace: {{q .Namespace}}
{{- end}}
  eventMetadata:
    cluster: {{q .Name}}
{{else}}
---
# No Receiver, Provider and Alert: which forge this is does not follow from its address.
{{end}}{{end}}
{{- define "source"}}
{{if .Kept}}{{comment (printf "GitRepository %s/%s stays as it is (%s)." .Namespace .Name .Kept)}}{{with .Branch}} It must follow {{clean .}}.{{end}}
{{- else -}}
---
{{if .Place}}{{comment (printf "It replaces %s." .Place)}}
{{end -}}
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: {{q .Name}}
  namespace: {{q .Namespace}}
spec:
  url: {{q .URL}}
{{- if .Secret}}
  secretRef:
    name: {{q .Secret}}
{{- end}}
  ref:
    branch: {{q .Branch}}
  interval: {{q .Interval}}{{if .Held}} # the window's cutoff must cover this, the timeout, and that of the Kustomization{{end}}
  timeout: {{q .Timeout}}
{{- end}}
{{- end}}
{{- define "entry"}}
---
{{if .Place}}{{comment (printf "It replaces %s." .Place)}}
{{end}}{{range .Notes}}{{comment .}}
{{end}}{{.Text}}
{{- end}}`)
