package forge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
)

// lab is a Forge before a fake, with a clock that the test moves.
type lab struct {
	*fake
	now time.Time
	f   *Forge
}

func newLab(t *testing.T, say func(r *http.Request, body string) answerOf) *lab {
	t.Helper()
	l := &lab{fake: &fake{t: t, say: say}, now: at}
	l.f = l.forge(func(o *Options) { o.Now = func() time.Time { return l.now } })
	return l
}

func (l *lab) look(ask Ask) plan.Snapshot {
	l.t.Helper()
	s, err := l.f.Observe(context.Background(), testRepo, ask)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// askedFor counts the requests since the last time that begin so.
func (l *lab) askedFor(prefix string) int {
	n := 0
	for _, name := range l.took() {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// doubtful is a pull request of which a request of REST is needed: "files", "compare" or "commits".
func doubtful(n int, what string) obj {
	p := withFiles(pullPart(n), "a", "ADDED")
	switch what {
	case "files":
		p = withFiles(p, "b", "RENAMED")
	case "compare":
		p["commits"] = obj{"totalCount": 2, "nodes": []any{commitsPart(n, n+500, 900)["nodes"].([]any)[0], commitsPart(n+500, 950)["nodes"].([]any)[0]}}
	case "commits":
		p["commits"] = obj{"totalCount": 3, "nodes": commitsPart(n, 900)["nodes"]}
	}
	return p
}

// TestOneBadPullSpoilsNoOther: whatever a request about one pull request says, it is that pull request that is unknown, all others are
// as ever, and the repository is not gone. It is asked for again after a pause that doubles, or at once for another head.
func TestOneBadPullSpoilsNoOther(t *testing.T) {
	for _, what := range []string{"files", "compare", "commits"} {
		for name, bad := range map[string]answerOf{
			"422": {code: 422, body: `{"message":"Sorry, this diff is unavailable."}`}, "404": {code: 404, body: `{"message":"Not Found"}`},
			"403": {code: 403, body: `{"message":"Resource not accessible by integration"}`},
			"500": {code: 500}, "502": {code: 502, body: "<html>"}, "reset": {err: errors.New("reset")}, "cut": {code: 200, body: `[{"sha`},
			"empty": {code: 200}, "nothing": {code: 200, body: `{}`}, "gone": {code: 410},
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				answer, head := bad, 1
				l := newLab(t, nil)
				l.say = func(r *http.Request, body string) answerOf {
					switch {
					case strings.HasSuffix(r.URL.Path, "/commits"):
						if what != "commits" {
							return answerOf{code: 200, body: listOf(900)}
						}
						return answer
					case strings.Contains(r.URL.Path, "/compare/") && what == "commits":
						return answerOf{code: 200, body: fmt.Sprintf(`{"merge_base_commit":{"sha":%q}}`, sha(900))}
					case strings.HasSuffix(r.URL.Path, "/files"), strings.Contains(r.URL.Path, "/compare/"):
						return answer
					}
					one := doubtful(1, what)
					one["headRefOid"] = sha(head)
					return sayRepo(repoPart(one, pullPart(2)))(r, body)
				}
				s := l.look(Ask{})
				if p := s.Pulls[0]; !p.Unread.Is() || p.Unread.Passing == (name == "422" || name == "403") {
					t.Fatalf("%+v", p)
				}
				if p := s.Pulls[1]; p.Unread.Is() || !p.Complete || s.Again.IsZero() {
					t.Errorf("spoilt: %+v, %v", p, s.Again)
				}
				l.took()
				if s = l.look(Ask{}); !s.Pulls[0].Unread.Is() || l.askedFor("GET") != 0 {
					t.Error("asked again at once")
				}
				for range 3 {
					l.now = s.Again
					s = l.look(Ask{})
				}
				if p := s.Pulls[0]; p.Unread.Passing || s.Again.Sub(l.now) != 8*look.PartFirst {
					t.Errorf("%+v, again in %v", p.Unread, s.Again.Sub(l.now))
				}
				l.took()
				head = 3
				if l.look(Ask{}); l.askedFor("GET") == 0 {
					t.Error("another head is not asked for")
				}
			})
		}
	}
}

// TestWhatIsNoPartEndsTheLook: a limit or a key that is not taken is about the installation, whatever was asked for.
func TestWhatIsNoPartEndsTheLook(t *testing.T) {
	for want, bad := range map[client.Kind]answerOf{
		client.Limited: {code: 429, body: `{}`}, client.Unauthorized: {code: 401, body: `{}`}, client.Gone: {code: 403, body: `{"message":"This installation has been suspended"}`},
	} {
		l := newLab(t, nil)
		l.say = func(r *http.Request, body string) answerOf {
			if strings.HasSuffix(r.URL.Path, "/files") {
				return bad
			}
			return sayRepo(repoPart(doubtful(1, "files")))(r, body)
		}
		if _, err := l.f.Observe(context.Background(), testRepo, Ask{}); kindOf(err) != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestOnlyTheRepositorysOwnQuerySaysThatItIsGone: an error about what lies below it says so of that part alone.
func TestOnlyTheRepositorysOwnQuerySaysThatItIsGone(t *testing.T) {
	for path, want := range map[string]client.Kind{
		`["repository"]`: client.Gone, `["repository","defaultBranchRef","target"]`: client.Transient, `["repository","p0"]`: "",
		`["repository","b0"]`: "", `["repository","pullRequests","nodes",0,"headRepository"]`: "",
	} {
		l := newLab(t, nil)
		l.say = func(r *http.Request, body string) answerOf {
			if operation(body) != "look" && operation(body) != "pulls" && operation(body) != "heads" {
				return answerOf{}
			}
			repo := repoPart(pullPart(1))
			repo["p0"], repo["b0"] = nil, nil
			a := repoAnswer(repo)
			if operation(body) == "look" {
				a.body = strings.TrimSuffix(a.body, "}") + `,"errors":[{"type":"NOT_FOUND","path":` + path + `,"message":"x"}]}`
			}
			return a
		}
		ask := Ask{}
		if strings.Contains(path, "p0") {
			ask.Pulls = []int{9}
		}
		if s, err := l.f.Observe(context.Background(), testRepo, ask); kindOf(err) != want {
			t.Errorf("%s: %v", path, err)
		} else if err == nil && ask.Pulls == nil && len(s.Pulls) != 1 {
			t.Errorf("%s: %+v", path, s.Pulls)
		}
	}
	l := newLab(t, func(r *http.Request, _ string) answerOf { return answerOf{code: 404, body: `{}`} })
	l.say = func(r *http.Request, _ string) answerOf {
		if r.URL.Path == "/app" {
			return answerOf{code: 404, body: `{}`}
		}
		return answerOf{}
	}
	if _, err := l.f.Observe(context.Background(), testRepo, Ask{}); kindOf(err) != client.Transient {
		t.Errorf("the App: %v", err)
	}
}

// sayNumbers answers a query for pull requests by their numbers.
func sayNumbers(body string, pull func(n int) obj) answerOf {
	repo := obj{}
	for name, v := range variables(body) {
		var n int
		if _, err := fmt.Sscan(fmt.Sprint(v), &n); err == nil && name[0] == 'p' {
			repo[name] = pull(n)
		}
	}
	return repoAnswer(repo)
}

// TestOnePullThatIsTooHeavyAlone: GitHub can show all of every pull request but one. That one is unknown, but a success of ours on it
// is seen; the others are whole, and the next look does not search for it again.
func TestOnePullThatIsTooHeavyAlone(t *testing.T) {
	var all []obj
	for n := 1; n <= 60; n++ {
		all = append(all, pullPart(n))
	}
	green := statusPart("sluice/main", "SUCCESS", "Bot", "sluice")
	all[6]["statusCheckRollup"] = obj{"state": "SUCCESS", "commit": obj{"oid": sha(7), "status": obj{"s0": green}}}
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		switch op := operation(body); {
		case op == "look" && strings.Contains(body, partDetail):
			return answerOf{code: 502}
		case op == "pulls":
			for name, v := range variables(body) {
				if name[0] == 'p' && fmt.Sprint(v) == "7" {
					return answerOf{code: 502}
				}
			}
			return sayNumbers(body, pullPart)
		case op == "heads":
			return repoAnswer(obj{"g0": obj{"oid": sha(7), "status": obj{"contexts": []any{green}}}})
		}
		return sayRepo(repoPart(all...))(r, body)
	}
	for i := range 2 {
		s := l.look(Ask{})
		if len(s.Pulls) != 60 {
			t.Fatalf("%d pull requests", len(s.Pulls))
		}
		for _, p := range s.Pulls {
			if p.Unread.Is() != (p.Number == 7) || p.Number != 7 && (!p.Complete || !p.ChecksAll) {
				t.Errorf("%+v", p)
			}
			if p.Number == 7 && (len(p.Ours) != 1 || p.Ours[0].State != plan.Success || p.Complete || p.ChecksAll || !p.Crossed) {
				t.Errorf("%+v", p)
			}
		}
		if n := len(l.took()); i == 1 && n != 1 { // the others are known
			t.Errorf("%d requests", n)
		}
	}
}

// TestOneGroupThatCannotBeRead: a group's comparison or its statuses fail. The other groups and the pull requests are as ever.
func TestOneGroupThatCannotBeRead(t *testing.T) {
	for _, what := range []string{"compare", "heavy"} {
		l := newLab(t, nil)
		l.say = func(r *http.Request, body string) answerOf {
			bad := strings.HasSuffix(r.URL.Path, "..."+sha(9)) || what == "heavy" && strings.Contains(body, sha(9))
			if bad && r.URL.Path != "/graphql" {
				return answerOf{code: 500}
			}
			if bad {
				if what == "heavy" {
					return answerOf{code: 504}
				}
			}
			if strings.Contains(r.URL.Path, "/compare/") {
				return answerOf{code: 200, body: `{"status":"ahead","files":[{"filename":"a","status":"added"}]}`}
			}
			if operation(body) == "pulls" {
				return sayNumbers(body, pullPart)
			}
			return sayGroups(r, body, pullPart(1))
		}
		s := l.look(Ask{Groups: groupsOf("main", 9, 10)})
		if len(s.Groups) != 2 || len(s.Pulls) != 1 || s.Pulls[0].Unread.Is() || !s.Pulls[0].Complete {
			t.Fatalf("%s: %+v", what, s)
		}
		for _, g := range s.Groups {
			if g.Unread.Is() != (g.Head == plan.SHA(sha(9))) || g.Complete == g.Unread.Is() {
				t.Errorf("%s: %+v", what, g)
			}
		}
	}
}

// groupsOf are merge groups into a base, each on its tip.
func groupsOf(base plan.Branch, heads ...int) []plan.Group {
	var all []plan.Group
	for _, head := range heads {
		all = append(all, plan.Group{Base: base, BaseSHA: plan.SHA(sha(tipSHA)), Head: plan.SHA(sha(head))})
	}
	return all
}

// sayGroups answers looks and queries for heads and bases; a base whose name begins with "bare" has no file.
func sayGroups(r *http.Request, body string, pulls ...obj) answerOf {
	if r.URL.Path != "/graphql" {
		return answerOf{}
	}
	repo := repoPart(pulls...)
	for name, v := range variables(body) {
		text := fmt.Sprint(v)
		switch {
		case len(text) == 40 && name != "owner" && name != "name":
			repo[name] = obj{"oid": text, "status": nil}
		case strings.HasPrefix(text, "refs/heads/bare"):
			repo[name] = basePart(strings.TrimPrefix(text, "refs/heads/"), "")
		case strings.HasPrefix(text, "refs/heads/"):
			repo[name] = basePart(strings.TrimPrefix(text, "refs/heads/"), "version: 1\n")
		}
	}
	return repoAnswer(repo)
}

// TestManyWaitingGroups: however many groups wait, each has its answer within a few looks, and those into a base without a file are
// left out.
func TestManyWaitingGroups(t *testing.T) {
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			return answerOf{code: 200, body: `{"status":"ahead","files":[{"filename":"a","status":"added"}]}`}
		}
		return sayGroups(r, body)
	}
	var ask Ask
	for n := range 100 {
		ask.Groups = append(ask.Groups, groupsOf("bare", 2000+n)...)
	}
	for n := range 70 {
		ask.Groups = append(ask.Groups, groupsOf(plan.Branch(fmt.Sprint("x", n)), 3000+n)...)
	}
	for i, want := range []int{maxGroupLists, 2 * maxGroupLists, 70} {
		s := l.look(ask)
		if len(s.Groups) != want || want < 70 && s.Again.IsZero() {
			t.Fatalf("look %d: %d groups", i, len(s.Groups))
		}
		for _, g := range s.Groups {
			if !g.Complete || g.Base == "bare" {
				t.Errorf("%+v", g)
			}
		}
	}
}

