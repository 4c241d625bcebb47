package hour

import (
	"errors"
	"net/http"
)

// faults says which requests fail: of every so many one, each in its own way in turn. The zero value: none.
type faults struct {
	each int
	of   []fault
}

// fault is one way to fail.
type fault struct {
	after bool // GitHub does what it is asked, and its answer is lost
	code  int  // of the answer; 0: the connection is cut
	retry string
}

// next is how the n-th request fails; nil: it does not.
func (f faults) next(n int) *fault {
	if f.each == 0 || n%f.each != 0 {
		return nil
	}
	return &f.of[n/f.each%len(f.of)]
}

// badDays: of a thousand requests ten get a 502 before and five after GitHub did what it was asked, five meet a secondary limit, and ten
// lose their connection, half of them after. They are spread evenly: three in a hundred.
var badDays = faults{each: 33, of: []fault{
	{code: http.StatusBadGateway}, {}, {code: http.StatusForbidden, retry: "2"}, {code: http.StatusBadGateway}, {after: true},
	{code: http.StatusBadGateway, after: true},
}}

var errLost = errors.New("connection reset by peer")

// answer is what comes back.
func (f *fault) answer(r *http.Request) (*http.Response, error) {
	if f.code == 0 {
		return nil, errLost
	}
	resp := &http.Response{StatusCode: f.code, Header: http.Header{}, Body: http.NoBody, Request: r}
	if f.retry != "" {
		resp.Header.Set("Retry-After", f.retry)
	}
	return resp, nil
}
