package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// linkPart is a commit of a page of history; a parent below 0 is none.
func linkPart(n, parent int, headline string) obj {
	parents := obj{"totalCount": 0, "nodes": []any{}}
	if parent >= 0 {
		parents = obj{"totalCount": 2, "nodes": []any{obj{"oid": sha(parent)}}}
	}
	return obj{"oid": sha(n), "committedDate": "2026-11-20T10:00:00Z", "messageHeadline": headline, "parents": parents}
}

func connectionPart(more bool, nodes ...any) obj {
	if nodes == nil {
		nodes = []any{}
	}
	return obj{"nodes": nodes, "pageInfo": obj{"hasNextPage": more, "endCursor": "c"}}
}

// sourcePart is the default branch with windowed branches in its file and a page of its history.
func sourcePart(checks string, names []string, history ...any) obj {
	base := basePart("main", windowedText(checks, names...))
	base["target"].(obj)["history"] = connectionPart(true, history...)
	base["target"].(obj)["recent"] = connectionPart(false)
	return base
}

func tipPart(name string, n int, contexts ...any) obj {
	var status any
	if contexts != nil {
		status = obj{"contexts": contexts}
	}
	return obj{"name": name, "refUpdateRule": nil, "target": obj{"__typename": "Commit", "oid": sha(n), "status": status}}
}

// branchesHub is a fake that shows one source and its branches, and whatever else is asked by alias.
type branchesHub struct {
	*fake
	source obj
	tips   map[string]obj
	rules  map[string]any // lists of rules by branch
	more   map[string]any // other aliases of whichever query
	asked  []string       // queries about branches
}

func newBranchesHub(t *testing.T, source obj, tips map[string]obj) *branchesHub {
	h := &branchesHub{fake: &fake{t: t}, source: source, tips: tips, more: map[string]any{}}
	h.say = h.answer
	return h
}

func (h *branchesHub) answer(r *http.Request, body string) answerOf {
	if r.URL.Path != "/graphql" {
		return answerOf{}
	}
	repository := obj{}
	if operation(body) == "look" {
		repository = repoPart()
		repository["defaultBranchRef"] = h.source
	} else {
		h.asked = append(h.asked, body)
	}
	for name, v := range variables(body) {
		text, _ := v.(string)
		branch := strings.TrimPrefix(text, "refs/heads/")
		switch {
		case strings.HasPrefix(name, "t") && h.tips[branch] != nil:
			repository[name] = h.tips[branch]
		case strings.HasPrefix(name, "r") && h.rules[branch] != nil:
			repository[name] = h.rules[branch]
		case strings.HasPrefix(name, "b") && branch == "main":
			repository[name] = h.source
		case h.more[text] != nil:
			repository[name] = h.more[text]
		case name == "oid":
			repository["object"] = h.more["more"]
		case strings.ContainsAny(name[:1], "tbhcsr"):
			repository[name] = nil
		}
	}
	if strings.Contains(body, "names: refs") {
		repository["names"] = connectionPart(false)
	}
	return repoAnswer(repository)
}

// A page of history is in the order of dates: a side branch of many young commits may fill it. The walk goes on from the commit
// that it came to.
func TestSideBranchesFillAPage(t *testing.T) {
	var page []any
	page = append(page, linkPart(tipSHA, 2000, "merge"))
	for i := range 99 {
		page = append(page, linkPart(3000+i, 3001+i, "side"))
	}
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, page...), map[string]obj{"a": tipPart("a", 2002)})
	h.more[sha(2000)] = obj{"oid": sha(2000), "history": connectionPart(false, linkPart(2000, 2001, "x"), linkPart(2001, 2002, "y"), linkPart(2002, -1, "z"))}
	f := h.forge(nil)
	s := observe(t, f, Ask{})
	b, main := s.Branches[0], s.Sources["main"]
	if b.Relation != plan.Behind || b.Reach != 3 || len(main.Line) != 4 {
		t.Errorf("%+v %+v", b, main)
	}
	h.took()
	if observe(t, f, Ask{}); !slices.Equal(h.took(), []string{"look"}) {
		t.Error("a quiet look is one request")
	}
}