// TestAHighStackOfGroups: a group is shown only with all that it stands on, whose lists are read in turn; and each list once.
func TestAHighStackOfGroups(t *testing.T) {
	l := newLab(t, nil)
	compared := map[string]int{}
	l.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			compared[r.URL.Path]++
			return answerOf{code: 200, body: `{"status":"ahead","files":[{"filename":"a","status":"added"}]}`}
		}
		return sayGroups(r, body)
	}
	const many = 2*maxGroupLists + 5
	ask := Ask{Groups: groupsOf("main", many)}
	for head := many; head > 1; head-- { // the highest are asked for first
		ask.Groups[len(ask.Groups)-1].BaseSHA = plan.SHA(sha(head - 1))
		ask.Groups = append(ask.Groups, groupsOf("main", head-1)...)
	}
	for i, want := range []int{0, 0, many} {
		if s := l.look(ask); len(s.Groups) != want || want == 0 && s.Again.IsZero() {
			t.Fatalf("look %d: %d groups", i, len(s.Groups))
		}
	}
	if len(compared) != many || slices.Max(slices.Collect(maps.Values(compared))) > 1 {
		t.Errorf("%d lists were read, some of them often: %v", len(compared), compared)
	}
}

// TestManyBases: stacked pull requests have as many bases as there are pull requests. All of them are read, in few queries, and their
// rules in turn, the default branch's among the first.
func TestManyBases(t *testing.T) {
	pages := race.Or(3, 10)
	l := newLab(t, nil)
	rulesets := map[string]bool{}
	l.say = func(r *http.Request, body string) answerOf {
		if name, ok := strings.CutPrefix(r.URL.Path, "/repos/acme/fleet/rules/branches/"); ok {
			rulesets[name] = true
			return answerOf{code: 200, body: `[]`}
		}
		if operation(body) != "look" {
			return sayGroups(r, body)
		}
		page := 0
		if after := variables(body)["after"]; after != nil {
			_, _ = fmt.Sscan(fmt.Sprint(after), &page)
		}
		var pulls []obj
		for n := page * 100; n < page*100+100; n++ {
			p := pullPart(n + 1)
			p["baseRefName"] = fmt.Sprint("s", n)
			pulls = append(pulls, p)
		}
		repo := repoPart(pulls...)
		repo["pullRequests"].(obj)["pageInfo"] = obj{"hasNextPage": page+1 < pages, "endCursor": fmt.Sprint(page + 1)}
		for name, v := range variables(body) {
			if base, ok := strings.CutPrefix(fmt.Sprint(v), "refs/heads/"); ok {
				repo[name] = basePart(base, "version: 1\n")
			}
		}
		return repoAnswer(repo)
	}
	// Each look reads the rules of as many as it may: GitHub's pace is kept, and the next look goes on.
	l.f = l.forge(func(o *Options) { o.Now, o.Pace = func() time.Time { return l.now }, 0 })
	s := l.look(Ask{})
	if len(s.Bases) != pages*100+1 || len(s.Pulls) != pages*100 {
		t.Fatalf("%d bases", len(s.Bases))
	}
	for name, b := range s.Bases {
		if b.Unread.Is() || b.Policy == nil {
			t.Fatalf("%s: %+v", name, b)
		}
	}
	if n := l.askedFor("bases"); n > pages {
		t.Errorf("%d queries for bases", n)
	}
	if len(rulesets) != maxRulesRead || !s.Bases["main"].Rules {
		t.Errorf("%d rules, %+v", len(rulesets), s.Bases["main"])
	}
	for range pages {
		s = l.look(Ask{})
	}
	if len(rulesets) != pages*100+1 {
		t.Errorf("%d rules", len(rulesets))
	}
}

