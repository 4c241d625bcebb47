package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/google/go-github/v60/github"
)

// Kind says what a failed call to GitHub means for who made it.
type Kind string

// The kinds of failure.
const (
	// Refused: GitHub understood and says no. The same call on the same state would be refused again.
	Refused Kind = "refused"
	// Transient: the same call may well work in a moment. Whether a write was done is not known.
	Transient Kind = "transient"
	// AlreadyMerged: the pull request was merged before, by whomever; Merge gives the merge's commit beside it if known.
	AlreadyMerged Kind = "already merged"
	// Limited: GitHub's limits or our own pace. Nothing was sent, or GitHub did nothing. Come back at Until.
	Limited Kind = "limited"
	// Gone: what was named is not there (any more), or not for us. From Observe: the repository or the installation.
	Gone Kind = "gone"
	// Unauthorized: GitHub does not take our key or token, a fresh token included.
	Unauthorized Kind = "unauthorized"
)

// Error is a failed call to GitHub. Branch on it with errors.As.
type Error struct {
	Kind   Kind
	Until  time.Time // Limited: when to come back; else zero
	Reason string    // for people, one line; GitHub's own words if it gave any (hostile text)
	Err    error     // what lies below; may be nil

	// Setup says, where nothing works for anybody, what is wrong with the address of GitHub, the way to it or the App's key: in words of our
	// own, without GitHub's; "": nothing of that.
	Setup    string
	Code     int    // of the answer; 0: none, or its code says nothing
	Request  string // GitHub's id of the request, for its support; "": there was no answer
	Foreseen bool   // Limited: sluice keeps a limit of GitHub's, and asked GitHub nothing; for what is more urgent there may be room
	Requests bool   // Foreseen: it is one on requests beside GraphQL; else on its points
}

// Error implements error. It is for the log: Reason has no id that differs each time.
func (e *Error) Error() string {
	until, request := "", ""
	if e.Kind == Limited {
		until = " until " + e.Until.UTC().Format(time.RFC3339)
	}
	if e.Request != "" {
		request = " (GitHub's request " + e.Request + ")"
	}
	return cmp.Or(wordsOfKind[e.Kind], string(e.Kind)) + until + ": " + e.Reason + request
}

// requestID is what GitHub's ids of requests look like. Others are not repeated.
var requestID = regexp.MustCompile(`^[A-Za-z0-9:._-]{1,100}$`)

// requestOf is GitHub's id of the request that an answer is to; "" if it says none.
func requestOf(h http.Header) string {
	if id := h.Get("X-GitHub-Request-Id"); requestID.MatchString(id) {
		return id
	}
	return ""
}

// from is the error with GitHub's id of the request, as an answer's header has it.
func (e *Error) from(h http.Header) *Error {
	e.Request = requestOf(h)
	return e
}

// Unwrap gives what lies below.
func (e *Error) Unwrap() error { return e.Err }

// ErrHeavy is below an Error of a query that may work with a smaller page.
var ErrHeavy = errors.New("too heavy")

// ErrInstallation is below an Error that befalls all that an installation may do; ErrRepository, below one of the query about the
// repository itself; ErrSilent, below one of a request without an answer.
var (
	ErrInstallation = errors.New("the installation")
	ErrRepository   = errors.New("the repository")
	ErrSilent       = errors.New("no answer")
)

// NewTransient is the error of a call that may well work in a moment.
func NewTransient(reason string, err error) *Error {
	return &Error{Kind: Transient, Reason: reason, Err: err}
}

// Empty is the error of an answer that lacks what it must have.
func Empty() *Error { return NewTransient(wordEmpty, nil) }

// Unreadable is the error of an answer that cannot be understood.
func Unreadable(err error) *Error { return NewTransient(wordUnreadable, err) }

// ShortList is the error of a list that has fewer entries than GitHub counts.
func ShortList(err error) *Error { return NewTransient(wordShortList, err) }

// NotThere is the error of what is not there, or not for us.
func NotThere() *Error { return &Error{Kind: Gone, Reason: wordNotThere} }

// Wrap names the operation and sorts the error of a call into a Kind. A context that was ended from outside stays what
// it is: that is no word about GitHub.
func Wrap(ctx context.Context, op string, err error) error {
	if err = sorted(ctx, err); err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}

// sorted is Wrap where another operation names itself.
func sorted(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return Judge(err)
}

// in is the Error in err; the zero value: there is none.
func in(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{}
}

// KindOf is what a failed call to GitHub means; "" if it does not say.
func KindOf(err error) Kind { return in(err).Kind }

// SetupOf is what an error says to be wrong for everybody (Error.Setup); "": nothing.
func SetupOf(err error) string { return in(err).Setup }

// ReasonOf is an error in the words for people.
func ReasonOf(err error) string { return cmp.Or(in(err).Reason, err.Error()) }

// LimitOf gives GitHub's limit in an error; nil if it is none.
func LimitOf(err error) *Error {
	if e := in(err); e.Kind == Limited {
		return e
	}
	return nil
}

// Judge gives the Error in err, or makes the one that err stands for.
func Judge(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return errorOf(answer.Response.StatusCode, answer.Message, err).from(answer.Response.Header)
	}
	if errors.Is(err, errTooLong) {
		return NewTransient(wordTooLong, ErrHeavy)
	}
	// What is left never became an answer: refused connections, time-outs, bodies that break off or are no JSON.
	cause := err
	var request *url.Error
	if errors.As(err, &request) {
		cause = request.Err // people read the reason in a status: where we asked is nobody's business
	}
	return NewTransient(wordNoAnswer+": "+OneLine(cause.Error()), errors.Join(err, ErrSilent))
}

// errorOf is the Error that a status code stands for, with GitHub's message.
func errorOf(code int, message string, err error) *Error {
	reason := cmp.Or(OneLine(message), fmt.Sprintf("%d %s", code, http.StatusText(code)))
	kind := Refused
	switch {
	case code == http.StatusUnauthorized:
		kind = Unauthorized
	case code == http.StatusNotFound, code == http.StatusGone:
		kind = Gone
	case code == http.StatusForbidden && says(message, phrasesSuspended):
		kind, err = Gone, errors.Join(err, ErrInstallation)
	case code == http.StatusMethodNotAllowed && says(message, phrasesTransient):
		kind = Transient
	case code == http.StatusConflict && says(message, phrasesOutdated):
		kind = Refused
	case code == http.StatusConflict, code >= 500, code == http.StatusRequestTimeout:
		kind = Transient
	}
	if code == http.StatusBadGateway || code == http.StatusGatewayTimeout {
		err = errors.Join(err, ErrHeavy)
	}
	return &Error{Kind: kind, Reason: reason, Code: code, Err: err}
}

// Outdated reports whether a merge was refused because its head is not up to date with a strict base.
func Outdated(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == http.StatusConflict || e.Code == http.StatusMethodNotAllowed) && says(e.Reason, phrasesOutdated)
}

// Absent reports whether a ref is not there (any more): GitHub says 404 to who reads it and 422 to who deletes it.
func Absent(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == http.StatusNotFound || e.Code == http.StatusUnprocessableEntity && says(e.Reason, phrasesAbsent))
}