// GitHub goes on and on with commits that lead nowhere: a bounded number of pages is read.
func TestLinesAreBounded(t *testing.T) {
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, 2000, "x")), map[string]obj{"a": tipPart("a", 1)})
	for i := range 3 * maxLine {
		h.more[sha(2000+i)] = obj{"oid": sha(2000 + i), "history": connectionPart(true, linkPart(2000+i, 2001+i, "y"))}
	}
	h.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			return answerOf{code: 200, body: `{"status":"diverged"}`}
		}
		return h.answer(r, body)
	}
	f := h.forge(nil)
	s := observe(t, f, Ask{})
	if n := len(s.Sources["main"].Line); n != 1+maxLinePages || s.Branches[0].Relation != plan.Diverged {
		t.Errorf("%d commits, %+v", n, s.Branches[0])
	}
	for range maxLine / maxLinePages {
		s = observe(t, f, Ask{})
	}
	if n := len(s.Sources["main"].Line); n != maxLine {
		t.Errorf("%d commits", n)
	}
	h.took()
	if observe(t, f, Ask{}); len(h.took()) != 1 {
		t.Error("a line that is long enough is not read on")
	}
	loop := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, 2000, "x"), linkPart(2000, tipSHA, "y")), map[string]obj{"a": tipPart("a", 2000)})
	if s = observe(t, loop.forge(nil), Ask{}); len(s.Sources["main"].Line) != 2 {
		t.Errorf("a circle: %+v", s.Sources["main"])
	}
	hiddenParent := linkPart(tipSHA, 2000, "x")
	hiddenParent["parents"].(obj)["nodes"] = []any{}
	hidden := newBranchesHub(t, sourcePart("none", []string{"a"}, hiddenParent), map[string]obj{"a": tipPart("a", tipSHA)})
	if s = observe(t, hidden.forge(nil), Ask{}); len(s.Sources["main"].Line) != 1 {
		t.Errorf("a parent that is not shown is not none: %+v", s.Sources["main"])
	}
}

func TestHostileTexts(t *testing.T) {
	long := "a\u202eb\x1b[31m\n" + strings.Repeat("ö", 500) + " ghs_abcDEF"
	report := statusPart("kustomization/x\u2066\x07y", "FAILURE", "User", "flux")
	report["description"] = long
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, long)), map[string]obj{"a": tipPart("a", tipSHA, report)})
	s := observe(t, h.forge(nil), Ask{})
	if got := s.Sources["main"].Line[0].Subject; len([]rune(got)) != maxSubject || !strings.HasPrefix(got, "a b [31m öö") {
		t.Errorf("%q", got)
	}
	r := s.Branches[0].Reports[0]
	if r.Object != "x y" || len([]rune(r.Says)) > 300 || strings.ContainsAny(r.Says, "\u202e\x1b\n") || r.State != plan.CheckRed {
		t.Errorf("%+v", r)
	}
}

// What Flux says of a source is none of the windowed branch's business, although both stand at one commit.
func TestReportsOfTheSource(t *testing.T) {
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "x")), map[string]obj{"a": tipPart("a", tipSHA,
		statusPart("kustomization/Main/apps-rt", "FAILURE", "User", "flux"), statusPart("kustomization/a/apps-rw", "SUCCESS", "User", "flux"))})
	got := observe(t, h.forge(nil), Ask{}).Branches[0].Reports
	if len(got) != 1 || got[0].Branch != "a" || got[0].State != plan.CheckGreen {
		t.Errorf("%+v", got)
	}
}

// A date that no clock shows is no reason to understand nothing: anybody may commit with it.
func TestOddDates(t *testing.T) {
	for _, date := range []string{"10000-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "yesterday", ""} {
		odd := linkPart(2, -1, "y")
		odd["committedDate"] = date
		h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, 2, "x"), odd), map[string]obj{"a": tipPart("a", 2)})
		s := observe(t, h.forge(nil), Ask{})
		line := s.Sources["main"].Line
		if len(line) != 2 || !line[1].At.IsZero() || line[0].At.IsZero() || s.Branches[0].Relation != plan.Behind {
			t.Errorf("%q: %+v, %+v", date, line, s.Branches[0])
		}
		if _, err := json.Marshal(line); err != nil {
			t.Errorf("%q: %v", date, err)
		}
	}
}

func judgedPart(more bool, became []any, contexts ...any) obj {
	return obj{
		"oid": sha(tipSHA), "statusCheckRollup": obj{"contexts": connectionPart(more, contexts...)},
		"associatedPullRequests": obj{"nodes": became},
	}
}

