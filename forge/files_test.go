package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// restFile is a file as REST lists it.
func restFile(name, status, previous string, head int) obj {
	o := obj{"filename": name, "status": status, "contents_url": "https://api.github.com/repos/acme/fleet/contents/x?ref=" + sha(head)}
	if previous != "" {
		o["previous_filename"] = previous
	}
	return o
}

func listed(t *testing.T, files ...obj) answerOf {
	t.Helper()
	if files == nil {
		files = []obj{}
	}
	data, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	return answerOf{code: 200, body: string(data)}
}

// withFiles gives a pull request files by path and kind.
func withFiles(p obj, pairs ...string) obj {
	nodes := []any{}
	for i := 0; i < len(pairs); i += 2 {
		nodes = append(nodes, obj{"path": pairs[i], "changeType": pairs[i+1]})
	}
	p["files"], p["changedFiles"] = obj{"nodes": nodes}, len(nodes)
	return p
}

func TestRenamesCostOneRequestOnce(t *testing.T) {
	one := withFiles(pullPart(1), "rw/x", "RENAMED", "b", "COPIED", "c", "DELETED", "d", "CHANGED")
	two := withFiles(pullPart(2), "rt/x", "RENAMED")
	answers := map[string]answerOf{
		"/repos/acme/fleet/pulls/1/files": listed(t, restFile("rw/x", "renamed", "rt/x", 1), restFile("b", "copied", "a", 1),
			restFile("c", "removed", "", 1), restFile("d", "changed", "", 1)),
		"/repos/acme/fleet/pulls/2/files": listed(t, restFile("rt/x", "renamed", "rw/x", 2)),
	}
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if a, ok := answers[r.URL.Path]; ok {
			return a
		}
		return sayRepo(repoPart(one, two, pullPart(3)))(r, body)
	}
	f := hub.forge(nil)
	want := []plan.File{
		{Path: "rw/x", Old: "rt/x", Kind: plan.Renamed}, {Path: "b", Old: "a", Kind: plan.Copied},
		{Path: "c", Kind: plan.Deleted}, {Path: "d", Kind: plan.Modified},
	}
	s := observe(t, f, Ask{})
	if d := cmp.Diff(want, s.Pulls[0].Files); d != "" || !s.Pulls[0].Complete || !s.Pulls[1].Complete {
		t.Error(d)
	}
	first := []string{
		"GET /repos/acme/fleet/pulls/1/files", "GET /repos/acme/fleet/pulls/2/files",
		"GET /repos/acme/fleet/rules/branches/main", "look",
	}
	if d := cmp.Diff(first, hub.took()); d != "" {
		t.Error("the first look:", d)
	}
	s = observe(t, f, Ask{})
	if d := cmp.Diff(want, s.Pulls[0].Files); d != "" || !s.Pulls[0].Complete {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
		t.Error("the second look:", d)
	}
}

// A list that does not prove itself whole and of this head leaves the pull request incomplete.
func TestDoubtfulLists(t *testing.T) {
	for name, answer := range map[string]answerOf{
		"of another head":      listed(t, restFile("new", "renamed", "old", 9), restFile("b", "modified", "", 9)),
		"shorter":              listed(t, restFile("new", "renamed", "old", 1)),
		"longer":               listed(t, restFile("new", "renamed", "old", 1), restFile("b", "modified", "", 1), restFile("c", "added", "", 1)),
		"other paths":          listed(t, restFile("new", "renamed", "old", 1), restFile("c", "modified", "", 1)),
		"other kinds":          listed(t, restFile("new", "renamed", "old", 1), restFile("b", "added", "", 1)),
		"a path twice":         listed(t, restFile("new", "renamed", "old", 1), restFile("new", "renamed", "old", 1)),
		"no old name":          listed(t, restFile("new", "renamed", "", 1), restFile("b", "modified", "", 1)),
		"a kind nobody knows":  listed(t, restFile("new", "renamed", "old", 1), restFile("b", "teleported", "", 1)),
		"a file without name":  listed(t, restFile("new", "renamed", "old", 1), restFile("", "modified", "", 1)),
		"nothing":              listed(t),
		"rename only by graph": listed(t, restFile("new", "added", "", 1), restFile("b", "modified", "", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch {
				case r.URL.Path == "/repos/acme/fleet/pulls/1/files":
					return answer
				case operation(body) == "objects":
					return repoAnswer(obj{"o0": nil, "o1": nil})
				}
				return sayRepo(repoPart(withFiles(pullPart(1), "new", "RENAMED", "b", "MODIFIED")))(r, body)
			}
			f := hub.forge(nil)
			for range 2 { // what is doubtful is not remembered either
				if s := observe(t, f, Ask{}); s.Pulls[0].Complete {
					t.Errorf("complete: %+v", s.Pulls[0].Files)
				}
			}
		})
	}
}

