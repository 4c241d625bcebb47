package client

import (
	"context"
	"net/http"
	"strings"
)

// lastWords are the ends of GitHub's addresses that say what is asked of the thing before them.
var lastWords = map[string]bool{
	"merge": true, "update-branch": true, "files": true, "statuses": true, "status": true, "permission": true,
	"comments": true, "memberships": true, "access_tokens": true, "repositories": true, "installations": true, "protection": true,
}

// queryKey is where a context holds the name of the GraphQL operation that its request carries.
type queryKey struct{}

// withQuery is a context whose request is of the route of a GraphQL operation.
func withQuery(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, queryKey{}, name)
}

// routeOf names the kind of a request without any name of somebody's: GraphQL's by its operation, others by the first word and the
// last of their address. There are few of them, whatever branches are called.
func routeOf(r *http.Request) string {
	if name, ok := r.Context().Value(queryKey{}).(string); ok {
		return "graphql " + name
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/"), "/")
	route := r.Method + " /" + parts[0]
	if parts[0] == "repos" && len(parts) > 3 {
		route, parts = route+"/*/*/"+parts[3], parts[3:]
	}
	if last := parts[len(parts)-1]; len(parts) > 1 && lastWords[last] {
		return route + "/*/" + last
	}
	if len(parts) > 1 {
		return route + "/*"
	}
	return route
}
