package forge

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// What GitHub's REST answers, field by field.

// comparison is how a commit stands to another one.
type comparison struct {
	Status    string               // in the words of ancestry
	Total     int                  `json:"total_commits"`
	MergeBase struct{ SHA string } `json:"merge_base_commit"`
	Commits   []restCommit         // that the other one has, on this page
	Files     []restChange         // on the first page, the first 300
}

type restCommit struct {
	SHA     string
	Parents []struct{ SHA string }
	Author  struct{ Login string } // none: a null
	Commit  struct {
		Author    struct{ Name string }
		Committer struct{ Date commitDate }
	}
}

type restChange struct {
	Filename string
	Status   string
	Previous string `json:"previous_filename"`
	Contents string `json:"contents_url"`
}

// pathOf is where a repository stands in REST.
func pathOf(repo plan.Repo) string { return "repos/" + repo.Owner + "/" + repo.Name }

// pageURL is the address of a page of one of the repository's lists.
func (l *look) pageURL(page int, format string, args ...any) string {
	return pathOf(l.repo) + "/" + fmt.Sprintf(format, args...) + "?" + client.PageQuery(page)
}

// comparison compares a commit with another one, and gives the number of the next page of its commits; 0: there is none.
func (l *look) comparison(ctx context.Context, from, to plan.SHA, page int) (c *comparison, next int, err error) {
	c, next, err = l.compareBy(ctx, from, to, client.PageQuery(page))
	if err == nil && c.Status == "" {
		err = client.Empty()
	}
	return c, next, err
}

// compareAlone is comparison without files, which come with the first page, and without most commits.
func (l *look) compareAlone(ctx context.Context, from, to plan.SHA) (*comparison, error) {
	c, _, err := l.compareBy(ctx, from, to, "per_page=1&page=2")
	return c, err
}

func (l *look) compareBy(ctx context.Context, from, to plan.SHA, query string) (c *comparison, next int, err error) {
	c = &comparison{}
	next, err = l.c.GetPage(ctx, fmt.Sprintf("%s/compare/%s...%s?%s", pathOf(l.repo), from, to, query), c)
	return c, next, err
}

// restFiles are files as REST lists them; false if one cannot be taken.
func restFiles(page []restChange, head plan.SHA) ([]plan.File, bool) {
	files := make([]plan.File, 0, len(page))
	for _, f := range page {
		kind, ok := changesREST[f.Status]
		if !ok || f.Filename == "" || !about(f, head) {
			return files, false
		}
		file := plan.File{Path: f.Filename, Kind: kind}
		if kind == plan.Renamed || kind == plan.Copied {
			file.Old = f.Previous
		}
		files = append(files, file)
	}
	return files, true
}

// changesREST are REST's words.
var changesREST = map[string]plan.Change{
	"added": plan.Added, "modified": plan.Modified, "changed": plan.Modified, "removed": plan.Deleted,
	"renamed": plan.Renamed, "copied": plan.Copied,
}

// about reports whether a file was not listed for another head: the address of its contents names the commit. An address
// without one proves nothing and is left to fits.
func about(f restChange, head plan.SHA) bool {
	u, err := url.Parse(f.Contents)
	if err != nil {
		return true
	}
	ref := u.Query().Get("ref")
	return len(ref) != len(head) || plan.SHA(ref) == head || f.Status == "removed"
}

// distinct reports whether no path stands twice: then as many as there should be are all there are.
func distinct(files []plan.File) bool {
	seen := make(map[string]bool, len(files))
	for _, f := range files {
		if seen[f.Path] {
			return false
		}
		seen[f.Path] = true
	}
	return true
}

// renamesWithoutOld reports whether a rename's old name is missing. A copy's source is not changed, so it may be.
func renamesWithoutOld(files []plan.File) bool {
	return slices.ContainsFunc(files, func(f plan.File) bool { return f.Kind == plan.Renamed && f.Old == "" })
}

// maxCompared is how many files a comparison lists.
const maxCompared = 300

// comparedFiles are the files of a comparison with a head that descends from what it is compared with, and whether they are all.
// A comparison lists at most 300, on its first page, and does not say that there are more.
func comparedFiles(c *comparison, head plan.SHA) (files []plan.File, complete bool) {
	files, complete = restFiles(c.Files, head)
	return files, complete && c.Files != nil && len(files) < maxCompared && !renamesWithoutOld(files) && distinct(files)
}

// ancestry is how a commit stands to another, in the words of a comparison from it to the other.
type ancestry string

// The words of GitHub.
const (
	ancestryUnknown   ancestry = ""
	ancestryIdentical ancestry = "identical"
	ancestryAhead     ancestry = "ahead"  // the other descends from it
	ancestryBehind    ancestry = "behind" // it descends from the other
	ancestryDiverged  ancestry = "diverged"
)

// shaForm is what GitHub takes for the name of an object.
var shaForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// isSHA reports whether GitHub takes a name for that of an object.
func isSHA[S ~string](name S) bool { return shaForm.MatchString(string(name)) }