func TestManyFiles(t *testing.T) {
	for _, tt := range []struct {
		count    int
		complete bool
		requests int
	}{{100, true, 0}, {101, true, 2}, {250, true, 3}, {3000, true, 30}, {3001, false, 0}} {
		t.Run(fmt.Sprint(tt.count), func(t *testing.T) {
			p := pullPart(1)
			nodes := []any{}
			for i := range min(tt.count, maxFiles) {
				nodes = append(nodes, obj{"path": fmt.Sprint("f", i), "changeType": "ADDED"})
			}
			p["files"], p["changedFiles"] = obj{"nodes": nodes}, tt.count
			requests := 0
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch {
				case r.URL.Path == "/repos/acme/fleet/pulls/1/files":
					requests++
					return listPage(t, r, tt.count)
				case operation(body) == "objects":
					return repoAnswer(obj{"o0": blobPart("version: 1\n")})
				}
				return sayRepo(repoPart(p))(r, body)
			}
			s := observe(t, hub.forge(nil), Ask{})
			if got := s.Pulls[0]; got.Complete != tt.complete || requests != tt.requests || got.Complete && len(got.Files) != tt.count {
				t.Errorf("complete %t with %d files after %d requests", got.Complete, len(got.Files), requests)
			}
		})
	}
}

// listPage serves a page of a long list, with the link to the next.
func listPage(t *testing.T, r *http.Request, count int) answerOf {
	t.Helper()
	var page int
	if _, err := fmt.Sscan(r.URL.Query().Get("page"), &page); err != nil {
		t.Fatal(err)
	}
	files := []obj{}
	for i := (page - 1) * client.PerPage; i < min(page*client.PerPage, count); i++ {
		files = append(files, restFile(fmt.Sprint("f", i), "added", "", 1))
	}
	a := listed(t, files...)
	if page*client.PerPage < count {
		a.header = map[string]string{"Link": fmt.Sprintf(`<https://api.github.com/x?page=%d>; rel="next"`, page+1)}
	}
	return a
}

func TestMovedPaths(t *testing.T) {
	// The head left main one commit before the tip.
	p := withFiles(pullPart(1), "here", "MODIFIED", "gone", "MODIFIED", "gone2", "DELETED", "new", "ADDED")
	p["commits"] = commitsPart(1, tipSHA-1)
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if operation(body) == "objects" {
			answer := obj{}
			for name, v := range variables(body) {
				switch {
				case v == sha(tipSHA)+":here":
					answer[name] = obj{"__typename": "Blob"}
				case v == sha(tipSHA)+":gone2", v == look.TreeOf(plan.SHA(sha(tipSHA))): // a directory took its place
					answer[name] = obj{"__typename": "Tree"}
				case name[0] == 'o':
					answer[name] = nil
				}
			}
			return repoAnswer(answer)
		}
		return sayRepo(repoPart(p))(r, body)
	}
	f := hub.forge(nil)
	for i, want := range []int{3, 1} { // the second look knows the paths of the tip
		s := observe(t, f, Ask{})
		if d := cmp.Diff([]string{"gone", "gone2"}, s.Pulls[0].Moved); d != "" {
			t.Error(d)
		}
		if s.Pulls[0].MergeBase != plan.SHA(sha(tipSHA-1)) {
			t.Error(s.Pulls[0].MergeBase)
		}
		if got := hub.took(); len(got) != want {
			t.Errorf("look %d: %q", i, got)
		}
	}
}

