// Package site shows people what a stand-in GitHub holds, at the addresses at which GitHub does: a repository, a pull request, a commit,
// a branch, a file. The demo's links lead there.
//
// # Model
//
// [New] stands before a stand-in's API and answers GET /OWNER/REPO and what is below it, of repositories that there are. Everything else
// goes on to the stand-in. It keeps nothing: each page is read anew.
//
// # Invariants
//
//   - Whatever somebody wrote or pushed is shown as text: it is escaped, no script runs and nothing is fetched, and what is invisible or turns the
//     text around it is shown as �.
//   - Nothing is written, and nobody is asked who they are: whoever reaches the address may read.
//   - A file and a patch are shown up to [maxText] bytes, and lists up to [maxList].
//
// # How it fails
//
// What is not there is a page that says so, with 404. What git cannot read is one with 500 and git's words.
package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sluicegate/sluice/internal/standin"
)

// Bounds of one page.
const (
	maxText = 256 << 10 // of a file or a patch: what a person may still read
	maxList = 100       // of commits, files or pull requests
)

var (
	//go:embed site.html
	pageHTML string
	//go:embed site.css
	pageCSS string
)

// front is the pages of one stand-in.
type front struct {
	github *standin.GitHub
	html   *template.Template
	policy string // Content-Security-Policy
}

// page is what a template shows: its name, and what it says.
type page struct {
	kind  string
	Repo  repository
	Title string
	Body  any
}

