package standin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

//go:embed schema.graphql
var schemaText string

// graphqlServer serves the schema over the resolvers of the look_*.go files.
type graphqlServer struct {
	schema *graphql.Schema
	turns  chan struct{} // one for each query that is worked on: each is thousands of goroutines, and whoever else runs here waits behind them
}

// Bounds on one query; GitHub has its own, in nodes: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	maxQueryDepth    = 25
	maxQueryParallel = 8
	maxFirst         = 100
)

func (s *graphqlServer) parse(g *GitHub) error {
	text := schemaText
	if g.opts.NoUpdateRefs {
		text = strings.Replace(text, updateRefsField, "", 1)
	}
	if g.opts.NoRefRules {
		text = strings.Replace(text, rulesField, "", 1)
	}
	schema, err := graphql.ParseSchema(text, &queryRoot{g: g},
		graphql.UseFieldResolvers(), graphql.DisableFieldSelections(), graphql.MaxDepth(maxQueryDepth), graphql.MaxParallelism(maxQueryParallel))
	if err != nil {
		return fmt.Errorf("parse GraphQL schema: %w", err)
	}
	s.schema, s.turns = schema, make(chan struct{}, runtime.GOMAXPROCS(0))
	return nil
}

// serveGraphQL answers one query. Errors of a query come with 200, those of credentials and limits as in REST.
func (g *GitHub) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	who, err := g.who(r)
	switch {
	case errors.Is(err, errNoCredentials), err == nil && who.app:
		g.fail(w, refuse(http.StatusUnauthorized, msgAuthRequired))
		return
	case err != nil:
		g.fail(w, err)
		return
	}
	var q struct {
		Query         string         `json:"query"`
		OperationName string         `json:"operationName"`
		Variables     map[string]any `json:"variables"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil {
		g.fail(w, refuse(http.StatusBadRequest, msgBadJSON))
		return
	}
	c := costOf(q.Query, q.Variables)
	b, enough := g.limits.spend(limitKey{who.id, "graphql"}, c.points(), g.now())
	b.header(w.Header())
	points := readPoints
	if op := operation.FindStringSubmatch(q.Query); op != nil && op[1] == "mutation" {
		points = writePoints
	}
	if enough && g.secondary.pass(limitKey{who.id, "graphql"}, points, false, g.now()) != "" {
		g.tooMany(w)
		return
	}
	if !enough { // with 200, other than in REST
		g.secondary.hour()
		e := GraphQLError{Type: "RATE_LIMITED", Message: fmt.Sprintf(msgPrimaryLimit, who.id)}
		answer{status: http.StatusOK, body: object{"errors": []GraphQLError{e}}}.write(w)
		return
	}
	if c.nodes > maxNodes {
		e := GraphQLError{Type: "MAX_NODE_LIMIT_EXCEEDED", Message: fmt.Sprintf(msgManyNodes, thousands(c.nodes), thousands(maxNodes))}
		answer{status: http.StatusOK, body: object{"errors": []GraphQLError{e}}}.write(w)
		return
	}
	ctx := context.WithValue(r.Context(), lookKey{}, newLook(g, who, c))
	g.graphql.turns <- struct{}{}
	result := g.graphql.schema.Exec(ctx, q.Query, q.OperationName, q.Variables)
	<-g.graphql.turns
	answer{status: http.StatusOK, body: asGitHub(result, q.Query)}.write(w)
}

// asGitHub puts the type of an error where GitHub has it.
func asGitHub(r *graphql.Response, query string) object {
	out := object{}
	if len(r.Data) > 0 {
		out["data"] = r.Data
	}
	if len(r.Errors) == 0 {
		return out
	}
	list := []object{}
	for _, e := range r.Errors {
		list = append(list, errorJSON(e, query))
	}
	out["errors"] = list
	return out
}

// noField is how the library refuses a field that the schema does not have; GitHub, which is made with graphql-ruby, has other
// words and a code: https://graphql-ruby.org/errors/validation_errors.html
var noField = regexp.MustCompile(`^Cannot query field "(\w+)" on type "(\w+)"`)

// operation is the head of a query's text.
var operation = regexp.MustCompile(`^\s*(query|mutation)\b\s*(\w*)`)

func errorJSON(e *gqlerrors.QueryError, query string) object {
	o := object{"message": e.Message}
	if m := noField.FindStringSubmatch(e.Message); m != nil {
		o["message"] = fmt.Sprintf(msgNoField, m[1], m[2])
		o["extensions"] = object{"code": "undefinedField", "typeName": m[2], "fieldName": m[1]}
		if op := operation.FindStringSubmatch(query); op != nil && strings.EqualFold(op[1], m[2]) {
			o["path"] = []string{strings.TrimSpace(op[1] + " " + op[2]), m[1]} // deeper ones lie where the library does not tell
		}
	}
	if len(e.Path) > 0 {
		o["path"] = e.Path
	}
	if len(e.Locations) > 0 {
		o["locations"] = e.Locations
	}
	var typed *queryError
	if errors.As(e.ResolverError, &typed) {
		o["type"] = typed.kind
	}
	return o
}

// queryError is a refusal within a query.
type queryError struct{ kind, text string }

// Error implements error.
func (e *queryError) Error() string { return e.text }

func unresolved(format string, args ...any) error {
	return &queryError{"NOT_FOUND", fmt.Sprintf("Could not resolve "+format, args...)}
}

// scalar is the value of any of GitHub's own scalars, which are all strings.
type scalar string

// ImplementsGraphQLType implements graphql-go's decode.Unmarshaler.
func (scalar) ImplementsGraphQLType(name string) bool {
	switch name {
	case "DateTime", "URI", "GitObjectID", "GitRefname", "GitTimestamp", "BigInt":
		return true
	}
	return false
}

// UnmarshalGraphQL implements graphql-go's decode.Unmarshaler.
func (s *scalar) UnmarshalGraphQL(input any) error {
	text, ok := input.(string)
	if !ok {
		return fmt.Errorf("%T is no string", input)
	}
	*s = scalar(text)
	return nil
}

// window is the part of a connection that a query asks for.
type window struct {
	First, Last   *int32
	After, Before *string
}

// pageInfo is GraphQL's PageInfo.
type pageInfo struct {
	EndCursor, StartCursor       *string
	HasNextPage, HasPreviousPage bool
}

// connection is any of GraphQL's connections.
type connection[T any] struct {
	Nodes      *[]T
	PageInfo   pageInfo
	TotalCount int32
}

// cut gives the asked part of a list. A cursor is a node's place in the list, so that lists that only grow can be paged
// while they do.
func cut[T any](name string, w window, list []T) (*connection[T], error) {
	n, err := w.size(name)
	if err != nil {
		return nil, err
	}
	from, to := 0, len(list)
	if w.After != nil {
		from = min(to, place(*w.After)+1)
	}
	if w.Before != nil {
		to = max(from, min(to, place(*w.Before)))
	}
	if w.First != nil {
		to = min(to, from+n)
	} else {
		from = max(from, to-n)
	}
	part := list[from:to]
	c := &connection[T]{Nodes: &part, TotalCount: int32(len(list))} // lists are far shorter than 2^31
	c.PageInfo.HasPreviousPage, c.PageInfo.HasNextPage = from > 0, to < len(list)
	if len(part) > 0 {
		start, end := strconv.Itoa(from), strconv.Itoa(to-1)
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &start, &end
	}
	return c, nil
}

func place(cursor string) int {
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// size is how many nodes are asked for; GitHub wants that said, and no more than 100.
func (w window) size(name string) (int, error) {
	n, arg := w.First, "first"
	if n == nil {
		n, arg = w.Last, "last"
	}
	if n == nil {
		return 0, &queryError{
			"MISSING_PAGINATION_BOUNDARIES",
			fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name),
		}
	}
	if *n < 0 || *n > maxFirst {
		return 0, &queryError{
			"EXCESSIVE_PAGINATION",
			fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", *n, name, arg, maxFirst),
		}
	}
	return int(*n), nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
