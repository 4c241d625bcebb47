package standin

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What a query costs: one request for every connection and every node that holds it, as if every list were as long as it may
// be; a hundred requests are one point, and the least is one.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#predicting-the-point-value-of-a-query

const (
	requestsPerPoint = 100
	maxNodes         = 500_000
	// maxCounted bounds the selections that are counted: fragments within fragments can be told in few words.
	maxCounted = 100_000
	// maxCount keeps counts far from overflowing; it is over every limit.
	maxCount = 1 << 40
)

// cost is what a query asks for.
type cost struct{ requests, nodes int64 }

func (c cost) points() int {
	return max(1, int(math.Round(float64(c.requests)/requestsPerPoint)))
}

// selection is a part of a query: a field with its list's length, a spread fragment, or both empty for an inline one.
type selection struct {
	size   string // of a connection: the value of first or last, a number or a variable
	spread string
	below  []selection
}

// document is a query as far as its cost goes. It need not be valid; what is wrong with it is told by who executes it.
type document struct {
	tokens     []string
	operations [][]selection
	fragments  map[string][]selection
	defaults   map[string]string // of variables
}

var graphqlToken = regexp.MustCompile(`"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|\.\.\.|[A-Za-z_]\w*|-?\d[\d.eE+-]*|[{}()\[\]:=!|@&$]`)

// costOf counts what a query asks for. A query that cannot be read costs nothing beyond the least.
func costOf(text string, variables map[string]any) cost {
	d := &document{fragments: map[string][]selection{}, defaults: map[string]string{}}
	d.tokens = slices.DeleteFunc(graphqlToken.FindAllString(text, -1), func(t string) bool { return t[0] == '#' })
	for len(d.tokens) > 0 {
		d.definition()
	}
	m := &meter{document: d, variables: variables}
	for _, op := range d.operations { // the others of a document are rare, and then it costs too much
		m.count(op, 1, 0)
	}
	return m.cost
}

func (d *document) next() string {
	if len(d.tokens) == 0 {
		return ""
	}
	t := d.tokens[0]
	d.tokens = d.tokens[1:]
	return t
}

func (d *document) peek() string {
	if len(d.tokens) == 0 {
		return ""
	}
	return d.tokens[0]
}

// definition reads an operation or a fragment.
func (d *document) definition() {
	kind, name := d.next(), ""
	if kind == "fragment" {
		name = d.next()
	}
	for kind != "{" && len(d.tokens) > 0 && d.peek() != "{" {
		if d.next() == "(" {
			d.variables()
		}
	}
	if kind != "{" {
		d.next()
	}
	if name != "" {
		d.fragments[name] = d.selections(0)
		return
	}
	d.operations = append(d.operations, d.selections(0))
}

// variables reads "$name: Type = default" up to the closing parenthesis.
func (d *document) variables() {
	name := ""
	for depth := 1; depth > 0 && len(d.tokens) > 0; {
		switch d.next() {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			depth--
		case "$":
			name = d.next()
		case "=":
			if depth == 1 {
				d.defaults[name] = d.peek()
			}
		}
	}
}

// selections reads up to the closing brace.
func (d *document) selections(depth int) []selection {
	var list []selection
	for len(d.tokens) > 0 {
		switch t := d.next(); t {
		case "}":
			return list
		case "...":
			list = append(list, d.fragment())
		case "@":
			d.next()
			if d.peek() == "(" {
				d.arguments()
			}
		case "{":
			if below := d.selections(depth + 1); depth < maxQueryDepth && len(list) > 0 {
				list[len(list)-1].below = below
			}
		default:
			if d.peek() == ":" { // it was an alias
				d.next()
				d.next()
			}
			s := selection{}
			if d.peek() == "(" {
				s.size = d.arguments()
			}
			list = append(list, s)
		}
	}
	return list
}

// fragment reads what follows three dots: a name, or a type whose selections come next.
func (d *document) fragment() selection {
	switch d.peek() {
	case "on":
		d.next()
		d.next()
		return selection{}
	case "{", "@":
		return selection{}
	}
	return selection{spread: d.next()}
}

// arguments reads up to the closing parenthesis and gives the value of first, or else of last.
func (d *document) arguments() string {
	d.next()
	size := map[string]string{}
	for depth := 1; depth > 0 && len(d.tokens) > 0; {
		t := d.next()
		switch t {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			depth--
		case "first", "last":
			if depth == 1 && d.peek() == ":" {
				d.next()
				if size[t] = d.next(); size[t] == "$" {
					size[t] += d.next()
				}
			}
		}
	}
	if size["first"] != "" {
		return size["first"]
	}
	return size["last"]
}

// meter adds up what a document asks for.
type meter struct {
	*document
	cost
	variables map[string]any
	counted   int
}

func (m *meter) count(list []selection, times int64, depth int) {
	for _, s := range list {
		if m.counted++; m.counted > maxCounted || depth > maxQueryDepth {
			return
		}
		below := times
		if n, ok := m.length(s.size); ok {
			below = min(maxCount, times*max(1, n))
			m.requests = min(maxCount, m.requests+times)
			m.nodes = min(maxCount, m.nodes+times*n)
		}
		m.count(s.below, below, depth+1)
		if s.spread != "" {
			m.count(m.fragments[s.spread], times, depth+1)
		}
	}
}

// length is how many nodes a connection is asked for, at most as many as one may.
func (m *meter) length(size string) (int64, bool) {
	if name, isVariable := strings.CutPrefix(size, "$"); isVariable {
		if v, ok := m.variables[name].(float64); ok {
			return int64(min(max(v, 0), maxFirst)), true
		}
		size = m.defaults[name]
	}
	n, err := strconv.Atoi(size)
	return int64(min(max(n, 0), maxFirst)), err == nil
}
