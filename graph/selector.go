package graph

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// selector is a target, understood once for the many objects that it is compared with.
type selector struct {
	group, kind, namespace, name *regexp.Regexp // nil: any
	labels, annotations          []requirement
}

// none is an expression that no name matches.
var none = regexp.MustCompile(`^\b$`)

// long reports whether a target has a text that is not looked at for its length.
func (t Target) long() bool {
	return max(len(t.Group), len(t.Version), len(t.Kind), len(t.Namespace), len(t.Name), len(t.LabelSelector), len(t.AnnotationSelector)) > MaxAlias
}

// selector understands a target. An expression that cannot be read selects nothing, as in kustomize; a selector of labels that cannot be
// read, and a text that is too long, select everything: what they are for may be patched.
func (t Target) selector() *selector {
	expression := func(pattern string) *regexp.Regexp {
		if pattern == "" || len(pattern) > MaxAlias {
			return nil
		}
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		if err != nil {
			return none
		}
		return re
	}
	return &selector{
		expression(t.Group), expression(t.Kind), expression(t.Namespace), expression(t.Name),
		requirements(t.LabelSelector), requirements(t.AnnotationSelector),
	}
}

// itself is the selector of a merge without a target: the object that it names.
func itself(n *yaml.Node) *selector {
	of := func(keys ...string) string { return regexp.QuoteMeta(scalar(at(n, keys...))) }
	t := Target{Group: regexp.QuoteMeta(groupOf(n)), Kind: of("kind"), Namespace: of("metadata", "namespace"), Name: of("metadata", "name")}
	if t.Kind == "" || t.Name == "" {
		return &selector{name: none}
	}
	return t.selector()
}

// matches reports whether an object is what the selector asks for. One without a namespace may be in any: a kustomization.yaml further up
// says in which. kustomize knows it by the name that it had, too.
func (s *selector) matches(d *doc) bool {
	is := func(re *regexp.Regexp, name string) bool {
		return re == nil || len(name) <= MaxAlias && re.MatchString(name)
	}
	called := func(namespace, name string) bool {
		return is(s.name, name) && (namespace == "" || is(s.namespace, namespace))
	}
	return is(s.kind, d.text("kind")) && is(s.group, groupOf(d.node)) &&
		(called(d.text("metadata", "namespace"), d.text("metadata", "name")) || d.before != nil && called(d.before.Namespace, d.before.Name)) &&
		meets(s.labels, d, "labels") && meets(s.annotations, d, "annotations")
}

// requirement is one part of a selector of labels.
type requirement struct {
	key    string
	not    bool
	exists bool // whatever the value
	values []string
}

// parts finds the parts of a selector: KEY, !KEY, KEY=VALUE, KEY!=VALUE, KEY in (A, B), KEY notin (A, B).
var parts = regexp.MustCompile(`(!?)\s*([^\s!=,()]+)(?:\s*(==|=|!=)\s*([^\s,()]*)|\s+(in|notin)\s*\(([^()]*)\))?\s*(?:,|$)`)

func requirements(selector string) []requirement {
	var out []requirement
	if len(selector) > MaxAlias {
		return nil
	}
	for _, m := range parts.FindAllStringSubmatch(selector, -1) {
		r := requirement{key: m[2], not: m[1] == "!" || m[3] == "!=" || m[5] == "notin"}
		switch {
		case m[3] != "":
			r.values = []string{m[4]}
		case m[5] != "":
			for value := range strings.SplitSeq(m[6], ",") {
				r.values = append(r.values, strings.TrimSpace(value))
			}
		default:
			r.exists = true
		}
		out = append(out, r)
	}
	return out
}

func meets(all []requirement, d *doc, section string) bool {
	if len(all) == 0 {
		return true
	}
	labels := d.pairs("metadata", section)
	for _, r := range all {
		value, has := labels[r.key]
		if in := has && (r.exists || slices.Contains(r.values, value)); in == r.not {
			return false
		}
	}
	return true
}