func becamePart(number, head, merged int, base string) obj {
	return obj{
		"number": number, "merged": true, "baseRefName": base, "headRefOid": sha(head), "mergeCommit": obj{"oid": sha(merged)},
		"statusCheckRollup": obj{"contexts": connectionPart(number == 9, statusPart("ci", "SUCCESS", "User", "ci"))},
	}
}

// Which pull request a commit came from, further pages of reports, and lists that are not whole.
func TestWhatJudgesACommit(t *testing.T) {
	open := becamePart(3, 31, tipSHA, "main")
	open["merged"] = false
	for name, tt := range map[string]struct {
		became []any
		others int // pull requests that are not shown
		more   bool
		page   any // the further page
		pull   int
		whole  bool
		head   bool
	}{
		"none":              {whole: true},
		"as this commit":    {became: []any{becamePart(1, 11, 5, "main"), becamePart(2, 21, tipSHA, "main")}, pull: 2, whole: true, head: true},
		"with this commit":  {became: []any{open, becamePart(1, 11, 5, "main")}, whole: true},
		"not shown":         {became: []any{open, open, open}, others: 1},
		"somewhere else":    {became: []any{becamePart(1, 11, tipSHA, "other"), open}, whole: true},
		"a head not whole":  {became: []any{becamePart(9, 11, tipSHA, "main")}, pull: 9, whole: true},
		"further page":      {more: true, page: obj{"oid": sha(tipSHA), "statusCheckRollup": obj{"contexts": connectionPart(false, statusPart("late", "FAILURE", "User", "ci"))}}, whole: true},
		"page without end":  {more: true, page: obj{"oid": sha(tipSHA), "statusCheckRollup": obj{"contexts": connectionPart(true)}}},
		"page that is gone": {more: true},
	} {
		source := sourcePart("required", []string{"a"}, linkPart(tipSHA, 2, "x"), linkPart(2, -1, "y"))
		checked := judgedPart(tt.more, tt.became,
			statusPart("sluice/promote/a", "SUCCESS", "Bot", "sluice"), statusPart("Sluice/other", "SUCCESS", "User", "x"),
			statusPart("ci", "SUCCESS", "User", "ci"), statusPart("lint", "SUCCESS", "Bot", "sluice"))
		checked["associatedPullRequests"].(obj)["totalCount"] = len(tt.became) + tt.others
		source["target"].(obj)["recent"] = connectionPart(false, checked)
		h := newBranchesHub(t, source, map[string]obj{"a": tipPart("a", 2)})
		h.more["more"] = tt.page
		c := observe(t, h.forge(nil), Ask{}).Sources["main"].Line[0]
		checks := []plan.Check{{Context: "ci", By: "ci", State: plan.CheckGreen}}
		if name == "further page" {
			checks = append(checks, plan.Check{Context: "late", By: "ci", State: plan.CheckRed})
		}
		if d := cmp.Diff(checks, c.Checks, undated); d != "" || !c.Read || c.ChecksAll != tt.whole || len(c.Ours) != 1 || c.Ours[0].By != "sluice" {
			t.Errorf("%s: %s%+v", name, d, c)
		}
		switch {
		case tt.pull == 0 && c.Head != nil:
			t.Errorf("%s: %+v", name, c.Head)
		case tt.pull != 0 && (c.Head == nil || c.Head.Pull != tt.pull || c.Head.ChecksAll != tt.head || len(c.Head.Checks) != 1):
			t.Errorf("%s: %+v", name, c.Head)
		}
	}
}

// A page that GitHub finds too heavy is asked for without the branches, which are read apart for a while.
func TestBranchesAreReadApart(t *testing.T) {
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "x")), map[string]obj{"a": tipPart("a", tipSHA)})
	now := &clock{now: at}
	f := h.forge(func(o *Options) { o.Now = now.read })
	observe(t, f, Ask{})
	answer := h.say
	h.say = func(r *http.Request, body string) answerOf {
		if operation(body) == "look" && strings.Contains(body, "t0: ref") {
			return answerOf{code: 502}
		}
		return answer(r, body)
	}
	h.took()
	for i, want := range [][]string{{"branches", "look", "look"}, {"branches", "look"}} {
		if s := observe(t, f, Ask{}); s.Branches[0].Relation != plan.Level {
			t.Errorf("%+v", s.Branches)
		}
		if got := h.took(); !slices.Equal(got, want) {
			t.Errorf("look %d: %v", i, got)
		}
	}
	h.say = answer
	now.pass(2 * leastTTL)
	if observe(t, f, Ask{}); !slices.Equal(h.took()[:2], []string{"GET /repos/acme/fleet/rules/branches/main", "look"}) {
		t.Error("apart for ever")
	}
}

