package api_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/test/githubapi"
)

// The stand-in's schema is part of GitHub's: the same kinds, types, nullability, arguments, defaults, values.
func TestSchemaIsPartOfGitHubs(t *testing.T) {
	text, err := os.ReadFile("schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := githubapi.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range doc.Definitions {
		g := theirs.Types[d.Name]
		if g == nil || g.Kind != d.Kind {
			t.Errorf("%s is not GitHub's", d.Name)
			continue
		}
		for _, i := range d.Interfaces {
			if !slices.Contains(g.Interfaces, i) {
				t.Errorf("%s does not implement %s", d.Name, i)
			}
		}
		for _, m := range d.Types {
			if !slices.Contains(g.Types, m) {
				t.Errorf("%s has no member %s", d.Name, m)
			}
		}
		for _, v := range d.EnumValues {
			if g.EnumValues.ForName(v.Name) == nil {
				t.Errorf("%s has no value %s", d.Name, v.Name)
			}
		}
		for _, f := range d.Fields {
			compareField(t, d.Name, f, g.Fields.ForName(f.Name))
		}
	}
}

func compareField(t *testing.T, of string, ours, theirs *ast.FieldDefinition) {
	t.Helper()
	name := of + "." + ours.Name
	if theirs == nil {
		t.Errorf("GitHub has no %s", name)
		return
	}
	if ours.Type.String() != theirs.Type.String() {
		t.Errorf("%s is %s, GitHub's is %s", name, ours.Type, theirs.Type)
	}
	for _, arg := range theirs.Arguments {
		mine := ours.Arguments.ForName(arg.Name)
		switch {
		case mine == nil && arg.Type.NonNull:
			t.Errorf("%s lacks the argument %s", name, arg.Name)
		case mine != nil && (mine.Type.String() != arg.Type.String() || mine.DefaultValue.String() != arg.DefaultValue.String()):
			t.Errorf("%s(%s) is %s, GitHub's is %s", name, arg.Name, mine.Type, arg.Type)
		}
	}
	for _, arg := range ours.Arguments {
		if theirs.Arguments.ForName(arg.Name) == nil {
			t.Errorf("GitHub has no %s(%s)", name, arg.Name)
		}
	}
}

// everything asks for every field of the schema, so that the checker judges every one.
func everything(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	q := &asker{types: doc.Definitions}
	return "{" + q.fields(doc.Definitions.ForName("Query"), nil) + "}"
}

type asker struct{ types ast.DefinitionList }

// arguments that a field needs to be asked.
var arguments = map[string]string{
	"Query.repository": `(owner:"acme",name:"fleet")`, "Repository.ref": `(qualifiedName:"refs/heads/feature")`,
	"Repository.refs": `(refPrefix:"refs/heads/",first:10)`, "Repository.pullRequest": `(number:1)`,
	"Repository.object": `(expression:"MAIN:apps/a.yaml")`, "Commit.file": `(path:"apps")`, "Status.context": `(name:"ci")`,
	"PullRequest.timelineItems": `(last:5)`, "PullRequest.reviews": `(last:5)`, "PullRequest.comments": `(last:5)`, "Query.repositoryOwner": `(login:"acme")`,
}

func (q *asker) fields(d *ast.Definition, above []string) string {
	if d.Kind == ast.Union {
		var b strings.Builder
		b.WriteString("__typename ")
		for _, m := range d.Types {
			if inner := q.fields(q.types.ForName(m), above); inner != "" {
				fmt.Fprintf(&b, "... on %s {%s} ", m, inner)
			}
		}
		return b.String()
	}
	var b strings.Builder
	for _, f := range d.Fields {
		key := d.Name + "." + f.Name
		below := q.types.ForName(f.Type.Name())
		args := arguments[key]
		if args == "" && f.Arguments.ForName("first") != nil {
			args = "(first:5)"
		}
		if below == nil || len(below.Fields) == 0 && below.Kind != ast.Union {
			fmt.Fprintf(&b, "%s%s ", f.Name, args)
			continue
		}
		if slices.Contains(above, below.Name) { // once on every way is enough
			continue
		}
		inner := q.fields(below, append(slices.Clone(above), d.Name, below.Name))
		if below.Kind == ast.Interface {
			inner = "__typename " + inner
			for _, impl := range q.types {
				if impl.Kind == ast.Object && slices.Contains(impl.Interfaces, below.Name) && below.Name != "Node" {
					inner += fmt.Sprintf("... on %s {%s} ", impl.Name, q.fields(impl, append(slices.Clone(above), d.Name, below.Name, impl.Name)))
				}
			}
		}
		if inner != "" {
			fmt.Fprintf(&b, "%s%s {%s} ", f.Name, args, inner)
		}
	}
	return b.String()
}

