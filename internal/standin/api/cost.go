package api

import (
	"cmp"
	"math"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// What a query costs: one request for every connection and every node that holds it, as if every list were as long as it may
// be; a hundred requests are one point, and the least is one.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#predicting-the-point-value-of-a-query

const (
	requestsPerPoint = 100
	maxNodes         = 500_000
	// maxCounted bounds the selections that are counted: fragments within fragments multiply.
	maxCounted = 100_000
	// maxDepth bounds how deep they lie: a fragment may hold itself until the query is validated.
	maxDepth = 50
	// maxCount keeps counts far from overflowing; it is over every limit.
	maxCount = 1 << 40
)

// cost is what a query asks for.
type cost struct{ requests, nodes int64 }

func (c cost) points() int {
	return max(1, int(math.Round(float64(c.requests)/requestsPerPoint)))
}

// meter adds up what an operation asks for.
type meter struct {
	cost
	doc       *ast.QueryDocument
	op        *ast.OperationDefinition
	variables map[string]any
	counted   int
}

// costOf counts what an operation asks for. A query that cannot be read costs nothing beyond the least.
func costOf(doc *ast.QueryDocument, op *ast.OperationDefinition, variables map[string]any) cost {
	m := &meter{doc: doc, op: op, variables: variables}
	if op != nil {
		m.count(op.SelectionSet, 1, 0)
	}
	return m.cost
}

func (m *meter) count(set ast.SelectionSet, times int64, depth int) {
	for _, s := range set {
		if m.counted++; m.counted > maxCounted || depth > maxDepth {
			return
		}
		switch s := s.(type) {
		case *ast.InlineFragment:
			m.count(s.SelectionSet, times, depth+1)
		case *ast.FragmentSpread:
			if f := m.doc.Fragments.ForName(s.Name); f != nil {
				m.count(f.SelectionSet, times, depth+1)
			}
		case *ast.Field:
			below := times
			if n, ok := m.length(s); ok {
				below = min(maxCount, times*max(1, n))
				m.requests = min(maxCount, m.requests+times)
				m.nodes = min(maxCount, m.nodes+times*n)
			}
			m.count(s.SelectionSet, below, depth+1)
		}
	}
}

// length is how many nodes a connection is asked for, at most as many as one may; false of a field that is none.
func (m *meter) length(f *ast.Field) (int64, bool) {
	arg := cmp.Or(f.Arguments.ForName("first"), f.Arguments.ForName("last"))
	if arg == nil {
		return 0, false
	}
	value := arg.Value
	if value.Kind == ast.Variable {
		if v, ok := m.variables[value.Raw].(float64); ok {
			return int64(min(max(v, 0), maxFirst)), true
		}
		v := m.op.VariableDefinitions.ForName(value.Raw)
		if v == nil || v.DefaultValue == nil {
			return 0, false
		}
		value = v.DefaultValue
	}
	n, err := strconv.Atoi(value.Raw)
	return int64(min(max(n, 0), maxFirst)), err == nil
}
