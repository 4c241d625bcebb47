package person

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

var read = Rules{Branch: "main", Tip: "t1p", Blob: "b10b", Text: []byte("version: 1\n")}

// TestChangeRules: what is asked of GitHub, in its order, and what is left of an edit that GitHub refuses half-way: nothing.
func TestChangeRules(t *testing.T) {
	const tree, commit = `201 {"sha":"7ee"}`, `201 {"sha":"c0ffee1234567"}`
	const moved = `200 {"data":{"repository":{"defaultBranchRef":{"name":"main","target":{"oid":"an0ther"}}}}}`
	const still = `200 {"data":{"repository":{"defaultBranchRef":{"name":"main","target":{"oid":"t1p"}}}}}`
	const gone = "DELETE /repos/acme/fleet/git/refs/heads/sluice-edit/x-c0ffee1"
	unshown := func(_ Change, err error) bool { return errors.Is(err, errUnshown) }
	var none *Refusal
	for about, c := range map[string]struct {
		atOnce  bool
		answers []string
		last    string
		want    func(Change, error) bool
	}{
		"a pull request": {false, []string{tree, commit, `201 {"ref":"x"}`, `201 {"number":12,"html_url":"u"}`}, "POST /repos/acme/fleet/pulls",
			func(c Change, err error) bool {
				return err == nil && c.Pull == 12 && c.URL == "u" && c.Branch == "sluice-edit/x-c0ffee1"
			}},
		"a pull request that is refused": {false, []string{tree, commit, `201 {"ref":"x"}`, `422 {"message":"no"}`, `204 `}, "DELETE /repos/acme/fleet/git/refs/heads/sluice-edit/x-c0ffee1",
			func(c Change, err error) bool { return errors.As(err, &none) && none.Status == 422 && c == Change{} }},
		"a commit": {true, []string{tree, commit, `200 {"ref":"refs/heads/main","object":{"sha":"c0ffee1234567"}}`}, "PATCH /repos/acme/fleet/git/refs/heads/main",
			func(c Change, err error) bool {
				return err == nil && c.Pull == 0 && c.Branch == "main" && c.Commit == "c0ffee1234567"
			}},
		"a tree that GitHub does not show":         {true, []string{`200 null`}, "POST /repos/acme/fleet/git/trees", unshown},
		"a commit that GitHub does not show":       {true, []string{tree, `200 null`}, "POST /repos/acme/fleet/git/commits", unshown},
		"a push that GitHub does not show":         {true, []string{tree, commit, `200 null`}, "PATCH /repos/acme/fleet/git/refs/heads/main", unshown},
		"a branch that GitHub does not show":       {false, []string{tree, commit, `200 null`, `204 `}, gone, unshown},
		"a branch that GitHub may have made":       {false, []string{tree, commit, `502 {}`, `204 `}, gone, func(_ Change, err error) bool { return err != nil }},
		"a branch that GitHub does not make":       {false, []string{tree, commit, `403 {}`}, "POST /repos/acme/fleet/git/refs", func(_ Change, err error) bool { return errors.As(err, &none) }},
		"a pull request that GitHub does not show": {false, []string{tree, commit, `201 {"ref":"x"}`, `200 null`, `204 `}, gone, unshown},
		"a commit that comes too late": {true, []string{tree, commit, `422 {"message":"Update is not a fast forward"}`, moved}, "POST /graphql",
			func(_ Change, err error) bool { return errors.Is(err, ErrMoved) }},
		"a commit past the branch's rules": {true, []string{tree, commit, `422 {"message":"Repository rule violations"}`, still}, "POST /graphql",
			func(_ Change, err error) bool { return errors.As(err, &none) && none.Status == 422 }},
		"a token that may not": {false, []string{`404 {}`}, "POST /repos/acme/fleet/git/trees", func(_ Change, err error) bool { return errors.As(err, &none) && none.Status == 404 }},
	} {
		s, at := site(t, c.answers...)
		if got, err := s.ChangeRules(t.Context(), "acme", "fleet", read, []byte("version: 1\n\n"), "Set window x", "sluice-edit/x", c.atOnce); !c.want(got, err) {
			t.Errorf("%s: %+v, %v", about, got, err)
		}
		if len(at.asked) != len(c.answers) || at.asked[len(at.asked)-1] != c.last {
			t.Errorf("%s: asked %q", about, at.asked)
		}
	}
}

// late is GitHub that makes a branch, and then does not answer until the caller's time is over.
type late struct {
	cancel context.CancelFunc
	asked  []string
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/pulls") {
		l.cancel()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	l.asked = append(l.asked, r.Method+" "+r.URL.Path)
	return &http.Response{StatusCode: 201, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(`{"sha":"c0ffee1234567","ref":"x"}`))}, nil
}

// TestBranchGoesAlthoughTheTimeIsOver: a branch that was made for a pull request that was not is taken back.
func TestBranchGoesAlthoughTheTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at := &late{cancel: cancel}
	s, err := NewSite("https://api.github.com", "", "secret", at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ChangeRules(ctx, "acme", "fleet", read, nil, "Set window x", "sluice-edit/x", false); err == nil {
		t.Error("it was made")
	}
	if last := at.asked[len(at.asked)-1]; last != "DELETE /repos/acme/fleet/git/refs/heads/sluice-edit/x-c0ffee1" {
		t.Errorf("asked %q", at.asked)
	}
}

