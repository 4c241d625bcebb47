package graph

import (
	"slices"

	"github.com/sluicegate/sluice/meter"
)

// Reader reads documents as a part of a run: it charges the meter of that, and keeps what is wrong.
type Reader struct {
	Problems []Problem // at most MaxProblems

	meter *meter.Meter
	also  *[]Problem // where problems are kept, too; nil: nowhere
}

// NewReader is a reader of a run.
func NewReader(m *meter.Meter) Reader { return Reader{meter: m} }

// Work is what is done with documents, of which the meter is charged.
type Work struct {
	*Reader
	At string // the file or directory that is read
}

// Spent charges documents that are looked at, and nodes that are copied, and reports whether that is too much. What was found so far is not kept then.
func (w *Work) Spent(documents, nodes int) bool {
	if w.step(w.At, documents) || nodes > 0 && w.hold(w.At, nodes, 0) {
		w.stopped()
		return true
	}
	return false
}

// Meter is of the run that reads: who makes something of it charges that.
func (r *Reader) Meter() *meter.Meter { return r.meter }

// hold charges the meter for what is about to be held for a place, and reports whether that is too much.
func (r *Reader) hold(place string, nodes, bytes int) bool {
	return r.meter.Take(meter.Nodes, nodes, place) != nil || r.meter.Take(meter.Bytes, bytes, place) != nil
}

// step charges the meter for work on a place, and reports whether that is too much.
func (r *Reader) step(place string, n int) bool { return r.meter.Take(meter.Steps, n, place) != nil }

// stopped notes that the run has ended, and why.
func (r *Reader) stopped() {
	if err := r.meter.Err(); err != nil {
		r.problem(Place{}, err.Error())
	}
}

// problem keeps what is wrong, and what stands behind is not known.
func (r *Reader) problem(at Place, text string) { r.note(Problem{Place: at, Text: text}) }

// tooLong keeps that a list has more entries than are read.
func (r *Reader) tooLong(at Place, list string) { r.problem(at, wordLongList(list)) }

// note keeps a problem.
func (r *Reader) note(p Problem) {
	r.Problems = more(r.Problems, p)
	if r.also != nil {
		*r.also = more(*r.also, p)
	}
}

// more is problems with another one. The last of MaxProblems stands for all that come after it.
func more(problems []Problem, p Problem) []Problem {
	switch last := len(problems) - 1; {
	case slices.Contains(problems, p):
	case last+1 < MaxProblems-1:
		return append(problems, p)
	case last+1 < MaxProblems:
		return append(problems, Problem{Text: wordManyProblems(), Refused: p.Refused})
	case problems[last].Refused && !p.Refused:
		problems = slices.Clone(problems)
		problems[last].Refused = false
	}
	return problems
}
