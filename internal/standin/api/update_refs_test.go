package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

var zeros = strings.Repeat("0", 40)

// set is one update of a ref; Before "" leaves it out.
type set struct {
	name, before, after string
	force               bool
}

// graphQLError is an error of GraphQL with all that GitHub tells.
type graphQLError struct {
	Type, Message string
	Path          []string
	Extensions    map[string]string
}

const updateRefs = `mutation Move($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }`

// update asks for updateRefs as the bearer of w.token.
func (w *world) update(sets ...set) []graphQLError {
	w.t.Helper()
	return w.updateIn(w.node(), sets...)
}

// node is the repository's ID in GraphQL.
func (w *world) node() string {
	w.t.Helper()
	var id struct{ Repository struct{ ID string } }
	if errs := w.query(`{repository(owner:"acme",name:"fleet"){id}}`, &id); errs != nil {
		w.t.Fatal(errs)
	}
	return id.Repository.ID
}

func (w *world) updateIn(repository string, sets ...set) []graphQLError {
	w.t.Helper()
	updates := []map[string]any{}
	for _, s := range sets {
		u := map[string]any{"name": s.name, "afterOid": s.after}
		if s.before != "" {
			u["beforeOid"] = s.before
		}
		if s.force {
			u["force"] = true
		}
		updates = append(updates, u)
	}
	status, body := w.rawAt("/api/graphql", map[string]any{"query": updateRefs, "variables": map[string]any{
		"input": map[string]any{"repositoryId": repository, "clientMutationId": "mine", "refUpdates": updates},
	}})
	var a struct {
		Data *struct {
			UpdateRefs *struct{ ClientMutationID string }
		}
		Errors []graphQLError
	}
	if err := json.Unmarshal(body, &a); err != nil || status != http.StatusOK {
		w.t.Fatalf("updateRefs: %d %s: %v", status, body, err)
	}
	done := a.Data != nil && a.Data.UpdateRefs != nil && a.Data.UpdateRefs.ClientMutationID == "mine"
	if done != (len(a.Errors) == 0) {
		w.t.Fatalf("updateRefs: %s", body)
	}
	return a.Errors
}

// branches is git's own list of the branches.
func (w *world) branches() map[string]string {
	w.t.Helper()
	list := map[string]string{}
	for line := range strings.Lines(git(w.t, w.repo.Dir(), "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/")) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		list[name] = sha
	}
	return list
}

// updates is a world with three commits on main: old, mid and tip, a commit aside, and branches rw/a and rw/b at old.
type updates struct {
	*world
	old, mid, tip, aside string
}

func newUpdates(t *testing.T) *updates {
	t.Helper()
	w := &updates{world: newWorld(t)}
	w.old = w.repo.Tip("main")
	for i, sha := range []*string{&w.mid, &w.tip} {
		var err error
		*sha, err = w.repo.Commit("main", standin.Change{Write: map[string]string{"x": fmt.Sprint(i)}})
		w.must(err)
	}
	var err error
	w.aside, err = w.repo.Commit("aside", standin.Change{From: w.old, Write: map[string]string{"y": "y"}})
	w.must(err)
	w.must(w.repo.Push("acme", "rw/a", w.old))
	w.must(w.repo.Push("acme", "rw/b", w.old))
	w.events()
	return w
}

const (
	a, b, c = "refs/heads/rw/a", "refs/heads/rw/b", "refs/heads/rw/c"
)

// Branches are moved, made and deleted in one step, and each is told of as a push of the App.
func TestUpdateRefs(t *testing.T) {
	w := newUpdates(t)
	if errs := w.update(set{name: a, before: w.old, after: w.tip}, set{name: b, before: w.old, after: zeros}, set{name: c, before: zeros, after: w.mid}); errs != nil {
		t.Fatal(errs)
	}
	want := map[string]string{"refs/heads/main": w.tip, "refs/heads/aside": w.aside, a: w.tip, c: w.mid}
	if diff := cmp.Diff(want, w.branches()); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	var pushes []string
	for _, e := range w.received() {
		p := e.payload
		sender, _ := p["sender"].(map[string]any)
		pushes = append(pushes, fmt.Sprintf("%s %s %s..%s by %s created:%v deleted:%v forced:%v", e.name, p["ref"], p["before"], p["after"], sender["login"], p["created"], p["deleted"], p["forced"]))
	}
	if diff := cmp.Diff([]string{
		"push " + a + " " + w.old + ".." + w.tip + " by sluice[bot] created:false deleted:false forced:false",
		"push " + b + " " + w.old + ".." + zeros + " by sluice[bot] created:false deleted:true forced:false",
		"push " + c + " " + zeros + ".." + w.mid + " by sluice[bot] created:true deleted:false forced:false",
	}, pushes); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	if errs := w.update(set{name: a, before: w.tip, after: w.aside, force: true}, set{name: c, before: w.mid, after: w.mid}); errs != nil {
		t.Fatal(errs)
	}
	if got := w.received(); len(got) != 1 || got[0].payload["forced"] != true { // what stays where it is, is no push
		t.Errorf("told of %d pushes", len(got))
	}
}