func TestStanding(t *testing.T) {
	for answer, want := range map[string]Standing{
		`200 {"data":{"repository":{"databaseId":7,"viewerPermission":"WRITE"}}}`:        {7, true, true},
		`200 {"data":{"repository":{"databaseId":7,"viewerPermission":"TRIAGE"}}}`:       {7, true, false},
		`200 {"data":{"repository":{"databaseId":7,"viewerPermission":null}}}`:           {7, false, false},
		`200 {"data":{"repository":{"databaseId":7,"viewerPermission":"EVERYTHING"}}}`:   {7, false, false},
		`200 {"data":{"repository":null},"errors":[{"type":"NOT_FOUND","message":"x"}]}`: {},
		`200 {}`: {},
	} {
		s, _ := site(t, answer)
		if got, err := s.May(t.Context(), "acme", "fleet"); err != nil || got != want {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	for answer, want := range map[string]error{`401 {"message":"Bad credentials"}`: ErrToken, `200 {"errors":[{"type":"RATE_LIMITED","message":"later"}]}`: nil, `200 <html>`: nil} {
		s, _ := site(t, answer)
		if _, err := s.May(t.Context(), "acme", "fleet"); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// TestReadable: what GitHub says of each repository counts, by its number; where it says nothing of one that is an error, and never nothing to be read.
func TestReadable(t *testing.T) {
	repos := []plan.Repo{{Owner: "acme", Name: "a"}, {Owner: "acme", Name: "b"}, {Owner: "acme", Name: "c"}}
	s, _ := site(t, `200 {"data":{"r0":{"databaseId":7,"viewerPermission":"READ"},"r1":null,"r2":{"databaseId":9,"viewerPermission":null}},"errors":[{"type":"NOT_FOUND","message":"x"}]}`)
	if got, err := s.Readable(t.Context(), repos); err != nil || !slices.Equal(got, []int64{7, 0, 0}) {
		t.Errorf("%v %v", got, err)
	}
	for _, answer := range []string{
		`200 {"data":null}`, `200 {}`, `200 null`, `200 `, `204 `, `200 {"data":{"r0":null,"r1":null}}`, `200 {"data":null,"errors":[{"type":"NOT_FOUND","message":"x"}]}`, `502 {}`,
		`200 {"data":{"r0":null,"r1":null,"r2":null},"errors":[{"type":"SOMETHING","message":"x"}]}`, `200 {"data":{"r0":"x"}}`,
	} {
		s, _ := site(t, answer)
		if got, err := s.Readable(t.Context(), repos); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", answer, got)
		}
	}
	s, _ = site(t, `401 {"message":"Bad credentials"}`)
	if _, err := s.Readable(t.Context(), repos); !errors.Is(err, ErrToken) {
		t.Errorf("%v", err)
	}
	for answer, want := range map[string]string{`200 {"data":{"viewer":{"login":"alice"}}}`: "alice", `200 {"data":{"viewer":null}}`: "", `200 {}`: ""} {
		s, _ := site(t, answer)
		if got, err := s.Login(t.Context()); err != nil || got != want {
			t.Errorf("%s: %q %v", answer, got, err)
		}
	}
}

// TestRulesThatAreNoText: a file that GitHub does not show whole is not edited.
func TestRulesThatAreNoText(t *testing.T) {
	file := func(object string) string {
		return `200 {"data":{"repository":{"defaultBranchRef":{"name":"main","target":{"oid":"t1p","file":` + object + `}}}}}`
	}
	for _, answer := range []string{file(`{"oid":"b","object":{"text":null}}`), file(`{"oid":"b","object":{"text":"version: 1","isTruncated":true}}`)} {
		s, _ := site(t, answer)
		if v, err := s.Rules(t.Context(), "acme", "fleet"); err == nil {
			t.Errorf("%s: %+v", answer, v)
		}
	}
	for _, answer := range []string{file("null"), `200 {"data":{"repository":null}}`, `200 {"data":{"repository":{"defaultBranchRef":null}}}`} {
		s, _ := site(t, answer)
		if v, err := s.Rules(t.Context(), "acme", "fleet"); err != nil || v.Blob != "" {
			t.Errorf("%s: %+v, %v", answer, v, err)
		}
	}
	s, _ := site(t, file(`{"oid":"b10b","object":{"text":"version: 1\n"}}`))
	if v, err := s.Rules(t.Context(), "acme", "fleet"); err != nil || v.Blob != "b10b" || v.Tip != "t1p" || !slices.Equal(v.Text, []byte("version: 1\n")) {
		t.Errorf("%+v %v", v, err)
	}
}

// TestPaths: the files of a tree, and an error where they are not all there.
func TestPaths(t *testing.T) {
	s, at := site(t, `200 {"tree":[{"path":"a","type":"tree"},{"path":"a/x","type":"blob"},{"path":"sub","type":"commit"}]}`)
	if v, err := s.Paths(t.Context(), "acme", "fleet", "t1p"); err != nil || !slices.Equal(v, []string{"a/x", "sub"}) || at.asked[0] != "GET /repos/acme/fleet/git/trees/t1p" {
		t.Errorf("%q %v %q", v, err, at.asked)
	}
	for _, answer := range []string{`200 {"tree":[{"path":"x","type":"blob"}],"truncated":true}`, `200 {"tree":null}`, `200 null`, `404 {}`, `502 <html>`} {
		s, _ := site(t, answer)
		if v, err := s.Paths(t.Context(), "acme", "fleet", "t1p"); err == nil {
			t.Errorf("%s: %q", answer, v)
		}
	}
}
