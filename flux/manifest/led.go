package manifest

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// Led is where an object leads Flux: of a Flux Kustomization its path and its source as KIND/NAMESPACE/NAME, of a HelmRelease its chart and the source of
// that, of a GitRepository or an OCIRepository its URL with what is read there.
type Led struct{ Path, Source string }

// Leads reports whether objects of a kind lead Flux somewhere.
func Leads(group, kind string) bool {
	switch group {
	case GroupKustomize:
		return kind == "Kustomization"
	case GroupHelm:
		return kind == "HelmRelease"
	case GroupSource:
		return kind == "GitRepository" || kind == "OCIRepository"
	}
	return false
}

// Refers reports whether objects of a kind lead Flux nowhere by themselves, and what does is made of them.
func Refers(group, kind string) bool {
	switch group {
	case "":
		return kind == ServiceAccount
	case GroupSource:
		return kind == "HelmRepository" || kind == "HelmChart" || kind == "Bucket"
	case GroupOperator:
		return kind == "ResourceSet" || kind == "ResourceSetInputProvider"
	}
	return Makes(kind)
}

// Takes reports whether others go with an object of a kind: with a Namespace what is in it, with a CustomResourceDefinition what is of its kind.
func Takes(group, kind string) bool {
	return group == "" && kind == "Namespace" || group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition"
}

// MayTake reports whether a text, which may be a template, speaks of such an object.
func MayTake(text []byte) bool {
	return (bytes.Contains(text, []byte("Namespace")) || bytes.Contains(text, []byte("CustomResourceDefinition"))) && takes.Match(text)
}

// Unversioned is what a Chart.yaml says beside versions, which decide nothing of what is made.
func Unversioned(text []byte) string { return versions.ReplaceAllString(string(text), "") }

// MayLeave reports whether a file of a chart says a namespace, which may be another one than that of its release.
func MayLeave(text []byte) bool {
	return len(anyNamespace.FindAll(text, -1)) > len(ownNamespace.FindAll(text, -1))
}

var (
	versions     = regexp.MustCompile(`(?m)^(?:version|appVersion|description):.*$`)
	takes        = regexp.MustCompile(`(?:^|[^.\w])(?:Namespace|CustomResourceDefinition)(?:List)?\b`)
	anyNamespace = regexp.MustCompile(`amespace\w*["']?\s*:`)
	ownNamespace = regexp.MustCompile(`amespace["']?\s*:[ \t]*["']?\{\{-?\s*\$?\.Release\.Namespace(?:\s*\|\s*quote)?\s*-?\}\}["']?[ \t]*(?:[#,}\r\n]|$)`)
)

// LedBy is what a reference in an object of a namespace names; "": nothing.
func LedBy(r Ref, namespace string) string {
	if r.Name == "" {
		return ""
	}
	return r.Kind + "/" + cmp.Or(r.Namespace, namespace) + "/" + r.Name
}

// Revision is what a source is read at.
type Revision struct{ Branch, Tag, Semver, Commit, Name string }

// Of is the revision of a URL, as a text.
func (r Revision) Of(url string) string {
	for _, part := range [][2]string{{"branch", r.Branch}, {"tag", r.Tag}, {"semver", r.Semver}, {"commit", r.Commit}, {"name", r.Name}} {
		if part[1] != "" {
			url += " " + strings.Join(part[:], " ")
		}
	}
	return url
}

// ValuesOf is a hash of the variables that a ConfigMap holds, as far as they are kept; "" where others fill some of them.
func ValuesOf(data map[string]string) string {
	h := &Digest{}
	for _, key := range SortedKeys(data) {
		value := data[key]
		if strings.Contains(key+value, "${") {
			return ""
		}
		if variableName.FindString(key) == key && len(value) <= 2*MaxWord && !Encrypted(value) {
			h.Add(key, value)
		}
	}
	return h.String()
}