func TestMergeBases(t *testing.T) {
	node := func(n int, parents ...int) obj {
		return commitsPart(n, parents...)["nodes"].([]any)[0].(obj)
	}
	many := func(total int, nodes ...any) obj { return obj{"totalCount": total, "nodes": nodes} }
	for name, tt := range map[string]struct {
		commits obj
		want    int    // 0: by comparison
		rest    string // the list of commits; "": not asked for, or of no use
		crossed bool
	}{
		// want -1: unknown, since GitHub lists less than it counts
		"one commit on the tip":    {many(1, node(1, tipSHA)), tipSHA, "", false},
		"one commit behind":        {many(1, node(1, 900)), 900, "", false},
		"a chain behind":           {many(2, node(2, 900), node(1, 2)), 900, "", false},
		"the tip merged in":        {many(2, node(2, 900), node(1, 2, tipSHA)), tipSHA, "", false},
		"an older tip merged in":   {many(2, node(2, 900), node(1, 2, 950)), 0, "", false},
		"criss-cross":              {many(2, node(2, 800), node(1, 2, 950)), 0, "", true},
		"three ways out":           {many(3, node(3, 900), node(2, 3, 950), node(1, 2, 900)), 0, "", false},
		"one of three beside":      {many(3, node(3, 900), node(2, 3, 950), node(1, 2, 800)), 0, "", true},
		"more commits than shown":  {many(3, node(2, 900)), 0, listOf(950, 900), false},
		"more, and criss-cross":    {many(3, node(2, 900)), 0, listOf(950, 800), true},
		"more, listed in part":     {many(4, node(2, 900)), -1, listOf(950, 900), true},
		"more than are listed":     {many(251, node(2, 900)), 0, "", true},
		"more, but on the tip":     {many(30, node(2, tipSHA)), tipSHA, "", false},
		"the head is not among":    {many(1, node(2, 900)), -1, "[]", true},
		"no commits":               {many(0), -1, "[]", true},
		"unrelated history":        {many(1, node(1)), 0, "", false},
		"base was moved onto ours": {many(2, node(tipSHA, 900), node(1, tipSHA)), tipSHA, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := pullPart(1)
			p["commits"] = tt.commits
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch {
				case r.URL.Path == "/repos/acme/fleet/compare/"+sha(tipSHA)+"..."+sha(1):
					return answerOf{code: 200, body: fmt.Sprintf(`{"merge_base_commit":{"sha":%q}}`, sha(950))}
				case strings.HasPrefix(r.URL.Path, "/repos/acme/fleet/compare/"): // 900 lies behind 950, 800 beside it
					shared := map[bool]int{true: 700, false: 900}[strings.Contains(r.URL.Path, sha(800))]
					return answerOf{code: 200, body: fmt.Sprintf(`{"merge_base_commit":{"sha":%q}}`, sha(shared))}
				case r.URL.Path == "/repos/acme/fleet/pulls/1/commits":
					return answerOf{code: 200, body: tt.rest}
				case operation(body) == "objects":
					return repoAnswer(obj{"o0": obj{"__typename": "Blob"}})
				}
				return sayRepo(repoPart(p))(r, body)
			}
			f := hub.forge(nil)
			want := tt.want
			if want == 0 {
				want = 950
			}
			if s := observe(t, f, Ask{}); s.Pulls[0].Unread.Is() != (want == -1) {
				t.Errorf("%+v", s.Pulls[0])
			} else if want != -1 && s.Pulls[0].MergeBase != plan.SHA(sha(want)) {
				t.Errorf("merge base %s, want %s", s.Pulls[0].MergeBase, sha(want))
			} else if s.Pulls[0].Crossed != tt.crossed {
				t.Errorf("crossed: %t", s.Pulls[0].Crossed)
			}
			hub.took()
			observe(t, f, Ask{})
			if d := cmp.Diff([]string{"look"}, hub.took()); d != "" {
				t.Error("asked again:", d)
			}
		})
	}
}

