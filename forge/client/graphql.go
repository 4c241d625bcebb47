package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"

	json "github.com/go-json-experiment/json/v1" // encoding/json as it is from Go 1.27 on, which reads several times as fast
	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/budget"
)

// Installation speaks for one installation, or with installation 0 for the App itself.
type Installation struct {
	rest    *github.Client
	http    *http.Client
	graphQL string
	limits  limits
	schema  *schema
	now     func() time.Time
	signer  *tokenSigner // nil: it has no token
}

// Reply is a whole answer to a query about a repository.
type Reply struct {
	Repository map[string]json.RawMessage
	Cost       int       // points of the hour
	sent, got  time.Time // on our clock
	date       time.Time // on GitHub's; zero if it did not say

	// Holes are errors about what stands under one alias, or in one entry of the list of pull requests ("n3"): that part is not
	// known, and what is shown of it may look like an absence.
	Holes map[string]*Error
}

// Query is a query about one repository, by the name of its operation. Its text asks for rateLimit { cost }, too.
type Query struct {
	Name, Text string
	Vars       map[string]any
}

type envelope struct {
	Data *struct {
		Repository map[string]json.RawMessage
		RateLimit  *struct{ Cost int }
	}
	Errors []graphError
}

// graphError is one error within an answer.
type graphError struct {
	Type, Code string
	Message    string
	Path       []any
	Extensions struct{ Code, TypeName, FieldName string }
}

// Ask sends a query. Data beside errors is not used: a hole in it would look like an absence. What may be absent, or unknown, is told
// by absentFile and unreadRules.
func (c *Installation) Ask(ctx context.Context, q Query) (Reply, error) {
	r, err := c.AskParts(ctx, q)
	for _, hole := range r.Holes {
		return Reply{}, Wrap(ctx, "query "+q.Name, hole)
	}
	return r, err
}

// AskParts is Ask for a query about many parts: errors about single ones leave holes.
func (c *Installation) AskParts(ctx context.Context, q Query) (Reply, error) {
	r, err := c.ask(ctx, q)
	c.schema.learn(q.Name, err)
	return r, err
}

func (c *Installation) ask(ctx context.Context, q Query) (Reply, error) {
	body, err := json.Marshal(map[string]any{"query": q.Text, "variables": q.Vars})
	if err != nil {
		return Reply{}, fmt.Errorf("query %s: %w", q.Name, err)
	}
	r := Reply{sent: c.now()}
	data, header, err := c.post(withQuery(ctx, q.Name), body)
	if err != nil {
		return Reply{}, Wrap(ctx, "query "+q.Name, err)
	}
	r.got = c.now()
	if t, err := http.ParseTime(header.Get("Date")); err == nil {
		r.date = t
	}
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return Reply{}, Wrap(ctx, "query "+q.Name, Unreadable(err).from(header))
	}
	if r.Holes, err = c.sortOut(e.Errors, header); err != nil {
		return Reply{}, Wrap(ctx, "query "+q.Name, err)
	}
	if e.Data == nil {
		return Reply{}, Wrap(ctx, "query "+q.Name, Empty().from(header))
	}
	if e.Data.Repository == nil {
		if len(r.Holes) > 0 { // a part could not be shown, and took the rest with it
			return Reply{}, Wrap(ctx, "query "+q.Name, Empty().from(header))
		}
		return Reply{}, Wrap(ctx, "query "+q.Name, &Error{Kind: Gone, Reason: wordNotThere, Err: ErrRepository})
	}
	if e.Data.RateLimit != nil {
		r.Cost = e.Data.RateLimit.Cost
		c.limits.Learn(q.Name, r.Cost)
	}
	r.Repository = e.Data.Repository
	return r, nil
}

// post sends a body to GraphQL and gives the body of an answer. What does not fit the schema some servers answer with 400 or 422, and a
// limit may come with any code.
func (c *Installation) post(ctx context.Context, body []byte) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graphQL, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, slow(err)
	}
	defer closeBody(resp.Body)
	data, err := io.ReadAll(resp.Body)
	errs := errorsOf(data)
	_, limited := limitIn(errs, resp.Header)
	switch code, first := resp.StatusCode, firstOf(errs); {
	case code == http.StatusOK, limited, first != "" && (code == http.StatusBadRequest || code == http.StatusUnprocessableEntity):
		return data, resp.Header, slow(err)
	case code >= http.StatusInternalServerError && says(first, phrasesHeavy):
		return nil, nil, errorOf(code, first, ErrHeavy).from(resp.Header)
	default:
		return nil, nil, errorOf(code, cmp.Or(messageOf(data), first), nil).from(resp.Header)
	}
}

// errorsOf are the errors within a GraphQL answer.
func errorsOf(body []byte) []graphError {
	var e struct{ Errors []graphError }
	if json.Unmarshal(body, &e) != nil {
		return nil
	}
	return e.Errors
}

// firstOf is the message of the first error; "" if there is none.
func firstOf(errs []graphError) string {
	if len(errs) == 0 {
		return ""
	}
	return errs[0].Message
}

// limitIn gives the limit that one of the errors of an answer is, whatever points its headers say are left.
func limitIn(errs []graphError, header http.Header) (answer, bool) {
	for _, e := range errs {
		switch {
		case e.limited():
			return answer{budget.Answer{Code: http.StatusOK, Header: header, GraphQL: true, Of: budget.GraphQL}, e.Message}, true
		case e.Type == "" && len(e.Path) == 0 && !e.unfit() && says(e.Message, phrasesLimited): // a secondary one
			return answer{budget.Answer{Code: http.StatusForbidden, Header: header, Of: budget.GraphQL}, e.Message}, true
		}
	}
	return answer{}, false
}

