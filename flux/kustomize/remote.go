package kustomize

import (
	"regexp"
	"strings"
)

// user is how kustomize knows a host of git by its user.
var user = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@.*[:/]`)

// isURL is what kustomize takes for a URL, whatever directory there is.
var isURL = regexp.MustCompile(`^(?i:git::)*(?i:(?:https?|ssh)://|github\.com[/:][^/]+/[^/]+)`)

// surely reports whether kustomize takes a text for a URL. What leads out of one may be a directory.
func surely(ref string) bool { return isURL.MatchString(ref) && !strings.Contains(ref, "..") }

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