// Whatever one update is refused for, none is done and nothing is told.
func TestUpdateRefsRefused(t *testing.T) {
	w := newUpdates(t)
	rows := []struct {
		name string
		bad  set
		want string
	}{
		{"moved", set{name: b, before: w.mid, after: w.tip}, "UNPROCESSABLE: " + b + " is at " + w.old + " but expected " + w.mid},
		{"gone", set{name: c, before: w.mid, after: w.tip}, "UNPROCESSABLE: " + c + " is at " + zeros + " but expected " + w.mid},
		{"there", set{name: b, before: zeros, after: w.tip}, "UNPROCESSABLE: " + b + " is at " + w.old + " but expected " + zeros},
		{"not forward", set{name: "refs/heads/aside", before: w.aside, after: w.tip}, "UNPROCESSABLE: Update is not a fast forward"},
		{"backwards", set{name: "refs/heads/main", after: w.old}, "UNPROCESSABLE: Update is not a fast forward"},
		{"unknown object", set{name: b, before: w.old, after: strings.Repeat("1", 40)}, "UNPROCESSABLE: Object does not exist"},
		{"a tree", set{name: b, after: git(t, w.repo.Dir(), "rev-parse", "main^{tree}"), force: true}, "UNPROCESSABLE: Object does not exist"},
		{"no object", set{name: b, after: "--all"}, "UNPROCESSABLE: --all is no Git object ID"},
		{"no object before", set{name: b, before: "main", after: w.tip}, "UNPROCESSABLE: main is no Git object ID"},
		{"twice", set{name: a, after: w.mid}, "UNPROCESSABLE: " + a + " is updated more than once"},
		{"no such branch", set{name: c, after: zeros}, "UNPROCESSABLE: Reference does not exist"},
		{"default branch", set{name: "refs/heads/main", after: zeros}, "UNPROCESSABLE: Cannot delete the default branch"},
		{"short name", set{name: "rw/b", after: w.tip}, "UNPROCESSABLE: Reference name must start with 'refs/' and contain at least two slashes."},
		{"odd name", set{name: "refs/heads/a\x00b", after: w.tip}, "UNPROCESSABLE: Reference name must start with 'refs/' and contain at least two slashes."},
		{"pull request's", set{name: "refs/pull/1/head", after: w.tip}, "UNPROCESSABLE: Reference name must start with 'refs/' and contain at least two slashes."},
		{"below a branch", set{name: b + "/x", before: zeros, after: w.tip}, "UNPROCESSABLE: Reference cannot be updated"},
	}
	before := w.branches()
	for _, r := range rows {
		errs := w.update(set{name: a, before: w.old, after: w.tip}, r.bad)
		if len(errs) != 1 || errs[0].Type+": "+errs[0].Message != r.want || !slices.Equal(errs[0].Path, []string{"updateRefs"}) {
			t.Errorf("%s: %+v, want %s", r.name, errs, r.want)
		}
		if diff := cmp.Diff(before, w.branches()); diff != "" {
			t.Fatalf("%s moved (-want +got):\n%s", r.name, diff)
		}
	}
	if errs := w.updateIn("nonsense", set{name: a, after: w.tip}); len(errs) != 1 || errs[0].Type != "NOT_FOUND" {
		t.Errorf("unknown repository: %+v", errs)
	}
	if got := w.events(); got != nil {
		t.Errorf("told of %v", got)
	}
	if diff := cmp.Diff(before, w.branches()); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

// What rules say of each move, for the App and for whoever may bypass them.
func TestRulesOfMoves(t *testing.T) {
	w := newUpdates(t)
	violated := "Repository rule violations found\n\n"
	promote := []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: appID}}
	forward, made, gone := set{name: a, before: w.old, after: w.tip}, set{name: c, before: zeros, after: w.tip}, set{name: a, before: w.old, after: zeros}
	other := func(by standin.Actor) func() {
		return func() {
			w.must(w.repo.SetStatus(standin.Status{SHA: w.tip, Context: "sluice/promote/rw/a", State: "success", By: by}))
		}
	}
	rows := []struct {
		name  string
		rules standin.Rules
		setup func()
		move  set
		want  string // "": it moves
	}{
		{"no rules", standin.Rules{}, nil, forward, ""},
		{"restricted", standin.Rules{Restrict: true}, nil, forward, violated + "Cannot update this protected ref."},
		{"restricted, bypassed", standin.Rules{Restrict: true, Bypass: []string{"sluice"}}, nil, forward, ""},
		{"restricted updates allow to make", standin.Rules{Restrict: true}, nil, made, ""},
		{"restricted updates allow to delete", standin.Rules{Restrict: true}, nil, gone, ""},
		{"creations", standin.Rules{NoCreate: true}, nil, made, violated + "Cannot create ref due to creations being restricted."},
		{"creations, bypassed", standin.Rules{NoCreate: true, Bypass: []string{"sluice"}}, nil, made, ""},
		{"creations allow to update", standin.Rules{NoCreate: true}, nil, forward, ""},
		{"deletions", standin.Rules{NoDelete: true}, nil, gone, violated + "Cannot delete this protected branch"},
		{"forced", standin.Rules{NoForce: true}, nil, set{name: a, after: w.aside, force: true}, ""},
		{"forced for good", standin.Rules{NoForce: true}, func() { w.must(w.repo.Push("eve", "rw/a", w.aside)) },
			set{name: a, before: w.aside, after: w.tip, force: true}, violated + "Cannot force-push to this branch"},
		{"a check is missing", standin.Rules{Checks: promote}, nil, forward, violated + `Required status check "sluice/promote/rw/a" is expected.`},
		{"a check of another", standin.Rules{Checks: promote}, other(standin.Actor{Login: "eve"}), forward, violated + `Required status check "sluice/promote/rw/a" is expected.`},
		{"a check of another counts if unbound", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a"}}}, nil, forward, ""},
		{"a check of ours", standin.Rules{Checks: promote}, other(standin.Actor{Login: "sluice", App: appID}), forward, ""},
		{"all at once", standin.Rules{Restrict: true, Reviews: 1, Queue: true}, nil, forward,
			violated + "Cannot update this protected ref.\nChanges must be made through a pull request.\nChanges must be made through the merge queue"},
		{"protection of old", standin.Rules{Classic: true, Restrict: true, Reviews: 1}, nil, forward, "You're not authorized to push to this branch."},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w.t = t
			w.repo.Unprotect("rw/*")
			w.must(w.repo.Push("acme", "rw/a", w.old))
			w.must(w.repo.Push("acme", "rw/c", ""))
			if r.setup != nil {
				r.setup()
			}
			w.repo.Protect("rw/*", r.rules)
			errs := w.update(set{name: b, before: w.old, after: w.old}, r.move)
			message := ""
			if len(errs) > 0 {
				message = errs[0].Type + ": " + errs[0].Message
			}
			if want := strings.TrimSuffix("UNPROCESSABLE: "+r.want, "UNPROCESSABLE: "); message != want {
				t.Errorf("updateRefs says %q, want %q", message, want)
			}
		})
	}
}

