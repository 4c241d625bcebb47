package look

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

// Comparison is how a commit stands to another one.
type Comparison struct {
	Status    string               // in the words of ancestry
	Total     int                  `json:"total_commits"`
	MergeBase struct{ SHA string } `json:"merge_base_commit"`
	Commits   []RestCommit         // that the other one has, on this page
	Files     []RestChange         // on the first page, the first 300
}

// RestCommit is a commit of a comparison or a list.
type RestCommit struct {
	SHA     string
	Parents []struct{ SHA string }
	Author  struct{ Login string } // none: a null
	Commit  struct {
		Author    struct{ Name string }
		Committer struct{ Date CommitDate }
	}
}

// RestChange is a file that a comparison or a list names.
type RestChange struct {
	Filename string
	Status   string
	Previous string `json:"previous_filename"`
	Contents string `json:"contents_url"`
}

// PathOf is where a repository stands in REST.
func PathOf(repo plan.Repo) string { return "repos/" + repo.Owner + "/" + repo.Name }

// PageURL is the address of a page of one of the repository's lists.
func (l *Look) PageURL(page int, format string, args ...any) string {
	return PathOf(l.Repo) + "/" + fmt.Sprintf(format, args...) + "?" + client.PageQuery(page)
}

// Comparison compares a commit with another one, and gives the number of the next page of its commits; 0: there is none.
func (l *Look) Comparison(ctx context.Context, from, to plan.SHA, page int) (c *Comparison, next int, err error) {
	c, next, err = l.compareBy(ctx, from, to, client.PageQuery(page))
	if err == nil && c.Status == "" {
		err = client.Empty()
	}
	return c, next, err
}

// CompareAlone is comparison without files, which come with the first page, and without most commits.
func (l *Look) CompareAlone(ctx context.Context, from, to plan.SHA) (*Comparison, error) {
	c, _, err := l.compareBy(ctx, from, to, "per_page=1&page=2")
	return c, err
}

func (l *Look) compareBy(ctx context.Context, from, to plan.SHA, query string) (c *Comparison, next int, err error) {
	c = &Comparison{}
	next, err = l.Client.GetPage(ctx, fmt.Sprintf("%s/compare/%s...%s?%s", PathOf(l.Repo), from, to, query), c)
	return c, next, err
}

// RestFiles are files as REST lists them; false if one cannot be taken.
func RestFiles(page []RestChange, head plan.SHA) ([]plan.File, bool) {
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
func about(f RestChange, head plan.SHA) bool {
	u, err := url.Parse(f.Contents)
	if err != nil {
		return true
	}
	ref := u.Query().Get("ref")
	return len(ref) != len(head) || plan.SHA(ref) == head || f.Status == "removed"
}

// Distinct reports whether no path stands twice: then as many as there should be are all there are.
func Distinct(files []plan.File) bool {
	seen := make(map[string]bool, len(files))
	for _, f := range files {
		if seen[f.Path] {
			return false
		}
		seen[f.Path] = true
	}
	return true
}

// RenamesWithoutOld reports whether a rename's old name is missing. A copy's source is not changed, so it may be.
func RenamesWithoutOld(files []plan.File) bool {
	return slices.ContainsFunc(files, func(f plan.File) bool { return f.Kind == plan.Renamed && f.Old == "" })
}

// maxCompared is how many files a comparison lists.
const maxCompared = 300

// ComparedFiles are the files of a comparison with a head that descends from what it is compared with, and whether they are all.
// A comparison lists at most 300, on its first page, and does not say that there are more.
func ComparedFiles(c *Comparison, head plan.SHA) (files []plan.File, complete bool) {
	files, complete = RestFiles(c.Files, head)
	return files, complete && c.Files != nil && len(files) < maxCompared && !RenamesWithoutOld(files) && Distinct(files)
}

// Ancestry is how a commit stands to another, in the words of a comparison from it to the other.
type Ancestry string

// The words of GitHub.
const (
	AncestryUnknown   Ancestry = ""
	AncestryIdentical Ancestry = "identical"
	AncestryAhead     Ancestry = "ahead"  // the other descends from it
	AncestryBehind    Ancestry = "behind" // it descends from the other
	AncestryDiverged  Ancestry = "diverged"
)

// shaForm is what GitHub takes for the name of an object.
var shaForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// IsSHA reports whether GitHub takes a name for that of an object.
func IsSHA[S ~string](name S) bool { return shaForm.MatchString(string(name)) }
