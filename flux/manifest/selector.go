package manifest

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/meter"
)

// Selector is a target, understood once for the many objects that it is compared with.
type Selector struct {
	group, version, kind, namespace, name *regexp.Regexp // nil: any
	labels, annotations                   []requirement
	self                                  *Ref // of a merge without a target: namespace and name of the object that it names
	vague                                 bool // it may select other objects than here
	Weight                                int  // in nodes
}

// none is an expression that no name matches.
var none = regexp.MustCompile(`^\b$`)

// Selector understands a target. An expression that cannot be read selects nothing, as kustomize builds nothing with it; one that is too long selects
// everything, as does a selector of labels that is not understood, and what has a variable without a known value.
func (t Target) Selector() *Selector {
	s := &Selector{vague: t.open != ""}
	if s.vague {
		for _, field := range t.fields() {
			if Unfilled(*field) != "" {
				*field = ""
			}
		}
	}
	expression := func(pattern string) *regexp.Regexp {
		s.vague = s.vague || len(pattern) > MaxWord
		if pattern == "" || len(pattern) > MaxWord {
			return nil
		}
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		if err != nil {
			return none
		}
		s.Weight += compiled(pattern)
		return re
	}
	s.group, s.version, s.kind = expression(t.Group), expression(t.Version), expression(t.Kind)
	s.namespace, s.name = expression(t.Namespace), expression(t.Name)
	var known [2]bool
	s.labels, known[0] = requirements(t.LabelSelector)
	s.annotations, known[1] = requirements(t.AnnotationSelector)
	s.vague = s.vague || !known[0] || !known[1]
	return s
}

// compiled is about how many nodes an expression takes that is understood, if it is more than a name: a few bytes of it may stand for a thousand classes of letters.
func compiled(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || regexp.QuoteMeta(pattern) == pattern {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	bytes, widest := 0, 0
	for _, one := range program.Inst {
		bytes, widest = bytes+100+6*len(one.Rune), max(widest, len(one.Rune))
	}
	for _, one := range program.Inst {
		if len(one.Rune) == 0 { // it may get a copy of what comes next, or of what either way leads to
			bytes += 6 * widest
		}
	}
	return bytes / meter.NodeBytes
}

// openName says that the name in a merge without a target may have a variable.
const openName = "name"

// itself is the selector of a merge without a target: the object that it names. open is [Target.open].
func itself(n *Node, open string) *Selector {
	t := Target{Group: regexp.QuoteMeta(GroupOf(n)), Kind: regexp.QuoteMeta(Scalar(At(n, "kind")))}
	self := &Ref{"", effective(Scalar(At(n, "metadata", "namespace"))), Scalar(At(n, "metadata", "name"))}
	if t.Kind == "" || self.Name == "" {
		return &Selector{name: none}
	}
	s := t.Selector()
	if s.vague = open != "" && Unfilled(self.Namespace+"/"+self.Name) != ""; !s.vague {
		s.self = self
	}
	return s
}

// effective is the namespace that kustomize takes an object for.
func effective(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

// matches reports whether an object is what the selector asks for. kustomize knows it by the names that it had, too: a target by the first, a merge
// by each of them.
func (s *Selector) matches(d *Doc) bool {
	is := func(re *regexp.Regexp, name string) bool {
		return re == nil || len(name) <= MaxWord && re.MatchString(name)
	}
	_, version, found := strings.Cut(d.Text("apiVersion"), "/")
	if !found {
		version = d.Text("apiVersion")
	}
	ids := d.IDs()
	if s.self != nil {
		return is(s.kind, d.Text("kind")) && is(s.group, GroupOf(d.Node)) && slices.Contains(ids, *s.self)
	}
	first, last := ids[0], ids[len(ids)-1]
	return is(s.kind, d.Text("kind")) && is(s.group, GroupOf(d.Node)) && is(s.version, version) &&
		(is(s.namespace, first.Namespace) || is(s.namespace, last.Namespace)) && (is(s.name, first.Name) || is(s.name, last.Name)) &&
		meets(s.labels, d, "labels") && meets(s.annotations, d, "annotations")
}

// Named reports whether an object is of the kind that the selector asks for, and was ever called so.
func (s *Selector) Named(d *Doc) bool {
	of := Selector{group: s.group, kind: s.kind}
	return of.matches(d) && (s.name == nil || slices.ContainsFunc(d.IDs(), func(id Ref) bool { return s.name.MatchString(id.Name) }))
}

// IDs is what an object was called, and last what it is.
func (d *Doc) IDs() []Ref {
	return append(slices.Clip(d.before), Ref{"", effective(d.Text("metadata", "namespace")), d.Text("metadata", "name")})
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

// requirements is the parts of a selector; known is false if it has anything else.
func requirements(selector string) (out []requirement, known bool) {
	for _, m := range parts.FindAllStringSubmatch(selector, MaxList) {
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
	if strings.TrimSpace(parts.ReplaceAllString(selector, "")) != "" || len(out) == MaxList {
		return nil, false
	}
	return out, true
}

func meets(all []requirement, d *Doc, section string) bool {
	if len(all) == 0 {
		return true
	}
	labels := d.Pairs("metadata", section)
	for _, r := range all {
		value, has := labels[r.key]
		if in := has && (r.exists || slices.Contains(r.values, value)); in == r.not {
			return false
		}
	}
	return true
}
