package look

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// Query is one GraphQL operation under construction: its variables are declared as they are given.
type Query struct {
	name      string
	declared  []string
	vars      map[string]any
	selection strings.Builder   // inside repository { }
	own       map[string]string // its own fragments, by name
}

// NewQuery begins a query about one repository.
func NewQuery(name, owner, repo string) *Query {
	q := &Query{name: name, vars: map[string]any{}, own: map[string]string{}}
	q.Let("owner", "String!", owner)
	q.Let("name", "String!", repo)
	return q
}

// Let declares a variable, if it is not there yet, and gives its name as the query spells it.
func (q *Query) Let(name, typ string, value any) string {
	if _, ok := q.vars[name]; !ok {
		q.declared = append(q.declared, "$"+name+": "+typ)
	}
	q.vars[name] = value
	return "$" + name
}

// Cursor declares where a page of a list begins; "": at its beginning.
func (q *Query) Cursor(name, after string) string {
	if after == "" {
		return q.Let(name, "String", nil)
	}
	return q.Let(name, "String", after)
}

// Add adds to what is asked of the repository.
func (q *Query) Add(format string, args ...any) {
	fmt.Fprintf(&q.selection, "  "+format+"\n", args...)
}

// fragments are what queries of all kinds spread, by name.
var fragments = byName(checkFragment, actorFragment, statusFragment, statusesFragment, textFragment)

var (
	fragmentName = regexp.MustCompile(`^\s*fragment ([a-z]+) on `)
	spreadName   = regexp.MustCompile(`\.\.\.([a-z]+)`)
)

// byName are fragments by their names.
func byName(texts ...string) map[string]string {
	all := map[string]string{}
	for _, text := range texts {
		all[fragmentName.FindStringSubmatch(text)[1]] = text
	}
	return all
}

// Define gives a query fragments that others have otherwise, or not.
func (q *Query) Define(texts ...string) { maps.Copy(q.own, byName(texts...)) }

// Operation is the query as it is sent.
func (q *Query) Operation() client.Query {
	return client.Query{Name: q.name, Text: q.text(), Vars: q.vars}
}

// text is the whole operation, with the fragments that it spreads, each once: GitHub refuses one that nothing uses.
func (q *Query) text() string {
	text := fmt.Sprintf("query %s(%s) {\nrepository(owner: $owner, name: $name) {\n%s}\nrateLimit { cost }\n}",
		q.name, strings.Join(q.declared, ", "), q.selection.String())
	has := map[string]bool{}
	for rest := q.selection.String(); rest != ""; {
		next := ""
		for _, m := range spreadName.FindAllStringSubmatch(rest, -1) {
			if !has[m[1]] {
				has[m[1]] = true
				next += cmp.Or(q.own[m[1]], fragments[m[1]])
			}
		}
		text, rest = text+next, next
	}
	return text
}

// ObjectsQuery asks which of some objects, named as git does (REV:PATH), are there; with texts for their contents too.
func ObjectsQuery(owner, name string, expressions []string, content objectContent) *Query {
	q := NewQuery("objects", owner, name)
	for i, e := range expressions {
		v := q.Let(fmt.Sprintf("o%d", i), "String!", e)
		q.Add("o%d: object(expression: %s) { %s }", i, v, content)
	}
	return q
}

// objectContent is what is asked of an object.
type objectContent string

// What is asked of an object: of what type it is, or its text too.
const (
	ObjectType objectContent = "__typename"
	ObjectText objectContent = "...text"
)

// What one query may hold.
const (
	MaxAliases = 300 // objects asked for by name in one query
	MaxChecks  = 100 // statuses and check runs of a page
)

// A check run's workflow is not asked for: it stands behind another permission (actions: read), without which GitHub
// answers the whole query with an error.
const checkFragment = `
fragment check on StatusCheckRollupContext {
  __typename
  ... on StatusContext { ...status }
  ... on CheckRun { name status conclusion startedAt completedAt checkSuite { app { databaseId slug } } }
}`

const (
	actorFragment  = "\nfragment actor on Actor { __typename login }"
	statusFragment = "\nfragment status on StatusContext { context state description createdAt creator { ...actor } }"
	textFragment   = "\nfragment text on GitObject { __typename oid ... on Blob { byteSize isBinary isTruncated text } }"
)

// TreeOf names a commit's tree as git does: where it is shown, what is not shown in it is not there.
func TreeOf(sha plan.SHA) string { return string(sha) + "^{tree}" }

// Shown gives an error if a tree is not shown under an alias.
func Shown(named client.Answers, alias string) error {
	tree, err := client.Find[RawObject](named, alias)
	if err == nil && tree == nil {
		err = client.NewTransient(wordNoTree, nil)
	}
	return err
}

// statusesFragment is what was reported on a commit by statuses.
const statusesFragment = "\nfragment statuses on Commit { status { contexts { ...status } } }"

// AddCommits asks for commits by their names.
func AddCommits(q *Query, alias, fragment string, commits []plan.SHA) {
	for i, sha := range commits {
		v := q.Let(fmt.Sprintf("%s%d", alias, i), "GitObjectID!", string(sha))
		q.Add("%s%d: object(oid: %s) { ... on Commit { oid ...%s } }", alias, i, v, fragment)
	}
}