// TestABaseThatNeverRests: somebody pushes to their branch all the time, so that its tip is another one on each page. That base alone is
// unknown.
func TestABaseThatNeverRests(t *testing.T) {
	tip := 2000
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		if operation(body) != "look" && operation(body) != "bases" {
			return answerOf{}
		}
		tip++
		evil := pullPart(1)
		evil["baseRefName"], evil["baseRef"] = "evil", obj{"target": obj{"oid": sha(tip)}}
		repo := repoPart(evil, pullPart(2))
		for name := range variables(body) {
			if name == "b0" {
				repo[name] = basePart("evil", "version: 1\n")
				tip++
				repo[name].(obj)["target"].(obj)["oid"] = sha(tip)
			}
		}
		return repoAnswer(repo)
	}
	s := l.look(Ask{})
	if !s.Bases["evil"].Unread.Is() || !s.Pulls[0].Unread.Is() || s.Pulls[1].Unread.Is() || s.Bases["main"].Unread.Is() {
		t.Errorf("%+v", s)
	}
}

// TestANullIsNoAnswer: a path, or a head's rules file, that is not there is known only where the same answer shows the tree that it
// should stand in.
func TestANullIsNoAnswer(t *testing.T) {
	for _, what := range []string{"path", "rules"} {
		p := withFiles(pullPart(1), "a", "MODIFIED")
		if what == "path" {
			p["commits"] = commitsPart(1, tipSHA-1)
		} else {
			p["files"], p["changedFiles"] = obj{"nodes": []any{}}, 4000 // not all are known: it may delete the file
		}
		onlyNulls := true
		l := newLab(t, nil)
		l.say = func(r *http.Request, body string) answerOf {
			if operation(body) != "objects" {
				return sayRepo(repoPart(p, pullPart(2)))(r, body)
			}
			answer := obj{}
			for name, v := range variables(body) {
				answer[name] = nil
				if text := fmt.Sprint(v); !onlyNulls && strings.HasSuffix(text, "^{tree}") {
					answer[name] = obj{"__typename": "Tree"}
				} else if !onlyNulls {
					answer[name] = obj{"__typename": "Blob", "oid": sha(len("version: 1\n")), "byteSize": 11, "text": "version: 1\n"}
				}
			}
			return repoAnswer(answer)
		}
		s := l.look(Ask{})
		if p := s.Pulls[0]; !p.Unread.Is() || p.Moved != nil || p.Rules != nil || s.Pulls[1].Unread.Is() {
			t.Errorf("%s: %+v", what, p)
		}
		onlyNulls, l.now = false, s.Again
		if p := l.look(Ask{}).Pulls[0]; p.Unread.Is() || p.Moved != nil || p.Rules != nil {
			t.Errorf("%s is remembered: %+v", what, p)
		}
	}
}

