package forge

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/forge/client"
)

// undefined are answers of servers whose schema lacks a field, each in its own way.
func undefined(typ, field string) map[string]answerOf {
	return map[string]answerOf{
		"as GitHub says it": {code: 200, body: `{"errors":[{"message":"Field '` + field + `' doesn't exist on type '` + typ + `'","path":["fragment x","` + field +
			`"],"extensions":{"code":"undefinedField","typeName":"` + typ + `","fieldName":"` + field + `"}}]}`},
		"as others do, with 400": {code: 400, body: `{"errors":[{"message":"Cannot query field \"` + field + `\" on type \"` + typ +
			`\".","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}`},
		"with 422": {code: 422, body: `{"errors":[{"message":"Cannot query field \"` + field + `\" on type \"` + typ +
			`\".","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}`},
	}
}

// TestOldServers: a server whose schema lacks a field is told apart by that field, in one line of the log and in what Lacks gives, until
// it has it.
func TestOldServers(t *testing.T) {
	for name, answer := range undefined("Repository", "isArchived") {
		t.Run(name, func(t *testing.T) {
			old := true
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if old && strings.Contains(body, "isArchived") {
					return answer
				}
				return sayRepo(repoPart(pullPart(1)))(r, body)
			}
			var log bytes.Buffer
			f := hub.forge(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			const want = "GitHub lacks Repository.isArchived: sluice needs Enterprise Server 3.16"
			for range 2 {
				_, err := f.Observe(context.Background(), testRepo, Ask{})
				var e *client.Error
				if !errors.As(err, &e) || e.Kind != client.Refused || e.Reason != want {
					t.Fatal(err)
				}
				if !slices.Equal(f.Lacks(), []string{want}) || strings.Count(log.String(), "Repository.isArchived") != 1 {
					t.Errorf("%q, and the log says\n%s", f.Lacks(), &log)
				}
			}
			old = false
			if observe(t, f, Ask{}); len(f.Lacks()) != 0 {
				t.Errorf("after the upgrade: %q", f.Lacks())
			}
		})
	}
}