// Answers that contradict themselves are no answers.
func TestTipsThatCannotBeTold(t *testing.T) {
	other := tipPart("A", tipSHA)
	bare := tipPart("a", tipSHA)
	bare["target"] = nil
	for name, tip := range map[string]obj{"another name": other, "no target": bare} {
		h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "x")), map[string]obj{"a": tip})
		if b := observe(t, h.forge(nil), Ask{}).Branches[0]; !b.Unread.Is() || b.Relation != plan.RelationUnknown || b.Tip != "" {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// A thousand reports on one commit are not a thousand for each of a thousand branches; what went wrong is not cut off.
func TestManyReports(t *testing.T) {
	var contexts []any
	for i := range 3 * maxReports {
		contexts = append(contexts, statusPart(fmt.Sprintf("kustomization/apps/%d", i), "SUCCESS", "User", "flux"))
	}
	contexts = append(contexts, statusPart("kustomization/apps/bad", "ERROR", "User", "flux"), statusPart("kustomization/a/x", "PENDING", "User", "flux"))
	h := newBranchesHub(t, sourcePart("none", []string{"a", "b"}, linkPart(tipSHA, -1, "x")),
		map[string]obj{"a": tipPart("a", tipSHA, contexts...), "b": tipPart("b", tipSHA, contexts...)})
	s := observe(t, h.forge(nil), Ask{})
	for i, b := range s.Branches {
		if cap(b.Reports) != len(b.Reports) {
			t.Error("whoever adds a report adds it to other branches")
		}
		if len(b.Reports) != maxReports || b.Reports[0].Object != "apps/bad" || (b.Reports[1].Branch == "a") != (i == 0) {
			t.Errorf("%s: %d, %+v", b.Name, len(b.Reports), b.Reports[:2])
		}
	}
}

// What is too heavy all together is asked for in halves, as long as there is something to divide.
func TestHeavyBranches(t *testing.T) {
	names := manyNames(20)
	tips := map[string]obj{}
	for _, name := range names {
		tips[name] = tipPart(name, tipSHA)
	}
	h := newBranchesHub(t, sourcePart("all", names, linkPart(tipSHA, -1, "x")), tips)
	most := 6
	h.say = func(r *http.Request, body string) answerOf {
		if operation(body) == "branches" && strings.Count(body, ": ref(") > most {
			return answerOf{code: 502}
		}
		return h.answer(r, body)
	}
	s := observe(t, h.forge(nil), Ask{})
	for _, b := range s.Branches {
		if b.Relation != plan.Level {
			t.Errorf("%+v", b)
		}
	}
	most = 0
	h.took()
	f := h.forge(nil)
	s = observe(t, f, Ask{})
	if n := len(h.took()); n > 3*maxHeavy || !s.Branches[0].Unread.Is() || !s.Branches[19].Unread.Is() {
		t.Errorf("%d requests: %+v", n, s.Branches)
	}
	if observe(t, f, Ask{}); len(h.took()) != 1 {
		t.Error("what was too heavy is asked for again at once")
	}
}

// A branch that is not there is made at the newest commit of its source that will do, however many were pushed at once since the last look: of
// the line as much is read as if it were new.
func TestAMissingBranchHasTheWholeLine(t *testing.T) {
	pushed := func(from, n int) (page []any) {
		for i := range n {
			page = append(page, linkPart(from+i, from+i+1, "pushed"))
		}
		return page
	}
	h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "first")), nil)
	h.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			return answerOf{code: 200, body: `{"status":"diverged"}`}
		}
		return h.answer(r, body)
	}
	f := h.forge(nil)
	observe(t, f, Ask{})
	h.source = sourcePart("none", []string{"a"}, pushed(3000, lineAhead)...)
	h.source["target"].(obj)["oid"] = sha(3000)
	rest := append(pushed(3000+lineAhead, 30), linkPart(3000+lineAhead+30, tipSHA, "pushed"))
	h.more[sha(3000+lineAhead)] = obj{"oid": sha(3000 + lineAhead), "history": connectionPart(false, rest...)}
	s := observe(t, f, Ask{})
	if b, main := s.Branches[0], s.Sources["main"]; b.Relation != plan.Absent || len(main.Line) != lineAhead+32 {
		t.Errorf("%+v, a line of %d", b, len(main.Line))
	}
	h.took()
	if observe(t, f, Ask{}); !slices.Equal(h.took(), []string{"look"}) {
		t.Error("a quiet look is one request", h.took())
	}
}