// TestA404IsNoMergeBase: a comparison that GitHub does not find is no proof that head and base were merged crosswise.
func TestA404IsNoMergeBase(t *testing.T) {
	p := doubtful(1, "commits")
	missing := true
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		switch {
		case strings.HasSuffix(r.URL.Path, "/commits"):
			return answerOf{code: 200, body: listOf(950, 900)}
		case strings.HasSuffix(r.URL.Path, "/compare/"+sha(tipSHA)+"..."+sha(1)):
			return answerOf{code: 200, body: fmt.Sprintf(`{"merge_base_commit":{"sha":%q}}`, sha(950))}
		case strings.Contains(r.URL.Path, "/compare/") && missing:
			return answerOf{code: 404, body: `{"message":"Not Found"}`}
		case strings.Contains(r.URL.Path, "/compare/"):
			return answerOf{code: 200, body: fmt.Sprintf(`{"merge_base_commit":{"sha":%q}}`, sha(900))}
		}
		return sayRepo(repoPart(p))(r, body)
	}
	s := l.look(Ask{})
	if !s.Pulls[0].Unread.Is() {
		t.Errorf("%+v", s.Pulls[0])
	}
	missing, l.now = false, s.Again
	if p := l.look(Ask{}).Pulls[0]; p.Unread.Is() || p.Crossed || p.MergeBase != plan.SHA(sha(950)) {
		t.Errorf("a 404 is remembered: %+v", p)
	}
}