// TestNothingAsked: of a union of which no fragment fits nothing is asked, and the answer has an empty object there.
func TestNothingAsked(t *testing.T) {
	w := newWorld(t)
	w.repo.Protect("main", standin.Rules{Restrict: true})
	var answer struct {
		Repository struct {
			Ref struct {
				Rules struct {
					Nodes []struct {
						Type       string
						Parameters *struct{}
					}
				}
			}
		}
	}
	query := `{repository(owner:"acme",name:"fleet"){ref(qualifiedName:"refs/heads/main"){rules(first:9){nodes{type parameters{...on RequiredStatusChecksParameters{requiredStatusChecks{context}}}}}}}}`
	if errs := w.query(query, &answer); errs != nil {
		t.Errorf("errors: %v", errs)
	}
	for _, r := range answer.Repository.Ref.Rules.Nodes {
		if r.Type == "UPDATE" && r.Parameters == nil {
			t.Error("no parameters")
		}
	}
	if len(answer.Repository.Ref.Rules.Nodes) == 0 {
		t.Error("no rules")
	}
}

func TestEveryField(t *testing.T) {
	w := newWorld(t)
	n := w.open("feature", map[string]string{"apps/a.yaml": "new\n"})
	w.repo.SetPermission("bob", standin.Write)
	w.repo.Protect("main", standin.Rules{Classic: true, Reviews: 1, Checks: []standin.RequiredCheck{{Context: "ci"}}})
	w.repo.Protect("queued", standin.Rules{Queue: true})
	w.repo.Protect("feature", standin.Rules{Restrict: true, Reviews: 1, Queue: true, Strict: true,
		Checks: []standin.RequiredCheck{{Context: "ci"}, {Context: "sluice", App: 7}}, Other: []standin.Rule{{Type: "copilot_code_review"}}})
	w.must(w.repo.Push("acme", "queued", w.repo.Tip("main")))
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.must(w.repo.Label(n, "bob", "hold"))
	said, err := w.repo.Comment(n, standin.Person("bob"), "hello")
	w.must(err)
	w.must(w.repo.EditComment(said, "good day"))
	ci := standin.Actor{Login: "ci", App: 9}
	w.must(w.repo.SetCheck(standin.Check{SHA: w.repo.Tip("feature"), Name: "lint", Conclusion: "success", App: ci}))
	for _, sha := range []string{w.repo.Tip("feature"), w.repo.Tip("main")} {
		w.must(w.repo.SetStatus(standin.Status{SHA: sha, Context: "ci", State: "success", By: ci, TargetURL: "http://ci.test"}))
	}
	_, err = w.repo.MergePull(n, "bob", standin.Merge)
	w.must(err)
	w.must(w.repo.ArmAutoMerge(w.open("second", map[string]string{"x": "x"}), "bob", standin.Squash))
	query := strings.Replace(everything(t), "MAIN", w.repo.Tip("main"), 1)
	if errs := w.query(query, nil); errs != nil {
		t.Errorf("errors: %v", errs)
	}
	if len(query) < 2500 {
		t.Errorf("that is not every field: %s", query)
	}
}

