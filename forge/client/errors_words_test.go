package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

// TestErrorsReadAsSentences: an operator reads in the log what was being done and what became of it, in words that are not our types' names.
func TestErrorsReadAsSentences(t *testing.T) {
	for _, tt := range []struct {
		say  func(*http.Request, string) answerOf
		want string
	}{
		{func(*http.Request, string) answerOf {
			return answerOf{code: 502, body: `{"message":"no healthy upstream"}`}
		},
			"list repositories: read the App: temporary error: no healthy upstream"},
		{func(r *http.Request, _ string) answerOf {
			if r.URL.Path == "/app" {
				return answerOf{code: 200, body: `{"slug":"sluice"}`}
			}
			return answerOf{code: 500, body: `{"message":"oops"}`}
		}, "list repositories: list installations: temporary error: oops"},
	} {
		hub := &fake{t: t, say: tt.say}
		_, err := hub.app(nil).Repositories(context.Background())
		var e *Error
		if !errors.As(err, &e) || e.Kind != Transient || err.Error() != tt.want {
			t.Errorf("%v", err)
		}
	}
}
