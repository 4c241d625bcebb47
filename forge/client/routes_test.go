package client

import (
	"net/http"
	"testing"
)

// TestRoutes: requests of one kind have one route, which holds no name of anybody's.
func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/repos/acme/fleet/statuses/0123":                      "GET /repos/*/*/statuses/*",
		"/api/v3/repos/acme/fleet/pulls/7/merge":               "GET /repos/*/*/pulls/*/merge",
		"/repos/acme/fleet/git/refs/heads/rw/pulls/secret":     "GET /repos/*/*/git/*",
		"/repos/acme/fleet/pulls/7/files":                      "GET /repos/*/*/pulls/*/files",
		"/repos/acme/fleet/compare/a...b":                      "GET /repos/*/*/compare/*",
		"/app":                                                 "GET /app",
		"/app/installations":                                   "GET /app/*/installations",
		"/app/installations/4711/access_tokens":                "GET /app/*/access_tokens",
		"/installation/repositories":                           "GET /installation/*/repositories",
		"/users/sluice[bot]":                                   "GET /users/*",
		"/repos/acme/fleet/collaborators/alice/permission":     "GET /repos/*/*/collaborators/*/permission",
		"/repos/acme/fleet/rules/branches/rw/a/b/c/d/e/f/main": "GET /repos/*/*/rules/*",
	} {
		r, err := http.NewRequest(http.MethodGet, "https://github.test"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := routeOf(r); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if got := routeOf(r.WithContext(withQuery(t.Context(), "look"))); got != "graphql look" {
			t.Errorf("a query's is %s", got)
		}
	}
}
