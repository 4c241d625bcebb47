package githubapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// GitHub's limits on one query:
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	maxFirst = 100
	maxNodes = 500_000
)

// query is what a client sends to GraphQL.
type query struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// answer is what GraphQL sends back.
type answer struct {
	Data   json.RawMessage `json:"data"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
	Message string `json:"message"` // of a refusal in REST's manner: bad credentials, rate limits
}

// checkGraphQL validates a query and checks its answer against what it asked for.
func (s *spec) checkGraphQL(v conversation) []string {
	var q query
	if err := json.Unmarshal(v.sent, &q); err != nil {
		return []string{fmt.Sprintf("request is no JSON: %v", err)}
	}
	doc, err := s.parse(q.Query)
	if err != nil {
		return []string{err.Error()}
	}
	op := doc.Operations.ForName(q.OperationName)
	if op == nil {
		return []string{fmt.Sprintf("the query has no operation %q", q.OperationName)}
	}
	vars, err := validator.VariableValues(s.schema, op, q.Variables)
	if err != nil {
		return []string{fmt.Sprintf("variables: %v", err)}
	}
	problems := s.checkLimits(op, vars)
	if v.status >= http.StatusInternalServerError {
		return problems
	}
	return append(problems, s.checkAnswer(op, vars, v)...)
}

// ValidateQuery tells what is wrong with a query by GitHub's schema; nil if it is valid.
func ValidateQuery(text string) error {
	s, err := load()
	if err != nil {
		return err
	}
	_, err = s.parse(text)
	return err
}

// parse reads and validates a query. Clients have few texts, which the whole process reads once: documents are never written to.
func (s *spec) parse(text string) (*ast.QueryDocument, error) {
	if known, ok := s.valid.Load(text); ok {
		return known.(*ast.QueryDocument), nil
	}
	doc, err := parser.ParseQuery(&ast.Source{Name: "query", Input: text})
	if err != nil {
		return nil, fmt.Errorf("parse query: %w", err)
	}
	if errs := validator.ValidateWithRules(s.schema, doc, rules.NewDefaultRules()); len(errs) > 0 {
		return nil, fmt.Errorf("validate query: %w", errors.Join(errs.Unwrap()...))
	}
	s.valid.Store(text, doc)
	return doc, nil
}

func (s *spec) checkAnswer(op *ast.OperationDefinition, vars map[string]any, v conversation) []string {
	var a answer
	dec := json.NewDecoder(bytes.NewReader(v.got))
	if err := dec.Decode(&a); err != nil {
		return []string{fmt.Sprintf("answer %d is no JSON: %v", v.status, err)}
	}
	if v.status != http.StatusOK {
		if a.Message == "" && len(a.Errors) == 0 {
			return []string{fmt.Sprintf("answer %d has neither message nor errors", v.status)}
		}
		return nil
	}
	var data any
	if len(a.Data) > 0 {
		dec := json.NewDecoder(bytes.NewReader(a.Data))
		dec.UseNumber()
		if err := dec.Decode(&data); err != nil {
			return []string{fmt.Sprintf("data is no JSON: %v", err)}
		}
	}
	if data == nil {
		if len(a.Errors) == 0 {
			return []string{"answer has neither data nor errors"}
		}
		return nil // GitHub leaves data out, or null, when the whole query failed
	}
	w := &walker{schema: s.schema, vars: vars}
	w.object(s.root(op), op.SelectionSet, data, "data")
	return w.problems
}

func (s *spec) root(op *ast.OperationDefinition) *ast.Definition {
	if op.Operation == ast.Mutation {
		return s.schema.Mutation
	}
	return s.schema.Query
}

// checkLimits checks what GitHub demands of connections: first or last, at most 100, and at most 500,000 nodes in all.
func (s *spec) checkLimits(op *ast.OperationDefinition, vars map[string]any) []string {
	l := &limits{vars: vars}
	l.selection(op.SelectionSet, 1)
	if l.nodes > maxNodes {
		l.problems = append(l.problems, fmt.Sprintf("query asks for up to %d nodes, GitHub's limit is %d", l.nodes, maxNodes))
	}
	return l.problems
}

type limits struct {
	vars     map[string]any
	nodes    int64
	problems []string
}

func (l *limits) selection(set ast.SelectionSet, times int64) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			l.field(sel, times)
		case *ast.InlineFragment:
			l.selection(sel.SelectionSet, times)
		case *ast.FragmentSpread:
			l.selection(sel.Definition.SelectionSet, times)
		}
	}
}

func (l *limits) field(f *ast.Field, times int64) {
	if f.Definition == nil || f.Definition.Arguments.ForName("first") == nil || f.Definition.Arguments.ForName("last") == nil {
		l.selection(f.SelectionSet, times)
		return
	}
	args := f.ArgumentMap(l.vars)
	n, ok := count(args["first"])
	if !ok {
		n, ok = count(args["last"])
	}
	switch {
	case !ok:
		l.problems = append(l.problems, fmt.Sprintf("connection %q has neither first nor last", f.Name))
	case n < 1 || n > maxFirst:
		l.problems = append(l.problems, fmt.Sprintf("connection %q asks for %d nodes, GitHub gives 1 to %d", f.Name, n, maxFirst))
	}
	l.nodes += times * n
	l.selection(f.SelectionSet, times*max(n, 1))
}

func count(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return int64(v), true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}