// New shows the repositories of a stand-in; other requests go to its API.
func New(g *standin.GitHub, api http.Handler) http.Handler {
	sum := sha256.Sum256([]byte(pageCSS))
	s := &front{
		github: g,
		html:   template.Must(template.New("").Parse(`{{define "style"}}<style>` + pageCSS + `</style>{{end}}` + pageHTML)),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
	mux := http.NewServeMux()
	for pattern, read := range map[string]func(repository, *http.Request) (page, error){
		"/{owner}/{repo}":               repository.index,
		"/{owner}/{repo}/pull/{number}": repository.pull,
		"/{owner}/{repo}/commit/{sha}":  repository.commit,
		"/{owner}/{repo}/tree/{rev...}": repository.tree,
		"/{owner}/{repo}/blob/{at...}":  repository.blob,
		"/{owner}/{repo}/{other...}":    func(repository, *http.Request) (page, error) { return page{}, standin.ErrNotFound },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, read) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && s.repo(r) != nil {
			mux.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// repo is the repository that an address begins with; nil: none does.
func (s *front) repo(r *http.Request) *standin.Repo {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	if len(parts) < 2 {
		return nil
	}
	return s.github.Repo(parts[0], parts[1])
}

func (s *front) show(w http.ResponseWriter, r *http.Request, read func(repository, *http.Request) (page, error)) {
	repo := repository{s.repo(r)}
	status := http.StatusOK
	p, err := read(repo, r)
	switch {
	case errors.Is(err, standin.ErrNotFound):
		status, p = http.StatusNotFound, page{kind: "error", Title: "Not found", Body: "There is nothing at this address."}
	case err != nil:
		status, p = http.StatusInternalServerError, page{kind: "error", Title: "Not readable", Body: visible(err.Error())}
	}
	p.Repo = repo
	var body bytes.Buffer
	if err := s.html.ExecuteTemplate(&body, p.kind, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // fails only if the client went away
}

// repository is one that is shown.
type repository struct{ *standin.Repo }

// Link is the address of something of the repository.
func (r repository) Link(parts ...string) string {
	return (&url.URL{Path: "/" + strings.Join(append([]string{r.String()}, parts...), "/")}).EscapedPath()
}

// tip is where a branch stands, with its address.
type tip struct {
	Name, Link string
	At         commit
}

// commit is a commit as others name it.
type commit struct{ SHA, Short, Link, Subject, Author, At string }

// request is a pull request in a list.
type request struct {
	Number             int
	Link, Title, State string
}

func (r repository) index(*http.Request) (page, error) {
	var body struct {
		Clone    string
		Branches []tip
		Pulls    []request
	}
	body.Clone = r.CloneURL()
	branches, err := r.Git().Branches()
	if err != nil {
		return page{}, err
	}
	for _, b := range branches[:min(len(branches), maxList)] {
		if c, err := r.Git().Commit(b.SHA); err == nil {
			body.Branches = append(body.Branches, tip{visible(b.Name), r.Link("tree", b.Name), r.brief(*c)})
		}
	}
	pulls := r.Pulls()
	slices.Reverse(pulls)
	for _, p := range pulls[:min(len(pulls), maxList)] {
		body.Pulls = append(body.Pulls, request{p.Number, r.Link("pull", strconv.Itoa(p.Number)), visible(p.Title), stateOf(p)})
	}
	return page{kind: "repository", Title: r.String(), Body: body}, nil
}

// stateOf is a pull request's state in GitHub's words.
func stateOf(p standin.Pull) string {
	switch {
	case p.Merged:
		return "Merged"
	case !p.Open:
		return "Closed"
	case p.Draft:
		return "Draft"
	}
	return "Open"
}

// status is the latest of a context on a commit.
type status struct{ Context, State, Description, Link, By string }

func (r repository) statuses(sha string) []status {
	var list []status
	all := r.Reports(sha, time.Time{}).Statuses
	for _, s := range all[:min(len(all), maxList)] {
		shown := status{Context: visible(s.Context), State: s.State, Description: visible(s.Description), By: visible(s.By.Login)}
		if u, err := url.Parse(s.TargetURL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			shown.Link = s.TargetURL
		}
		list = append(list, shown)
	}
	slices.SortFunc(list, func(a, b status) int { return cmp.Compare(a.Context, b.Context) })
	return list
}

func (r repository) pull(q *http.Request) (page, error) {
	n, err := strconv.Atoi(q.PathValue("number"))
	if err != nil {
		return page{}, standin.ErrNotFound
	}
	p, err := r.Pull(n)
	if err != nil {
		return page{}, err
	}
	base := cmp.Or(p.BaseSHA, r.Tip(p.Base))
	files, err := r.changed(base, p.HeadSHA)
	if err != nil {
		return page{}, err
	}
	head := p.Head
	if !strings.EqualFold(p.HeadOwner, q.PathValue("owner")) {
		head = p.HeadOwner + ":" + head
	}
	body := struct {
		State, Author, Base, BaseLink, Head string
		On                                  commit
		Labels                              []string
		MergedBy                            string
		Merge                               *commit
		Statuses                            []status
		Reviews                             []review
		Files                               patch
	}{
		State: stateOf(p), Author: visible(p.Author.Login), Base: visible(p.Base), BaseLink: r.Link("tree", p.Base), Head: visible(head),
		On: commit{Short: short(p.HeadSHA), Link: r.Link("commit", p.HeadSHA)}, Statuses: r.statuses(p.HeadSHA), Files: files,
	}
	for _, label := range p.Labels {
		body.Labels = append(body.Labels, visible(label))
	}
	for _, v := range p.Reviews {
		body.Reviews = append(body.Reviews, review{visible(v.By.Login), strings.ToLower(strings.ReplaceAll(string(v.State), "_", " ")), short(v.On)})
	}
	if p.Merged {
		body.MergedBy, body.Merge = visible(p.MergedBy.Login), &commit{Short: short(p.MergeSHA), Link: r.Link("commit", p.MergeSHA)}
	}
	return page{kind: "pull", Title: fmt.Sprintf("%s #%d", visible(p.Title), n), Body: body}, nil
}

// review is a submitted review.
type review struct{ By, State, On string }

func (r repository) commit(q *http.Request) (page, error) {
	log, err := r.log(q.PathValue("sha"))
	if err != nil {
		return page{}, err
	}
	c := log[0]
	body := struct {
		commit
		Message  string
		Parents  []commit
		Statuses []status
		Files    patch
	}{commit: r.brief(c), Message: visible(c.Message), Statuses: r.statuses(c.SHA)}
	for _, sha := range c.Parents {
		body.Parents = append(body.Parents, commit{Short: short(sha), Link: r.Link("commit", sha)})
	}
	if body.Files, err = r.changed(c.Parent(), c.SHA); err != nil { // from an empty tree, of a root
		return page{}, err
	}
	return page{kind: "commit", Title: body.Subject, Body: body}, nil
}

// log is the first-parent line of a branch or commit, not empty.
func (r repository) log(rev string) ([]standin.Commit, error) {
	if rev == "HEAD" {
		rev = "main" // every repository of the stand-in has it as its default
	}
	log, err := r.Log(rev)
	if err == nil && len(log) == 0 {
		err = standin.ErrNotFound
	}
	return log, err
}

func (r repository) tree(q *http.Request) (page, error) {
	name := q.PathValue("rev")
	log, err := r.log(name)
	if err != nil {
		return page{}, err
	}
	sha := log[0].SHA
	files, err := r.Files(sha)
	if err != nil {
		return page{}, err
	}
	var body struct {
		Name     string
		Statuses []status
		Commits  []commit
		Files    []link
		Hidden   int // files
	}
	body.Name, body.Statuses = visible(name), r.statuses(sha)
	for _, c := range log[:min(len(log), maxList)] {
		body.Commits = append(body.Commits, r.brief(c))
	}
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	body.Hidden = max(0, len(paths)-maxList)
	for _, path := range paths[:len(paths)-body.Hidden] {
		body.Files = append(body.Files, link{visible(path), r.Link("blob", sha, path)})
	}
	return page{kind: "tree", Title: visible(name), Body: body}, nil
}

// link is an address and what it is called.
type link struct{ Text, Link string }

func (r repository) blob(q *http.Request) (page, error) {
	rev, path := r.split(q.PathValue("at"))
	log, err := r.log(rev)
	if err != nil {
		return page{}, err
	}
	files, err := r.Files(log[0].SHA)
	if err != nil {
		return page{}, err
	}
	text, ok := files[path]
	if !ok {
		return page{}, standin.ErrNotFound
	}
	body := struct {
		On    commit
		Lines []line
		Cut   bool
	}{On: r.brief(log[0]), Cut: len(text) > maxText}
	body.Lines = numbered(text[:min(len(text), maxText)])
	return page{kind: "blob", Title: visible(path), Body: body}, nil
}

// split takes REV/PATH apart: branches' names may have slashes, so the longest that there is counts.
func (r repository) split(at string) (rev, path string) {
	for i := len(at) - 1; i > 0; i-- {
		if at[i] == '/' && r.Tip(at[:i]) != "" {
			return at[:i], at[i+1:]
		}
	}
	rev, path, _ = strings.Cut(at, "/") // a commit, or HEAD
	return rev, path
}

// line is one line of a file or patch.
type line struct {
	Number      int // in the file; 0: of a patch
	Class, Text string
}

func numbered(text string) []line {
	var list []line
	for one := range strings.Lines(text) {
		list = append(list, line{Number: len(list) + 1, Text: visible(strings.TrimSuffix(one, "\n"))})
	}
	return list
}

// patch is what changed, as git prints it.
type patch struct {
	Lines []line
	Cut   bool
}

// changed is the patch from where a base and a head parted to the head.
func (r repository) changed(base, head string) (patch, error) {
	text, cut, err := r.Patch(base, head, maxText)
	if err != nil {
		return patch{}, err
	}
	list, header := numbered(text), true // before the first hunk of a file, where + and - do not mean lines
	for i := range list {
		l := &list[i]
		l.Number = 0
		switch {
		case strings.HasPrefix(l.Text, "diff --git "):
			l.Class, header = "file", true
		case strings.HasPrefix(l.Text, "@@"):
			l.Class, header = "at", false
		case header:
		case strings.HasPrefix(l.Text, "+"):
			l.Class = "added"
		case strings.HasPrefix(l.Text, "-"):
			l.Class = "removed"
		}
	}
	return patch{list, cut}, nil
}

func (r repository) brief(c standin.Commit) commit {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return commit{SHA: c.SHA, Short: short(c.SHA), Link: r.Link("commit", c.SHA), Subject: visible(subject), Author: visible(c.Author.Name), At: c.Committer.When.UTC().Format(time.DateTime) + " UTC"}
}

func short(sha string) string { return sha[:min(len(sha), 7)] }

// visible shows what would not be seen, or would turn the text around it, as �.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) {
			return c
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
