package config

import (
	"cmp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/window"
)

// place is a line and a column of the file, both from 1.
type place struct{ line, column int }

// start is the place of what is wrong with the file as a whole.
func start() place { return place{1, 1} }

// of is where a node begins. A node that the parser gave no place (an empty one at the end) counts as the start.
func of(n *yaml.Node) place {
	if n == nil || n.Line == 0 {
		return start()
	}
	return place{n.Line, n.Column}
}

// report collects findings, bounded: at most MaxFindings errors and as many warnings are kept, the rest is counted.
// Errors and warnings are counted apart, so that no flood of warnings hides that a file is invalid.
type report struct {
	findings []Finding
	errors   int
	warnings int
	way      []any          // keys and indices that lead to what is being looked at
	failed   map[string]int // errors by the first steps of their way, as many as soundSteps at most
	zones    map[string]*time.Location
}

func newReport() *report {
	return &report{failed: map[string]int{}, zones: map[string]*time.Location{}}
}

// soundSteps is how long a way may be that sound is asked about: a part of a rule.
const soundSteps = 4

// zone loads a zone, each once: a file may name one in hundreds of places.
func (r *report) zone(name string) (*time.Location, error) {
	if zone := r.zones[name]; zone != nil {
		return zone, nil
	}
	zone, err := window.LoadZone(name)
	if err != nil {
		return nil, err
	}
	r.zones[name] = zone
	return zone, nil
}

// fail adds an error.
func (r *report) fail(at place, s says) {
	r.errors++
	for steps := 1; steps <= min(len(r.way), soundSteps); steps++ {
		r.failed[pathOf(r.way[:steps])]++
	}
	if r.errors <= MaxFindings {
		r.add(Error, at, s)
	}
}

// warn adds a warning.
func (r *report) warn(at place, s says) {
	r.warnings++
	if r.warnings <= MaxFindings {
		r.add(Warning, at, s)
	}
}

func (r *report) add(severity Severity, at place, s says) {
	message := pathOf(r.way) + s.message
	r.findings = append(r.findings, Finding{Severity: severity, Code: s.code, Message: message, Line: at.line, Column: at.column})
}

// within looks at something at the end of one more step, a key or an index.
func (r *report) within(step any, look func()) {
	r.way = append(r.way, step)
	look()
	r.way = r.way[:len(r.way)-1]
}

// on looks at something at the end of a way.
func (r *report) on(way []any, look func()) {
	before := r.way
	r.way = way
	look()
	r.way = before
}

// sound reports whether nothing at the end of a way of at most soundSteps, or beyond, has an error so far.
func (r *report) sound(way ...any) bool { return r.failed[pathOf(way)] == 0 }

// sorted gives the findings by position, without repetitions, and says at the end how many more there are.
func (r *report) sorted() []Finding {
	slices.SortStableFunc(r.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	out := slices.Compact(r.findings)
	if more := max(r.errors-MaxFindings, 0) + max(r.warnings-MaxFindings, 0); more > 0 {
		last := out[len(out)-1]
		severity := Warning
		if r.errors > MaxFindings {
			severity = Error
		}
		s := moreFindings(more)
		out = append(out, Finding{Severity: severity, Code: s.code, Message: s.message, Line: last.Line, Column: last.Column})
	}
	return out
}
