package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"github.com/sluicegate/sluice/internal/standin"
)

//go:embed schema.graphql
var schemaText string

// schema is what GraphQL is served by, with the table of fields.go.
var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})

// document is the text of a query as it was read: it is never written to.
type document struct {
	*ast.QueryDocument
	wrong gqlerror.List // by the schema, or it could not be read
}

// Bounds on queries; GitHub has its own, in nodes: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	maxTokens = 500_000
	maxKnown  = 200 // documents that are kept
	maxFirst  = 100
)

// document reads a query.
func (s *Server) document(text string) document {
	d, _ := s.queries.Get(text, func() (document, error) {
		doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
		if err != nil {
			return document{&ast.QueryDocument{}, gqlerror.List{gqlerror.WrapIfUnwrapped(err)}}, nil
		}
		return document{doc, validator.ValidateWithRules(schema, doc, nil)}, nil
	})
	return d
}

// serveGraphQL answers one query. Errors of a query come with 200, those of credentials and limits as in REST.
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	who, err := s.who(r)
	if err == nil && who.app {
		err = errNoCredentials
	}
	if err != nil {
		fail(w, err)
		return
	}
	var q struct {
		Query         string         `json:"query"`
		OperationName string         `json:"operationName"`
		Variables     map[string]any `json:"variables"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil {
		fail(w, standin.Refuse(http.StatusBadRequest, msgBadJSON))
		return
	}
	doc := s.document(q.Query)
	op := doc.Operations.ForName(q.OperationName)
	c := costOf(doc.QueryDocument, op, q.Variables)
	cost := price{hour: c.points(), minute: readPoints}
	if op != nil && op.Operation == ast.Mutation {
		cost.minute = writePoints * max(1, len(op.SelectionSet)) // of several GitHub says nothing
	}
	var out object
	switch limit := s.limits.charge(w.Header(), limitKey{who.installation, "graphql"}, cost, s.Now()); {
	case limit == limitHour: // with 200, other than in REST
		out = wrong(GraphQLError{Type: "RATE_LIMITED", Message: fmt.Sprintf(msgPrimaryLimit, who.installation)})
	case limit != "":
		tooMany(w)
		return
	case c.nodes > maxNodes:
		out = wrong(GraphQLError{Type: "MAX_NODE_LIMIT_EXCEEDED", Message: fmt.Sprintf(msgManyNodes, thousands(c.nodes), thousands(maxNodes))})
	default:
		out = execute(newView(s, who, c), doc, op, q.Variables)
	}
	answer{status: http.StatusOK, body: out}.write(w)
}

// wrong is an answer without data.
func wrong[E any](errs ...E) object { return object{"errors": errs} }

// execute answers an operation; without data if it does not fit the schema.
func execute(l *view, doc document, op *ast.OperationDefinition, variables map[string]any) object {
	if len(doc.wrong) > 0 {
		return wrong(each(doc.wrong, func(e *gqlerror.Error) object { return object{"message": e.Message, "locations": e.Locations} })...)
	}
	if op == nil {
		return wrong(GraphQLError{Message: "An operation name is required"})
	}
	vars, err := validator.VariableValues(schema, op, variables)
	if err != nil {
		return wrong(GraphQLError{Message: err.Error()})
	}
	root := schema.Query
	if op.Operation == ast.Mutation {
		root = schema.Mutation
	}
	x := &execution{vars: vars, selected: map[selectionKey][]*ast.Field{}}
	if !x.object(l, root.Name, op.SelectionSet, nil) {
		x.out.WriteString("null")
	}
	out := object{"data": json.RawMessage(x.out.Bytes())}
	if len(x.errs) > 0 {
		out["errors"] = x.errs
	}
	return out
}

func (e GraphQLError) Error() string { return e.Message }

func unresolved(format string, args ...any) error {
	return GraphQLError{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve "+format, args...)}
}

// connection is any of GraphQL's connections.
type connection struct {
	nodes            []any
	end              any // the last one's cursor; nil of none
	more             bool
	total            int
	checks, statuses int // of a rollup's contexts
}

func cut[T any](name string, a arguments, list []T) (*connection, error) {
	return cutAs(name, a, list, func(one T) T { return one })
}

// cutAs gives the asked part of a list, each as show has it. A cursor is a node's place in the list, so that lists that only grow can
// be paged while they do.
func cutAs[T, V any](name string, a arguments, list []T, show func(T) V) (*connection, error) {
	n, last, err := size(name, a)
	if err != nil {
		return nil, err
	}
	to := len(list)
	from := min(to, place(a.text("after"))+1)
	if last {
		from = max(from, to-n)
	}
	to = min(to, from+n)
	c := &connection{nodes: make([]any, 0, to-from), more: to < len(list), total: len(list)}
	for _, one := range list[from:to] {
		c.nodes = append(c.nodes, show(one))
	}
	if to > from {
		c.end = strconv.Itoa(to - 1)
	}
	return c, nil
}

// place is where a cursor is; -1 of none.
func place(cursor string) int {
	if n, err := strconv.Atoi(cursor); err == nil {
		return max(n, -1)
	}
	return -1
}

// size is how many nodes are asked for; GitHub demands it, 100 at most.
func size(name string, a arguments) (n int, last bool, err error) {
	n, first := a.number("first")
	if !first {
		n, last = a.number("last")
	}
	if !first && !last {
		return 0, false, GraphQLError{
			Type:    "MISSING_PAGINATION_BOUNDARIES",
			Message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name),
		}
	}
	if n < 0 || n > maxFirst {
		return 0, false, GraphQLError{
			Type:    "EXCESSIVE_PAGINATION",
			Message: fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", n, name, map[bool]string{true: "first", false: "last"}[first], maxFirst),
		}
	}
	return n, last, nil
}