// Several in one request go one after the other, each for itself: data of those that were done, an error with the path of each that was not. Each
// costs as much as alone.
func TestUpdateRefsUnderAliases(t *testing.T) {
	w := newUpdates(t)
	input := func(ref, before, after string) map[string]any {
		return map[string]any{"repositoryId": w.node(), "refUpdates": []any{map[string]any{"name": ref, "beforeOid": before, "afterOid": after}}}
	}
	const three = `mutation m($x: UpdateRefsInput!, $y: UpdateRefsInput!, $z: UpdateRefsInput!) {
		x: updateRefs(input: $x) { clientMutationId } y: updateRefs(input: $y) { clientMutationId } z: updateRefs(input: $z) { clientMutationId } }`
	send := func() (status int, body []byte) {
		return w.rawAt("/api/graphql", map[string]any{"query": three, "variables": map[string]any{
			"x": input(a, w.old, w.mid), "y": input(b, w.mid, w.tip), "z": input(a, w.mid, w.tip),
		}})
	}
	_, body := send()
	var got struct {
		Data   map[string]any
		Errors []graphQLError
	}
	w.must(json.Unmarshal(body, &got))
	if got.Data["x"] == nil || got.Data["y"] != nil || got.Data["z"] == nil || len(got.Errors) != 1 || !slices.Equal(got.Errors[0].Path, []string{"y"}) {
		t.Errorf("%s", body)
	}
	if now := w.branches(); now[a] != w.tip || now[b] != w.old {
		t.Errorf("%v", now)
	}
	w.github.SetLimits(api.Limits{GraphQL: 14 + 3})
	if status, body := send(); status != http.StatusForbidden {
		t.Errorf("17 points were enough for three queries and three mutations: %d %s", status, body)
	}
}