// A comparison that fails tells nothing: the branch is unknown, and it is asked for again after a pause. Nothing of it is remembered as
// an answer, a 404 least of all: it may be a commit that GitHub does not have everywhere yet.
func TestComparisons(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answerOf
		want   plan.Relation
		kind   client.Kind
		again  int // comparisons of the next look
	}{
		"ahead":      {answerOf{code: 200, body: `{"status":"ahead"}`}, plan.Behind, "", 0},
		"behind":     {answerOf{code: 200, body: `{"status":"behind"}`}, plan.Beyond, "", 0},
		"identical":  {answerOf{code: 200, body: `{"status":"identical"}`}, plan.Level, "", 0},
		"diverged":   {answerOf{code: 200, body: `{"status":"diverged"}`}, plan.Diverged, "", 0},
		"unknown":    {answerOf{code: 200, body: `{"status":"sideways"}`}, plan.RelationUnknown, "", 0},
		"empty":      {answerOf{code: 200, body: `{}`}, plan.RelationUnknown, "", 0},
		"not found":  {answerOf{code: 404, body: `{}`}, plan.RelationUnknown, "", 0},
		"refused":    {answerOf{code: 422, body: `{}`}, plan.RelationUnknown, "", 0},
		"fault":      {answerOf{code: 500}, plan.RelationUnknown, "", 0},
		"no answer":  {answerOf{err: errors.New("reset")}, plan.RelationUnknown, "", 0},
		"not signed": {answerOf{code: 401, body: `{}`}, 0, client.Unauthorized, 0},
	} {
		h := newBranchesHub(t, sourcePart("none", []string{"a"}, linkPart(tipSHA, -1, "x")), map[string]obj{"a": tipPart("a", 5)})
		h.say = func(r *http.Request, body string) answerOf {
			if strings.Contains(r.URL.Path, "/compare/") {
				return tt.answer
			}
			return h.answer(r, body)
		}
		now := at
		f := h.forge(func(o *Options) { o.Now = func() time.Time { return now } })
		s, err := f.Observe(t.Context(), testRepo, Ask{})
		if kindOf(err) != tt.kind {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if b := s.Branches[0]; b.Relation != tt.want || b.Reach > 1 {
			t.Errorf("%s: %+v", name, b)
		}
		h.took()
		if observe(t, f, Ask{}); len(h.took()) != 1+tt.again {
			t.Errorf("%s: not remembered as it should", name)
		}
		tt.answer, now = answerOf{code: 200, body: `{"status":"ahead"}`}, now.Add(partMost)
		if b := observe(t, f, Ask{}).Branches[0]; tt.want == plan.RelationUnknown && (b.Relation != plan.Behind || b.Unread.Is()) {
			t.Errorf("%s: an error is remembered as an answer: %+v", name, b)
		}
	}
}

// However many branches stand beside the line, one look makes so many comparisons; the rest is not known until later ones.
func TestComparisonsAreBounded(t *testing.T) {
	names := manyNames(2 * maxAncestries)
	tips := map[string]obj{}
	for i, name := range names {
		tips[name] = tipPart(name, 5000+i)
	}
	h := newBranchesHub(t, sourcePart("none", names, linkPart(tipSHA, -1, "x")), tips)
	h.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/compare/") {
			return answerOf{code: 200, body: `{"status":"diverged"}`}
		}
		return h.answer(r, body)
	}
	f := h.forge(nil)
	for i, want := range []int{maxAncestries, 2 * maxAncestries, 2 * maxAncestries} {
		known := 0
		for _, b := range observe(t, f, Ask{}).Branches {
			if b.Relation == plan.Diverged {
				known++
			}
		}
		if known != want {
			t.Errorf("look %d: %d known", i, known)
		}
	}
}