// listOf is REST's list of commits 3, 2, 1, each with the next for a parent; the last leaves to the given ones.
func listOf(leave ...int) string {
	const n = 3
	list := []string{}
	for i := n; i >= 1; i-- {
		parents := []string{fmt.Sprintf(`{"sha":%q}`, sha(i+1))}
		if i == n {
			parents = nil
			for _, l := range leave {
				parents = append(parents, fmt.Sprintf(`{"sha":%q}`, sha(l)))
			}
		}
		list = append(list, fmt.Sprintf(`{"sha":%q,"parents":[%s]}`, sha(i), strings.Join(parents, ",")))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// Without a common ancestor there is no merge base, and the head counts as behind.
func TestNoMergeBase(t *testing.T) {
	p := withFiles(pullPart(1), "a", "ADDED")
	p["commits"] = commitsPart(1)
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if r.Method == http.MethodGet && r.URL.Path != "/app" && operation(body) == "" && r.URL.Path != "/repos/acme/fleet/rules/branches/main" {
			return answerOf{code: 404, body: `{"message":"No common ancestor between a and b."}`}
		}
		return sayRepo(repoPart(p))(r, body)
	}
	if s := observe(t, hub.forge(nil), Ask{}); s.Pulls[0].MergeBase != "" || !s.Pulls[0].Crossed || !s.Pulls[0].Unread.Is() {
		t.Errorf("%+v", s.Pulls[0])
	}
}

// As many entries as there should be, but one of them twice: one is missing.
func TestLongListWithADuplicate(t *testing.T) {
	p := pullPart(1)
	nodes := []any{}
	for i := range maxFiles {
		nodes = append(nodes, obj{"path": fmt.Sprint("f", i), "changeType": "ADDED"})
	}
	p["files"], p["changedFiles"] = obj{"nodes": nodes}, maxFiles+2
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		switch {
		case r.URL.Path == "/repos/acme/fleet/pulls/1/files" && r.URL.Query().Get("page") == "2":
			return listed(t, restFile("x", "added", "", 1), restFile("x", "added", "", 1))
		case r.URL.Path == "/repos/acme/fleet/pulls/1/files":
			return listPage(t, r, maxFiles+2)
		case operation(body) == "objects":
			return repoAnswer(obj{"o0": nil})
		}
		return sayRepo(repoPart(p))(r, body)
	}
	if observe(t, hub.forge(nil), Ask{}).Pulls[0].Complete {
		t.Error("complete")
	}
}

// So many paths at one tip are told by its whole tree. What a tree does not show is not there.
func TestMovedPathsByTree(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		moved  int
		unread bool
	}{
		"whole": {answerOf{code: 200, body: `{"truncated":false,"tree":[{"path":"f0","type":"blob"},{"path":"f1","type":"blob"},{"path":"f2","type":"tree"}]}`}, manyPaths - 1, false},
		"cut":   {answerOf{code: 200, body: `{"truncated":true,"tree":[]}`}, manyPaths + 1, false}, // by their names
		"empty": {answerOf{code: 200}, 0, true},
		"null":  {answerOf{code: 200, body: `{"tree":null}`}, 0, true},
		"fault": {answerOf{code: 500}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := pullPart(1)
			p["commits"], p["changedFiles"] = commitsPart(1, tipSHA-1), manyPaths+1
			nodes := []any{}
			for i := range maxFiles {
				nodes = append(nodes, obj{"path": fmt.Sprint("f", i), "changeType": "DELETED"})
			}
			p["files"] = obj{"nodes": nodes}
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				switch r.URL.Path {
				case "/repos/acme/fleet/git/trees/" + sha(tipSHA):
					if r.URL.Query().Get("recursive") == "" {
						t.Error("a tree was asked for its top alone")
					}
					return tt.answer
				case "/repos/acme/fleet/pulls/1/files":
					a := listPage(t, r, manyPaths+1)
					a.body = strings.ReplaceAll(a.body, `"added"`, `"removed"`)
					return a
				}
				if operation(body) == "objects" {
					return sayTrees(body)
				}
				return sayRepo(repoPart(p))(r, body)
			}
			if p := observe(t, hub.forge(nil), Ask{}).Pulls[0]; len(p.Moved) != tt.moved || p.Unread.Is() != tt.unread {
				t.Errorf("%d moved, %+v", len(p.Moved), p.Unread)
			}
		})
	}
}

// sayTrees answers a query for objects: trees are there, and nothing else.
func sayTrees(body string) answerOf {
	answer := obj{}
	for name, v := range variables(body) {
		answer[name] = nil
		if strings.HasSuffix(fmt.Sprint(v), "^{tree}") {
			answer[name] = obj{"__typename": "Tree"}
		}
	}
	return repoAnswer(answer)
}
