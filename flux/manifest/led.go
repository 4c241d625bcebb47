package manifest

import (
	"cmp"
	"strings"
)

// Led is where an object leads Flux: of a Flux Kustomization its path and its source as KIND/NAMESPACE/NAME, of a HelmRelease its chart and the source of
// that, of a GitRepository or an OCIRepository its URL with what is read there; and a hash of all that it says of it, "" if that is not known.
type Led struct{ Path, Source, Says string }

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

// ValuesOf is a hash of the variables that a ConfigMap holds; "" where that is not known of all.
func ValuesOf(data map[string]string) string {
	h := &Digest{}
	for _, key := range SortedKeys(data) {
		value := data[key]
		switch named := variableName.FindString(key) == key; {
		case named && (len(value) > 2*MaxWord || Encrypted(value)) || strings.Contains(key+value, "${"):
			return ""
		case named:
			h.Add(key, value)
		}
	}
	return h.String()
}

// Steering is a text of what an object that leads Flux says of it, whatever its form. Names count without the hashes of generated ones; those of a HelmRelease's values
// are told apart by kustomize alone.
func Steering(kind string, root *Node, vars *Variables) string {
	h, spec := &Digest{}, At(root, "spec")
	if kind != "HelmRelease" {
		h.plain(spec, vars)
		return h.text.String()
	}
	for _, key := range []string{"chart", "chartRef", "kubeConfig", "targetNamespace"} {
		h.Add(key)
		h.plain(At(spec, key), vars)
	}
	return h.text.String()
}

// Said is a hash of such a text; "" where a variable has no value.
func Said(text string) string {
	if strings.Contains(text, "${") {
		return ""
	}
	return hashOf([]byte(text))
}

// plain adds what a node says, without tags and without what is empty.
func (h *Digest) plain(n *Node, vars *Variables) {
	switch {
	case n == nil || n.Tag == "!!null":
	case n.Kind == ScalarNode:
		value := vars.Expand(n.Value)
		h.Add(cmp.Or(Unhashed(value), value))
	case n.Kind == SequenceNode:
		for _, child := range n.Content {
			h.Add("-")
			h.plain(child, vars)
		}
	default:
		keys := map[string]*Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys[n.Content[i].Value] = n.Content[i+1]
		}
		for _, key := range SortedKeys(keys) {
			if child := keys[key]; child.Tag != "!!null" && (child.Kind == ScalarNode || len(child.Content) > 0) {
				h.Add("{", key)
				h.plain(child, vars)
				h.Add("}")
			}
		}
	}
}
