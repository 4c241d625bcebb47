package forge

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// query is one GraphQL operation under construction: its variables are declared as they are given.
type query struct {
	name      string
	declared  []string
	vars      map[string]any
	selection strings.Builder   // inside repository { }
	own       map[string]string // its own fragments, by name
}

// newQuery begins a query about one repository.
func newQuery(name, owner, repo string) *query {
	q := &query{name: name, vars: map[string]any{}, own: map[string]string{}}
	q.let("owner", "String!", owner)
	q.let("name", "String!", repo)
	return q
}

// let declares a variable, if it is not there yet, and gives its name as the query spells it.
func (q *query) let(name, typ string, value any) string {
	if _, ok := q.vars[name]; !ok {
		q.declared = append(q.declared, "$"+name+": "+typ)
	}
	q.vars[name] = value
	return "$" + name
}

// cursor declares where a page of a list begins; "": at its beginning.
func (q *query) cursor(name, after string) string {
	if after == "" {
		return q.let(name, "String", nil)
	}
	return q.let(name, "String", after)
}

// add adds to what is asked of the repository.
func (q *query) add(format string, args ...any) {
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

// define gives a query fragments that others have otherwise, or not.
func (q *query) define(texts ...string) { maps.Copy(q.own, byName(texts...)) }

// operation is the query as it is sent.
func (q *query) operation() client.Query {
	return client.Query{Name: q.name, Text: q.text(), Vars: q.vars}
}

// text is the whole operation, with the fragments that it spreads, each once: GitHub refuses one that nothing uses.
func (q *query) text() string {
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

// objectsQuery asks which of some objects, named as git does (REV:PATH), are there; with texts for their contents too.
func objectsQuery(owner, name string, expressions []string, content objectContent) *query {
	q := newQuery("objects", owner, name)
	for i, e := range expressions {
		v := q.let(fmt.Sprintf("o%d", i), "String!", e)
		q.add("o%d: object(expression: %s) { %s }", i, v, content)
	}
	return q
}

// objectContent is what is asked of an object.
type objectContent string

const (
	objectType objectContent = "__typename"
	objectText objectContent = "...text"
)

const (
	maxAliases = 300 // objects asked for by name in one query
	maxChecks  = 100 // statuses and check runs of a page
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

// treeOf names a commit's tree as git does: where it is shown, what is not shown in it is not there.
func treeOf(sha plan.SHA) string { return string(sha) + "^{tree}" }

// shown gives an error if a tree is not shown under an alias.
func shown(named client.Answers, alias string) error {
	tree, err := client.Find[rawObject](named, alias)
	if err == nil && tree == nil {
		err = client.NewTransient(wordNoTree, nil)
	}
	return err
}

// statusesFragment is what was reported on a commit by statuses.
const statusesFragment = "\nfragment statuses on Commit { status { contexts { ...status } } }"

// addCommits asks for commits by their names.
func addCommits(q *query, alias, fragment string, commits []plan.SHA) {
	for i, sha := range commits {
		v := q.let(fmt.Sprintf("%s%d", alias, i), "GitObjectID!", string(sha))
		q.add("%s%d: object(oid: %s) { ... on Commit { oid ...%s } }", alias, i, v, fragment)
	}
}
