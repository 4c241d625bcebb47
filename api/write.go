package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/config/edit"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
)

// Site is GitHub for the owner of a token. *person.Site is one.
type Site interface {
	May(ctx context.Context, owner, repo string) (person.Standing, error)
	Rules(ctx context.Context, owner, repo string) (person.Rules, error)
	Paths(ctx context.Context, owner, repo string, at plan.SHA) ([]string, error)
	ChangeRules(ctx context.Context, owner, repo string, was person.Rules, text []byte, title, branch string, atOnce bool) (person.Change, error)
}

// bodyMost bounds what a caller sends: an entry of the file.
const bodyMost = 64 << 10

// order is an edit that somebody asks for.
type order struct {
	entry  edit.Entry
	fields edit.Fields // nil: it is to be removed
	commit bool        // on the default branch, not in a pull request
	dryRun bool
	match  string // the blob that the file must be; "": any
}

// editing edits the rules file for who may write a repository, or shows what an edit would do to who may read it.
func (s *server) editing(section edit.Section) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.reply(w, r, func(r *http.Request) (any, error) {
			o, err := orderOf(r, section)
			if err != nil {
				return nil, err
			}
			v, err := s.edit(r, o)
			if v != nil && v.Blob != "" {
				w.Header().Set("ETag", `"`+v.Blob+`"`)
			}
			if err != nil {
				return nil, err
			}
			return v, nil
		})
	}
}

// orderOf reads what a request asks for.
func orderOf(r *http.Request, section edit.Section) (o order, err error) {
	o = order{entry: edit.Entry{Section: section, Name: r.PathValue("name")}, match: strings.Trim(strings.TrimPrefix(r.Header.Get("If-Match"), "W/"), `"`)}
	switch text := r.URL.Query().Get("dry_run"); text {
	case "", "false":
	case "true":
		o.dryRun = true
	default:
		return o, wrong("dry_run %q: want true or false", text)
	}
	if o.match == "*" {
		o.match = ""
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, bodyMost))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return o, problem{code: http.StatusRequestEntityTooLarge, says: fmt.Sprintf("more than %d bytes", bodyMost)}
	case err != nil:
		return o, wrong("the body cannot be read")
	}
	fields := edit.Fields{}
	if len(body) > 0 || r.Method == http.MethodPut {
		d := json.NewDecoder(strings.NewReader(string(body)))
		d.UseNumber() // a number stays as it was written
		if err := d.Decode(&fields); err != nil || fields == nil || d.More() {
			return o, wrong("the body must be a JSON object")
		}
	}
	if commit, given := fields["commit"]; given {
		is, ok := commit.(bool)
		if !ok {
			return o, wrong("commit: want true or false")
		}
		o.commit = is
		delete(fields, "commit")
	}
	if name, given := fields["name"]; given && section == edit.Freezes {
		if name != o.entry.Name {
			return o, wrong("name: the path says %q", o.entry.Name)
		}
		delete(fields, "name")
	}
	if r.Method == http.MethodPut {
		o.fields = fields
	} else if len(fields) > 0 {
		return o, wrong("the body of DELETE may have commit alone")
	}
	return o, nil
}

