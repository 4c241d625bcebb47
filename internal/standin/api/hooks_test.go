package api_test

import (
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// allEvents makes every event that the stand-in knows.
func allEvents(w *world) {
	w.t.Helper()
	n := w.open("feature", map[string]string{"apps/a.yaml": "new\n", "apps/new.yaml": "x"})
	r := w.repo
	ci := standin.Actor{Login: "ci", App: 9}
	_, err := r.Commit("feature", standin.Change{By: "alice", Write: map[string]string{"z": "z"}, Delete: []string{"apps/b.yaml"}})
	w.must(err)
	w.must(r.Label(n, "bob", "hold"))
	w.must(r.Unlabel(n, "bob", "hold"))
	w.must(r.MarkDraft(n, "alice"))
	w.must(r.MarkReady(n, "alice"))
	w.must(r.Review(n, "bob", standin.Approved))
	w.must(r.DismissReview(n, "acme", "bob"))
	w.must(r.ClosePull(n, "alice"))
	w.must(r.Reopen(n, "alice"))
	w.must(r.SetCheck(standin.Check{SHA: r.Tip("feature"), Name: "ci", Status: "in_progress", App: ci}))
	w.must(r.SetCheck(standin.Check{SHA: r.Tip("feature"), Name: "ci", Conclusion: "success", App: ci}))
	w.must(r.SetStatus(standin.Status{SHA: r.Tip("feature"), Context: "x", State: "pending", By: ci}))
	group, err := r.Enqueue(n, "alice")
	w.must(err)
	w.must(r.Dequeue(group, "merged"))
	w.must(r.Push("alice", "feature", ""))
	w.github.Suspend("acme")
	w.github.Resume("acme")
	w.github.Uninstall("acme")
	w.github.Install("acme")
}

func TestEvents(t *testing.T) {
	w := newWorld(t)
	w.events()
	allEvents(w)
	want := []string{
		"push", "pull_request opened", "push", "pull_request synchronize", "pull_request labeled", "pull_request unlabeled",
		"pull_request converted_to_draft", "pull_request ready_for_review", "pull_request_review submitted",
		"pull_request_review dismissed", "pull_request closed", "pull_request reopened", "check_run created", "check_run completed",
		"check_suite completed", "status", "pull_request enqueued", "merge_group checks_requested", "pull_request closed", "push",
		"merge_group destroyed", "push", "installation suspend", "installation unsuspend", "installation deleted",
		"installation created",
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Every delivery is signed and named as GitHub does, and it has no field that GitHub's own examples of that event have not,
// nor a value of another type.
func TestPayloads(t *testing.T) {
	w := newWorld(t)
	allEvents(w)
	seen := map[string]bool{}
	examples := map[string]*shape{}
	for _, e := range w.received() {
		seen[e.name] = true
		checkHeaders(t, e)
		if e.payload["sender"] == nil {
			t.Errorf("%s %s: no sender", e.name, e.action)
		}
		if !strings.HasPrefix(e.name, "installation") && (e.payload["repository"] == nil || e.payload["installation"] == nil) {
			t.Errorf("%s %s: repository or installation is missing", e.name, e.action)
		}
		if examples[e.name] == nil {
			examples[e.name] = exampleShape(t, e.name)
		}
		for _, problem := range examples[e.name].strange(e.name, e.payload) {
			t.Errorf("%s %s: %s", e.name, e.action, problem)
		}
	}
	for _, name := range []string{"pull_request", "pull_request_review", "push", "status", "check_run", "check_suite", "merge_group", "installation", "installation_repositories"} {
		if !seen[name] {
			t.Errorf("no %s was sent", name)
		}
	}
}

func checkHeaders(t *testing.T, e event) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(e.body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); e.header.Get("X-Hub-Signature-256") != want {
		t.Errorf("%s: signature %q, want %q", e.name, e.header.Get("X-Hub-Signature-256"), want)
	}
	if len(e.header.Get("X-GitHub-Delivery")) != 36 || e.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: headers %v", e.name, e.header)
	}
}

// shape is what examples show of a JSON value: the kinds it has, and the shapes below it.
type shape struct {
	kinds  map[string]bool
	fields map[string]*shape
	items  *shape
}

// sometimes are fields that GitHub sends but its examples happen not to show.
var sometimes = []string{"app_slug", "changes", "has_discussions", "members", "merge_queues", "reason"}

func exampleShape(t *testing.T, event string) *shape {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "webhook", "testdata", "github", event+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Examples []any }
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	s := &shape{}
	for _, e := range file.Examples {
		s.learn(e)
	}
	return s
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return fmt.Sprintf("%T", v)
}

func (s *shape) learn(v any) {
	if s.kinds == nil {
		s.kinds, s.fields = map[string]bool{}, map[string]*shape{}
	}
	s.kinds[kindOf(v)] = true
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			if s.fields[k] == nil {
				s.fields[k] = &shape{}
			}
			s.fields[k].learn(below)
		}
	case []any:
		if s.items == nil {
			s.items = &shape{}
		}
		for _, below := range v {
			s.items.learn(below)
		}
	}
}

// strange lists what the examples do not know of a value.
func (s *shape) strange(path string, v any) []string {
	kind := kindOf(v)
	onlyNull := len(s.kinds) == 1 && s.kinds["null"] // the examples tell nothing of its type
	if len(s.kinds) == 0 || onlyNull {
		return nil
	}
	if !s.kinds[kind] && kind != "null" {
		return []string{fmt.Sprintf("%s is %s, in the examples %v", path, kind, s.kinds)}
	}
	var problems []string
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			switch f := s.fields[k]; {
			case f != nil:
				problems = append(problems, f.strange(path+"."+k, below)...)
			case !slices.Contains(sometimes, k):
				problems = append(problems, path+"."+k+" is in no example")
			}
		}
	case []any:
		for _, below := range v {
			if s.items != nil {
				problems = append(problems, s.items.strange(path+"[]", below)...)
			}
		}
	}
	return problems
}

func TestFates(t *testing.T) {
	w := newWorld(t)
	w.events()
	n := w.open("feature", map[string]string{"x": "x"})
	w.events()
	w.github.Deliver(api.Fate{Drop: true})
	w.must(w.repo.Label(n, "bob", "one"))
	w.github.Deliver(api.Fate{Twice: true})
	w.must(w.repo.Label(n, "bob", "two"))
	w.github.Deliver(api.Fate{})
	w.must(w.repo.Label(n, "bob", "three"))
	got := w.received()
	if len(got) != 3 || got[0].header.Get("X-GitHub-Delivery") != got[1].header.Get("X-GitHub-Delivery") {
		t.Fatalf("got %d deliveries", len(got))
	}
	var codes []int
	for _, d := range w.github.Deliveries() {
		if d.Event == "pull_request" {
			codes = append(codes, d.StatusCode)
		}
	}
	if diff := cmp.Diff([]int{200, 0, 200, 200, 200}, codes); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// A receiver that fails is never tried again; the log tells of it.
func TestFailedDelivery(t *testing.T) {
	w := newWorld(t)
	w.events()
	w.hook.mu.Lock()
	w.hook.code = http.StatusBadGateway
	w.hook.mu.Unlock()
	w.open("feature", map[string]string{"x": "x"})
	if got := w.events(); len(got) != 2 {
		t.Errorf("deliveries: %v", got)
	}
	for _, d := range w.github.Deliveries()[2:] {
		if d.StatusCode != http.StatusBadGateway {
			t.Errorf("delivered: %+v", d)
		}
	}
}