// TestRESTIsAway: GraphQL answers and REST does not. The look ends soon, and what it needed of REST is unknown.
func TestRESTIsAway(t *testing.T) {
	var all []obj
	for n := 1; n <= 90; n++ {
		all = append(all, doubtful(n, "files"))
	}
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		if r.URL.Path != "/graphql" && r.URL.Path != "/app" && !strings.HasSuffix(r.URL.Path, "/access_tokens") {
			return answerOf{err: errors.New("connection refused")}
		}
		return sayRepo(repoPart(append(all, pullPart(91))...))(r, body)
	}
	s := l.look(Ask{})
	for _, p := range s.Pulls {
		if p.Unread.Is() != (p.Number <= 90) {
			t.Fatalf("%+v", p)
		}
	}
	if n := l.askedFor("GET"); n > maxSilent+2*readers {
		t.Errorf("%d requests", n)
	}
	if s.Bases["main"].Rules {
		t.Error("rules out of nothing")
	}
}

// TestListsHaveTurns: lists of files that never fit their pull requests keep no other waiting for ever.
func TestListsHaveTurns(t *testing.T) {
	var all []obj
	for n := 1; n <= 12; n++ {
		p := pullPart(n)
		p["files"], p["changedFiles"] = obj{"nodes": []any{}}, maxListed
		all = append(all, p)
	}
	read := map[string]bool{}
	l := newLab(t, nil)
	l.say = func(r *http.Request, body string) answerOf {
		if strings.HasSuffix(r.URL.Path, "/files") {
			read[r.URL.Path] = true
			return listed(t, restFile("x", "added", "", 1), restFile("x", "added", "", 1))
		}
		if operation(body) == "objects" {
			return sayTrees(body)
		}
		return sayRepo(repoPart(all...))(r, body)
	}
	for range 3 {
		l.look(Ask{})
	}
	if len(read) != 12 {
		t.Errorf("read %d lists of 12", len(read))
	}
}