// edit does an order by the caller's own rights.
func (s *server) edit(r *http.Request, o order) (*report.Edited, error) {
	ctx, owner, name := r.Context(), r.PathValue("owner"), r.PathValue("repo")
	token, err := bearer(r)
	switch {
	case err != nil:
		return nil, err
	case token == "":
		return nil, errNoToken
	}
	may, err := s.door.standing(r, token, owner, name)
	switch {
	case err != nil:
		return nil, err
	case !may.Reads:
		return nil, errNone
	}
	switch p, err := s.Source.Page(ctx, owner, name); {
	case errors.Is(err, store.ErrUnknown), err == nil && p.Repo.ID != may.ID:
		return nil, errNone
	case err != nil:
		return nil, err
	case !may.Writes && !o.dryRun:
		return nil, problem{code: http.StatusForbidden, says: "the owner of this token may not write to " + owner + "/" + name}
	}
	site, err := s.Site(token)
	if err != nil {
		return nil, err
	}
	was, err := site.Rules(ctx, owner, name)
	switch {
	case err != nil:
		return nil, ofGitHub(err)
	case was.Blob == "":
		return nil, problem{code: http.StatusConflict, says: "the default branch has no " + config.File + "; sluice init writes a first one"}
	case o.match != "" && o.match != string(was.Blob):
		return &report.Edited{Blob: string(was.Blob)}, problem{code: http.StatusPreconditionFailed, says: "the file has changed, it is now " + string(was.Blob)}
	}
	v, out, err := s.edited(ctx, o, was, func() ([]string, error) { return site.Paths(ctx, owner, name, was.Tip) })
	if err != nil {
		return &report.Edited{Blob: string(was.Blob)}, err
	}
	if o.dryRun || !v.Changed {
		return v, nil
	}
	done, err := site.ChangeRules(ctx, owner, name, was, out, o.title(), "sluice-edit/"+string(o.entry.Section), o.commit)
	switch {
	case errors.Is(err, person.ErrMoved):
		return v, problem{code: http.StatusPreconditionFailed, says: err.Error() + ": ask again"}
	case err != nil:
		p := ofGitHub(err)
		if p.code == http.StatusBadGateway && done.Commit != "" {
			p.says += fmt.Sprintf("; if it was done, %s has it as %s", done.Branch, done.Commit.Short())
		}
		return v, p
	}
	v.Written, v.Commit, v.Branch = true, string(done.Commit), done.Branch
	if done.Pull > 0 {
		v.Pull = &report.Comment{PullRequest: done.Pull, URL: done.URL}
	}
	return v, nil
}

// edited is what an order makes of a file, compared with the tree where that has a say in what the windows must be. One at a time: what a file, its openings and a
// tree take of memory is taken once; and who waits for a tree keeps no other edit waiting.
func (s *server) edited(ctx context.Context, o order, was person.Rules, paths func() ([]string, error)) (v *report.Edited, out []byte, err error) {
	in, captures := config.CheckInput{At: s.Now().UTC()}, false
	err = alone(ctx, s.turn, func() (err error) {
		if out, err = o.apply(was.Text); err != nil {
			return ofEdit(err)
		}
		p, _ := config.Parse(out)
		captures = p != nil && p.Layout.Captures()
		return nil
	})
	if err == nil && captures {
		err = alone(ctx, s.trees, func() error {
			in.Paths, in.Missed = paths()
			return nil
		})
	}
	if err != nil {
		return nil, nil, err
	}
	err = alone(ctx, s.turn, func() error {
		v = &report.Edited{Edit: report.EditOf(config.File, was.Text, out, in), Blob: string(was.Blob)}
		if slices.ContainsFunc(v.Findings, config.Finding.IsError) {
			return ofEdit(&edit.Invalid{Findings: v.Findings, Text: out})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return v, out, nil
}

// alone calls f once nobody else has the turn.
func alone(ctx context.Context, turn chan struct{}, f func() error) error {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return f()
	case <-ctx.Done():
		return problem{code: http.StatusServiceUnavailable, says: "another edit is in progress", after: time.Second}
	}
}

func (o order) apply(src []byte) ([]byte, error) {
	if o.fields == nil {
		return edit.Remove(src, o.entry)
	}
	return edit.Set(src, o.entry, o.fields, true)
}

// title is the message of the commit, and the title of the pull request.
func (o order) title() string {
	does, what := "Set", strings.TrimSuffix(string(o.entry.Section), "s")
	if o.fields == nil {
		does = "Remove"
	}
	return plan.Fit(does + " " + what + " " + plan.Clean(o.entry.Name))
}

// ofGitHub is the answer where GitHub did not do what the caller asked of it by us.
func ofGitHub(err error) problem {
	var refused *person.Refusal
	switch {
	case errors.Is(err, person.ErrToken):
		return problem{code: http.StatusUnauthorized, says: err.Error()}
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError:
		return problem{code: http.StatusForbidden, says: err.Error()}
	}
	return problem{code: http.StatusBadGateway, says: err.Error()}
}

// ofEdit is the answer where the file cannot be edited so.
func ofEdit(err error) error {
	var none *edit.NoEntryError
	var invalid *edit.Invalid
	switch {
	case errors.As(err, &none):
		return problem{code: http.StatusNotFound, says: err.Error()}
	case errors.As(err, &invalid) && invalid.Before:
		return problem{code: http.StatusConflict, says: "the file is invalid as it is: mend it first", findings: invalid.Findings}
	case errors.As(err, &invalid):
		return problem{code: http.StatusUnprocessableEntity, says: err.Error(), findings: invalid.Findings}
	}
	return problem{code: http.StatusUnprocessableEntity, says: err.Error()}
}
