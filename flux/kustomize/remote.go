package kustomize

import (
	"regexp"
	"strings"
)

// user is how kustomize knows a host of git by its user.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@.*[:/]`)

// surely is what kustomize takes for a URL whatever directory there is: a host and two names after it, or a scheme.
var surely = regexp.MustCompile(`^(?i:git::)*(?i:github\.com)[/:][^/]+/[^/]+|://`)

// Remote reports whether kustomize may look elsewhere for what a text names, as its loader decides (api/internal/git/repospec.go, NewRepoSpecFromURL,
// and IsRemoteFile): by a scheme, a user or a host that it knows, and before it looks whether there is such a directory. What only looks like one of them
// is remote, too: whoever builds must fetch nothing.
func Remote(ref string) bool {
	ref = strings.ToLower(ref)
	for again := true; again; {
		ref, again = strings.CutPrefix(ref, "git::")
	}
	for _, prefix := range []string{"http:", "https:", "ssh:", "file:", "git:", "github.com/", "github.com:"} {
		if strings.HasPrefix(ref, prefix) {
			return true
		}
	}
	return strings.Contains(ref, "://") || user.MatchString(ref)
}
