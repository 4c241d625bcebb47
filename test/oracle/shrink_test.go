package oracle

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
)

// mostShrinks is how many smaller worlds are tried.
const mostShrinks = 2000

// shrinking makes a world smaller that sluice misses something of.
type shrinking struct {
	*world
	miss
	left int
}

// shrink is the smallest world that was found of which sluice misses the same.
func shrink(w *world, m miss) *world {
	s := &shrinking{w.with(maps.Clone(w.files)), m, mostShrinks}
	for again := true; again && s.left > 0; {
		again = false
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			less := maps.Clone(s.files)
			delete(less, name)
			again = s.try(less) || again
		}
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			if name != config.File && !s.byHand(name) {
				again = s.lines(name) || again
			}
		}
	}
	return s.world
}

// byHand reports whether a file says where Flux is pointed at: without a line of it the world is another one.
func (s *shrinking) byHand(name string) bool {
	return slices.ContainsFunc(s.facts, func(f fact) bool { return slices.Contains(f.Hand, name) })
}

// lines takes lines out of a file, many at once at first.
func (s *shrinking) lines(name string) (some bool) {
	lines := strings.Split(strings.TrimSuffix(s.files[name], "\n"), "\n")
	for size := len(lines) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(lines); {
			fewer := slices.Delete(slices.Clone(lines), at, at+size)
			less := maps.Clone(s.files)
			if less[name] = strings.Join(fewer, "\n") + "\n"; len(less[name]) < len(s.files[name]) && s.try(less) {
				lines, some = fewer, true
			} else {
				at += size
			}
		}
	}
	return some
}

// try takes a smaller world if sluice misses the same of it, and nothing in it fails that did not before.
func (s *shrinking) try(files map[string]string) bool {
	if s.left--; s.left < 0 || !s.missed(s.with(files)) {
		return false
	}
	s.files = files
	return true
}

func (s *shrinking) missed(w *world) bool {
	j := newJudge(w)
	if j.check.policy == nil || len(j.check.errors) > 0 {
		return false
	}
	if !j.natural() {
		return false
	}
	subjects := j.subjects()
	same := func(o miss) bool { return o.file == s.file && o.why == s.why && o.entry == s.entry }
	idle := slices.ContainsFunc(j.idle(subjects), same)
	subjects = slices.DeleteFunc(subjects, func(o subject) bool { return j.facts[o.cluster].Name+" "+o.name != s.entry })
	missed := idle || s.ch != nil && len(j.atOnce(subjects, *s.ch)) > 0
	if s.ch == nil {
		missed = idle || slices.ContainsFunc(j.unread(subjects), same)
	}
	return missed && len(j.check.whole()) == 0
}

// natural reports whether nobody would take the world's objects for unfinished.
func (j *judge) natural() bool {
	for _, c := range j.base {
		for _, o := range c.objects {
			switch o.kind() {
			case "Kustomization":
				if textOf(o.at("spec", "path")) == "" || c.find(groupSource, o, reference(o.at("spec", "sourceRef"))) == nil && textOf(o.at("spec", "sourceRef", "kind")) != "ExternalArtifact" {
					return false
				}
			case "GitRepository":
				if textOf(o.at("spec", "url")) == "" || o.at("spec", "ref") == nil {
					return false
				}
			}
		}
		for _, e := range c.entries {
			if e.built != nil && (e.err != nil || len(e.objects) == 0) {
				return false
			}
		}
	}
	return true
}

var digits = regexp.MustCompile(`[0-9]+`)

// cause is what is alike in misses that probably have one reason.
func (m miss) cause() string {
	out := m.why
	if m.ch != nil {
		out = string(m.ch.kind)
	}
	if m.ch != nil && len(m.has) == 1 && strings.HasPrefix(string(m.has[0]), "PANIC") {
		out += " PANICS"
	}
	return digits.ReplaceAllString(out+" "+m.file, "#")
}