// namesOfLimit are GitHub's names of GraphQL's own limit, as type or code of an error (yanyongyu/githubkit#271).
var namesOfLimit = []string{"RATE_LIMITED", "RATE_LIMIT", "graphql_rate_limit"}

// limited reports whether an error is that limit.
func (e graphError) limited() bool {
	return slices.ContainsFunc([]string{e.Type, e.Code, e.Extensions.Code}, func(name string) bool { return slices.Contains(namesOfLimit, name) })
}

// slow marks a time-out as a query that may work with a smaller page.
func slow(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return NewTransient(wordNoAnswer, errors.Join(err, ErrHeavy))
	}
	return err
}

// messageOf is the message of a JSON refusal; of anything else, an HTML page above all, nothing.
func messageOf(body []byte) string { return errorBodyOf(body).Message }

// errorBody is the body of a JSON refusal.
type errorBody struct {
	Message       string
	Documentation string `json:"documentation_url"`
}

func errorBodyOf(body []byte) (b errorBody) {
	if json.Unmarshal(body, &b) != nil {
		return errorBody{}
	}
	return b
}

// sortOut sorts the errors of an answer: those about one part are holes, and of the others the worst decides.
func (c *Installation) sortOut(errs []graphError, header http.Header) (map[string]*Error, error) {
	if a, ok := limitIn(errs, header); ok {
		return nil, c.limits.see(a, c.now())
	}
	var worst *Error
	holes := map[string]*Error{}
	for _, e := range errs {
		if e.absentFile() || e.unreadRules() {
			continue
		}
		k := e.judge().from(header)
		if name, ok := e.part(); ok && !errors.Is(k, ErrHeavy) {
			holes[name] = k
			continue
		}
		if worst == nil || k.Kind == Gone {
			worst = k
		}
	}
	if worst == nil {
		return holes, nil
	}
	return nil, worst
}

// alias is the name of one part in a query.
var alias = regexp.MustCompile(`^[a-z][0-9]+$`)

// part gives the alias that an error is about, or the entry of the list of pull requests; false if it is about more.
func (e graphError) part() (string, bool) {
	if len(e.Path) < 2 || e.Path[0] != "repository" {
		return "", false
	}
	name, _ := e.Path[1].(string)
	if alias.MatchString(name) {
		return name, true
	}
	if len(e.Path) > 3 && name == "pullRequests" && e.Path[2] == "nodes" {
		if i, ok := e.Path[3].(float64); ok {
			return Entry(int(i)), true
		}
	}
	return "", false
}

// Entry is the name of a hole in the list of pull requests.
func Entry(i int) string { return fmt.Sprintf("n%d", i) }

// absentFile reports whether this is the one error that is an answer: the tip has no file of ours.
func (e graphError) absentFile() bool {
	return e.Type == "NOT_FOUND" && len(e.Path) > 0 && e.Path[len(e.Path)-1] == "file"
}

// unreadRules reports whether an error concerns a branch's list of rules, and so nothing else: the list alone is not known.
func (e graphError) unreadRules() bool {
	return !e.unfit() && len(e.Path) > rulesetsDepth && e.Path[rulesetsDepth] == "rules"
}

// rulesetsDepth is where a branch's list of rules stands in a path: below the repository and the branch's alias.
const rulesetsDepth = 2

// unfit reports whether the text does not fit the schema: nothing was done. GitHub gives its own refusals a type instead.
func (e graphError) unfit() bool { return e.Extensions.Code != "" && e.Type == "" }

// judge is the Error that an error of an answer stands for.
func (e graphError) judge() *Error {
	reason := OneLine(e.Message)
	switch e.Type {
	case "NOT_FOUND":
		if len(e.Path) == 1 && e.Path[0] == "repository" {
			return &Error{Kind: Gone, Reason: reason, Err: ErrRepository}
		}
		return &Error{Kind: Gone, Reason: reason}
	case "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE":
		return &Error{Kind: Refused, Reason: reason}
	case "MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED":
		return NewTransient(reason, ErrHeavy)
	case "SERVICE_UNAVAILABLE", "INTERNAL":
		return NewTransient(reason, ErrHeavy)
	}
	if says(e.Message, phrasesHeavy) {
		return NewTransient(reason, ErrHeavy)
	}
	if e.unfit() {
		return &Error{Kind: Refused, Reason: sayLacks(string(e.missing())), Err: e.missing()}
	}
	if e.Type != "" {
		return &Error{Kind: Refused, Reason: reason}
	}
	return NewTransient(reason, nil)
}

// Into decodes what was asked of the repository, but for what stands under aliases.
func (r Reply) Into(v any) error {
	few := maps.Clone(r.Repository)
	maps.DeleteFunc(few, func(name string, _ json.RawMessage) bool { return alias.MatchString(name) })
	data, err := json.Marshal(few)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return Unreadable(err)
	}
	return nil
}

// Answers is what was asked for by alias.
type Answers struct {
	raw   map[string]json.RawMessage
	holes map[string]*Error
}

// Aliases are what was asked for by alias.
func (r Reply) Aliases() Answers { return Answers{r.Repository, r.Holes} }

// Find decodes what stands under an alias; nil for what is not there. What was not answered, or has a hole, is an error.
func Find[T any](a Answers, alias string) (*T, error) {
	if hole := a.holes[alias]; hole != nil {
		return nil, hole
	}
	var v *T
	if err := json.Unmarshal(a.raw[alias], &v); err != nil {
		return nil, Unreadable(err)
	}
	return v, nil
}

// Skew is our clock minus GitHub's, as little as this answer proves.
func (r Reply) Skew() time.Duration { return skewOf(r.date, r.sent, r.got) }