func TestObjects(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"bin": "a\x00b", "big": strings.Repeat("x", 600<<10)}})
	w.must(err)
	var seen struct {
		Repository map[string]*struct {
			Typename                       string `json:"__typename"`
			Text                           *string
			IsBinary, IsTruncated          bool
			ByteSize                       int
			CommittedDate, MessageHeadline string
		}
	}
	blob := `{__typename ... on Blob{text isBinary isTruncated byteSize} ... on Commit{committedDate messageHeadline}}`
	errs := w.query(fmt.Sprintf(`{repository(owner:"acme",name:"fleet"){
		text: object(expression:"%[2]s:apps/a.yaml")%[1]s bin: object(expression:"%[2]s:bin")%[1]s big: object(expression:"%[2]s:big")%[1]s
		none: object(expression:"%[2]s:nowhere")%[1]s odd: object(expression:"--help")%[1]s line: object(expression:"main\nx")%[1]s
		tip: object(expression:"%[2]s")%[1]s oid: object(oid:"%[2]s")%[1]s}}`, blob, w.repo.Tip("main")), &seen)
	if errs != nil {
		t.Fatal(errs)
	}
	r := seen.Repository
	if r["text"].Text == nil || *r["text"].Text != lines("a") || r["text"].IsBinary {
		t.Errorf("text: %+v", r["text"])
	}
	if r["bin"].Text != nil || !r["bin"].IsBinary || r["bin"].ByteSize != 3 {
		t.Errorf("binary: %+v", r["bin"])
	}
	if !r["big"].IsTruncated || len(*r["big"].Text) != 512<<10 {
		t.Errorf("big: %d", len(*r["big"].Text))
	}
	if r["none"] != nil || r["odd"] != nil || r["line"] != nil {
		t.Error("found what is not there")
	}
	if r["tip"].Typename != "Commit" || *r["tip"] != *r["oid"] {
		t.Errorf("tip: %+v, %+v", r["tip"], r["oid"])
	}
}

// A file that is not there is null with an error beside the data, as GitHub answers.
func TestMissingFile(t *testing.T) {
	w := newWorld(t)
	var seen struct {
		Repository struct {
			DefaultBranchRef struct {
				Target struct{ There, None *struct{ OID string } }
			}
		}
	}
	errs := w.query(`{repository(owner:"acme",name:"fleet"){defaultBranchRef{target{... on Commit{
		there: file(path:"apps/a.yaml"){oid} none: file(path:".github/sluice.yaml"){oid}}}}}}`, &seen)
	if diff := cmp.Diff([]string{"NOT_FOUND: Could not resolve file for path '.github/sluice.yaml'."}, errs); diff != "" {
		t.Error(diff)
	}
	if f := seen.Repository.DefaultBranchRef.Target; f.There == nil || f.None != nil {
		t.Errorf("files: %+v", f)
	}
}