// TestRulesThatWereReadCount: to ask anew for rules, and to hear nothing, takes nothing back as long as they would have counted.
func TestRulesThatWereReadCount(t *testing.T) {
	l := newLab(t, nil)
	bad := false
	l.say = func(r *http.Request, body string) answerOf {
		if bad && strings.Contains(r.URL.Path, "/rules/") {
			return answerOf{code: 500}
		}
		return sayRepo(repoPart())(r, body)
	}
	l.look(Ask{})
	bad = true
	if s := l.look(Ask{Rules: true}); !s.Bases["main"].Rules || s.Again.IsZero() {
		t.Errorf("%+v", s)
	}
	l.now = l.now.Add(rulesTTL)
	if s := l.look(Ask{}); s.Bases["main"].Rules {
		t.Errorf("%+v", s)
	}
}

// TestReasonsOfParts: what people read says what and why; GitHub's own words only where it refuses, for of a fault they differ each time.
func TestReasonsOfParts(t *testing.T) {
	got := []string{}
	for _, e := range []*client.Error{{Kind: client.Refused, Reason: "too large"}, {Kind: client.Gone, Reason: "x"}, {Kind: client.Transient, Reason: "x"}} {
		got = append(got, look.NotRead(whatFiles, e))
	}
	if d := cmp.Diff([]string{
		"cannot read its list of files: GitHub refused: too large", "cannot read its list of files: not found on GitHub", "cannot read its list of files: no valid answer from GitHub",
	}, got); d != "" {
		t.Error(d)
	}

}
