package manifest

import (
	"slices"

	"github.com/sluicegate/sluice/meter"
)

// Reader reads documents as a part of a run: it charges the meter of that, and keeps what is wrong.
type Reader struct {
	Problems []Problem // at most MaxProblems

	meter *meter.Meter
	Also  *[]Problem // where problems are kept, too; nil: nowhere
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
	if w.Step(w.At, documents) || nodes > 0 && w.Hold(w.At, nodes, 0) {
		w.Stopped()
		return true
	}
	return false
}

// Meter is of the run that reads: who makes something of it charges that.
func (r *Reader) Meter() *meter.Meter { return r.meter }

// Hold charges the meter for what is about to be held for a place, and reports whether that is too much.
func (r *Reader) Hold(place string, nodes, bytes int) bool {
	return r.meter.Take(meter.Nodes, nodes, place) != nil || r.meter.Take(meter.Bytes, bytes, place) != nil
}

// Step charges the meter for work on a place, and reports whether that is too much.
func (r *Reader) Step(place string, n int) bool { return r.meter.Take(meter.Steps, n, place) != nil }

// Stopped notes that the run has ended, and why.
func (r *Reader) Stopped() {
	if err := r.meter.Err(); err != nil {
		r.Problem(Place{}, err.Error())
	}
}

// Problem keeps what is wrong, and what stands behind is not known.
func (r *Reader) Problem(at Place, text string) { r.Note(Problem{Place: at, Text: text}) }

// TooLong keeps that a list has more entries than are read.
func (r *Reader) TooLong(at Place, list string) { r.Problem(at, wordLongList(list)) }

// Note keeps a problem.
func (r *Reader) Note(p Problem) {
	r.Problems = More(r.Problems, p)
	if r.Also != nil {
		*r.Also = More(*r.Also, p)
	}
}

// More is problems with another one. The last of MaxProblems stands for all that come after it.
func More(problems []Problem, p Problem) []Problem {
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