// Pages of pull requests hold together while some are closed in between.
func TestPullPages(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.open(fmt.Sprintf("f%d", i), map[string]string{fmt.Sprintf("f%d", i): "x"})
	}
	var got []int
	after := "null"
	for page := 0; after != ""; page++ {
		var seen struct {
			Repository struct {
				PullRequests struct {
					TotalCount int
					Nodes      []struct{ Number int }
					PageInfo   struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
		}
		if errs := w.query(`{repository(owner:"acme",name:"fleet"){pullRequests(states:OPEN,first:3,after:`+after+
			`){totalCount nodes{number} pageInfo{hasNextPage endCursor}}}}`, &seen); errs != nil {
			t.Fatal(errs)
		}
		p := seen.Repository.PullRequests
		for _, one := range p.Nodes {
			got = append(got, one.Number)
		}
		if page == 0 {
			w.must(w.repo.ClosePull(1, "alice"))
			w.must(w.repo.ClosePull(3, "alice")) // the cursor itself
		}
		if after = ""; p.PageInfo.HasNextPage {
			after = fmt.Sprintf("%q", p.PageInfo.EndCursor)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// Connections want first or last, and not more than 100. That is asked past the checker, which forbids it.
func TestPaginationBounds(t *testing.T) {
	w := newWorld(t)
	for args, want := range map[string]string{
		"{totalCount}":            "MISSING_PAGINATION_BOUNDARIES",
		"(first:101){totalCount}": "exceeds the `first` limit of 100 records.",
		"(first:100){nodes{files(first:100){nodes{path}} commits(first:100){nodes{commit{parents(first:100){nodes{oid}}}}}}}": "1,020,100 possible nodes which exceeds the maximum limit of 500,000.",
	} {
		body := fmt.Sprintf(`{"query":"{repository(owner:\"acme\",name:\"fleet\"){pullRequests%s}}"}`, args)
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://github.test/graphql", strings.NewReader(body))
		w.must(err)
		req.Header.Set("Authorization", "bearer "+w.token)
		if got := w.past(req); !strings.Contains(got, want) {
			t.Errorf("pullRequests%s: %s", args, got)
		}
	}
}

// past sends a request without the checker and gives the body.
func (w *world) past(req *http.Request) string {
	w.t.Helper()
	answer, err := w.github.Transport().RoundTrip(req)
	w.must(err)
	defer func() { w.must(answer.Body.Close()) }()
	return readAll(w.t, answer.Body)
}

func TestReviewsInGraphQL(t *testing.T) {
	w := newWorld(t)
	n := w.open("feature", map[string]string{"x": "x"})
	w.repo.SetPermission("bob", standin.Write)
	w.must(w.repo.Review(n, "bob", standin.ChangesRequested))
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.must(w.repo.Review(n, "bob", standin.Commented))
	w.must(w.repo.Review(n, "carol", standin.Approved))
	_, err := w.repo.Commit("feature", standin.Change{Write: map[string]string{"y": "y"}})
	w.must(err)
	type node struct {
		State                     string
		AuthorCanPushToRepository bool
		Author                    struct{ Login string }
	}
	var seen struct {
		Repository struct {
			PullRequest struct {
				ReviewDecision *string
				All            struct{ Nodes []node }
			}
		}
	}
	w.query(`{repository(owner:"acme",name:"fleet"){pullRequest(number:1){reviewDecision
		all:latestOpinionatedReviews(first:9){nodes{state authorCanPushToRepository author{login}}}}}}`, &seen)
	p := seen.Repository.PullRequest
	if len(p.All.Nodes) != 2 || p.ReviewDecision != nil || p.All.Nodes[1].AuthorCanPushToRepository {
		t.Fatalf("reviews: %+v", p)
	}
	if v := p.All.Nodes[0]; v.State != "APPROVED" || v.Author.Login != "bob" || !v.AuthorCanPushToRepository {
		t.Errorf("bob's: %+v", v)
	}
}

// An App's bot is spelled in two ways.
func TestBotNames(t *testing.T) {
	w := newWorld(t)
	sha := w.repo.Tip("main")
	var status struct{ Creator struct{ Login, Type string } }
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/statuses/"+sha, w.token, map[string]string{"state": "success", "context": "c"}, &status)
	var seen struct {
		Repository struct {
			DefaultBranchRef struct {
				Target struct {
					Status struct {
						Context struct {
							Creator struct {
								Login    string
								Typename string `json:"__typename"`
							}
						}
					}
				}
			}
		}
	}
	w.query(`{repository(owner:"acme",name:"fleet"){defaultBranchRef{target{... on Commit{status{context(name:"c"){creator{__typename login}}}}}}}}`, &seen)
	creator := seen.Repository.DefaultBranchRef.Target.Status.Context.Creator
	got := []string{status.Creator.Login, status.Creator.Type, creator.Login, creator.Typename}
	if diff := cmp.Diff([]string{"sluice[bot]", "Bot", "sluice", "Bot"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestForcedAway: a pull request's timeline has the heads that forced pushes replaced, and none that was pushed past.
func TestForcedAway(t *testing.T) {
	w := newWorld(t)
	n := w.open("feature", map[string]string{"a": "1"})
	first := w.repo.Tip("feature")
	other, err := w.repo.Commit("other", standin.Change{Write: map[string]string{"b": "1"}})
	w.must(err)
	w.must(w.repo.Push("alice", "feature", other))
	_, err = w.repo.Commit("feature", standin.Change{Write: map[string]string{"b": "2"}})
	w.must(err)
	var seen struct {
		Repository struct {
			PullRequest struct {
				TimelineItems struct {
					Nodes []struct{ BeforeCommit struct{ OID string } }
				}
			}
		}
	}
	if errs := w.query(fmt.Sprintf(`{repository(owner:"acme",name:"fleet"){pullRequest(number:%d){timelineItems(last:9,itemTypes:[HEAD_REF_FORCE_PUSHED_EVENT]){
		nodes{... on HeadRefForcePushedEvent{beforeCommit{oid}}}}}}}`, n), &seen); errs != nil {
		t.Fatal(errs)
	}
	if all := seen.Repository.PullRequest.TimelineItems.Nodes; len(all) != 1 || all[0].BeforeCommit.OID != first {
		t.Errorf("%+v, want %s", all, first)
	}
}
