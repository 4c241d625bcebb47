package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// operationMove is the one mutation that is sent, once or several times in a request.
const operationMove = "updateRefs"

// mutationsKey is where a context holds how many mutations its request carries.
type mutationsKey struct{}

func withMutations(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, mutationsKey{}, n)
}

func mutationsOf(r *http.Request) int {
	n, _ := r.Context().Value(mutationsKey{}).(int)
	return max(n, 1)
}

// mutationAnswer is what GitHub says to mutations: what each gave, by its alias, and what went wrong.
type mutationAnswer struct {
	Data   map[string]json.RawMessage
	Errors []graphError
}

// gave reports whether a mutation has its payload.
func (a mutationAnswer) gave(alias string) bool {
	payload := string(a.Data[alias])
	return payload != "" && payload != "null"
}

// about is the first error with a mutation's path; nil: there is none.
func (a mutationAnswer) about(alias string) *graphError {
	i := slices.IndexFunc(a.Errors, func(e graphError) bool { return len(e.Path) > 0 && e.Path[0] == alias })
	if i < 0 {
		return nil
	}
	return &a.Errors[i]
}

// sendMutations sends so many mutations in one text, which GitHub carries out one after the other.
func (c *Installation) sendMutations(ctx context.Context, mutations int, text string, variables map[string]any) (mutationAnswer, http.Header, error) {
	var a mutationAnswer
	body, err := json.Marshal(map[string]any{"query": text, "variables": variables})
	if err != nil {
		return a, nil, err
	}
	data, header, err := c.post(withMutations(withQuery(ctx, operationMove), mutations), body)
	if err != nil {
		return a, nil, err
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, nil, Unreadable(err).from(header)
	}
	return a, header, nil
}

// Mutate sends a mutation with one input. It was done if GitHub gives its payload without any error. What was sent and not
// answered may be done all the same: that is Transient.
func (c *Installation) Mutate(ctx context.Context, field, text string, input map[string]any) error {
	a, header, err := c.sendMutations(ctx, 1, text, map[string]any{"input": input})
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if err := c.sortOutMutation(a.Errors, header); err != nil {
		return err
	}
	if !a.gave(field) {
		return Empty().from(header)
	}
	return nil
}

// MutateEach sends mutations, each with an input of the name of its alias. What has its payload is done, what has an error with its path is
// refused, and of what has neither, or both, nothing is known; but where GitHub did not understand the text, or its limit came before all of
// it, nothing was done.
func (c *Installation) MutateEach(ctx context.Context, text string, aliases []string, inputs map[string]any) ([]error, error) {
	a, header, err := c.sendMutations(ctx, len(aliases), text, inputs)
	if err != nil {
		return nil, err
	}
	whole := c.sortOutMutation(a.Errors, header)
	limited := whole != nil && Judge(whole).Kind == Limited
	each, known := make([]error, len(aliases)), false
	for i, alias := range aliases {
		e := a.about(alias)
		switch {
		case e == nil && a.gave(alias):
		case e == nil, a.gave(alias), limited:
			each[i] = Empty().from(header)
		default:
			each[i] = cmp.Or(c.sortOutMutation([]graphError{*e}, header), error(Empty()))
		}
		known = known || each[i] == nil || Judge(each[i]).Kind == Refused
	}
	if !known && (limited || errors.As(whole, new(noField))) {
		return nil, whole
	}
	return each, nil
}

// sortOutMutation sorts the errors of a mutation's answer. What GitHub says of the mutation itself is its refusal, whatever type
// it gives or does not give it, unless it is known for a fault.
func (c *Installation) sortOutMutation(errs []graphError, header http.Header) error {
	_, err := c.sortOut(errs, header)
	c.schema.learn(operationMove, err)
	var answer *Error
	if err == nil || !errors.As(err, &answer) {
		return err
	}
	return asRefusal(answer)
}

// asRefusal is the error of a mutation as its refusal, unless it is a limit or a fault. Only here it is known what would help, so the way out is
// part of the reason: whoever shows it adds nothing.
func asRefusal(e *Error) *Error {
	if e.Kind == Limited || errors.Is(e, ErrHeavy) {
		return e
	}
	refused := &Error{Kind: Refused, Reason: e.Reason, Err: e.Err, Request: e.Request}
	if !errors.As(e, new(noField)) { // who may push changes nothing there
		refused.Reason = sayAllowPush(e.Reason)
	}
	return refused
}
