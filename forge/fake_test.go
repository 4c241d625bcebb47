package forge

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// testKey is an App's key, made once for all tests.
var testKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

const (
	testToken = "ghs_FAKEtokenFAKEtokenFAKEtokenFAKEtoken"
	appID     = 7
	install   = 11
	// keyBits are few because the race detector watches how a key is made, and each signature.
	keyBits = 1024
)

var testRepo = plan.Repo{Owner: "acme", Name: "fleet", ID: 42, Installation: install}

// at is when the tests take place.
var at = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// answerOf is what the fake GitHub says to one request.
type answerOf struct {
	code   int
	header map[string]string
	body   string
	err    error
}

// fake is a GitHub of single answers: for what a whole one, the stand-in, would never say.
type fake struct {
	t  testing.TB
	mu sync.Mutex
	// say answers a request; a zero answer leaves it to the defaults.
	say    func(r *http.Request, body string) answerOf
	sent   []string // METHOD PATH, GraphQL by operation; without tokens and the App itself
	tokens int
	heads  http.Header // of the last request
}

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	name := f.note(r, string(body))
	var a answerOf
	if f.say != nil {
		a = f.say(r, string(body))
	}
	if a.code == 0 && a.err == nil {
		a = f.usual(name)
	}
	if a.err != nil {
		return nil, a.err
	}
	resp := &http.Response{
		StatusCode: a.code, Status: fmt.Sprintf("%d %s", a.code, http.StatusText(a.code)), Request: r, Proto: "HTTP/1.1",
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)),
	}
	for k, v := range map[string]string{ // as on every answer of GitHub's
		"Date": at.Format(http.TimeFormat), "X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999",
		"X-RateLimit-Reset": fmt.Sprint(time.Now().Add(time.Hour).Unix()),
	} {
		resp.Header.Set(k, v)
	}
	for k, v := range a.header {
		resp.Header.Set(k, v)
	}
	return resp, nil
}

// note counts a request.
func (f *fake) note(r *http.Request, body string) string {
	f.heads = r.Header
	name := r.Method + " " + r.URL.Path
	switch {
	case strings.HasSuffix(r.URL.Path, "/access_tokens"):
		f.tokens++
		return "token"
	case r.URL.Path == "/app":
		return "app"
	case r.URL.Path == "/graphql":
		name = operation(body)
	}
	f.sent = append(f.sent, name)
	return name
}

// operation is a GraphQL request's operation: "look", "bases".
func operation(body string) string {
	var q struct{ Query string }
	_ = json.Unmarshal([]byte(body), &q)
	word := strings.TrimPrefix(q.Query, "query ")
	name, _, _ := strings.Cut(word, "(")
	return name
}

// usual is what is said when a test has nothing else in mind.
func (f *fake) usual(name string) answerOf {
	switch {
	case name == "token":
		return answerOf{code: 201, body: fmt.Sprintf(`{"token":%q,"expires_at":%q}`, testToken,
			time.Now().Add(time.Hour).Format(time.RFC3339))}
	case name == "app":
		return answerOf{code: 200, body: `{"id":7,"slug":"sluice"}`}
	case strings.Contains(name, "/rules/branches/"):
		return answerOf{code: 200, body: `[]`}
	}
	f.t.Errorf("unexpected request: %s", name)
	return answerOf{code: 500}
}

// forge makes a Forge that speaks to the fake.
func (f *fake) forge(change func(*Options)) *Forge {
	f.t.Helper()
	o := Options{Options: client.Options{AppID: appID, PrivateKey: testKey(), Transport: f, Now: func() time.Time { return at }}}
	if change != nil {
		change(&o)
	}
	g, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return g
}

// took gives what was sent since the last time, sorted.
func (f *fake) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sent
	f.sent = nil
	slices.Sort(s)
	return s
}

// obj is a JSON object.
type obj = map[string]any

func sha(n int) string { return fmt.Sprintf("%040x", n) }

const tipSHA = 1000

// basePart is a branch as GraphQL shows it, with a file of the given text; "" for none.
func basePart(name, text string) obj {
	target := obj{
		"__typename": "Commit", "oid": sha(tipSHA), "committedDate": "2026-11-20T10:00:00Z", "file": nil, "status": nil,
	}
	if text != "" {
		target["file"] = obj{"oid": sha(len(text)), "type": "blob", "mode": 0o100644, "object": blobPart(text)}
	}
	return obj{"name": name, "refUpdateRule": nil, "target": target}
}

func blobPart(text string) obj {
	return obj{
		"__typename": "Blob", "oid": sha(len(text)), "byteSize": len(text), "isBinary": false, "isTruncated": false,
		"text": text,
	}
}

// pullPart is an open pull request with one commit upon the tip and one modified file.
func pullPart(n int) obj {
	page := obj{"hasNextPage": false, "endCursor": "c"}
	return obj{
		"number": n, "title": "t", "body": "", "state": "OPEN", "createdAt": "2026-11-20T11:00:00Z", "isDraft": false,
		"isCrossRepository": false, "headRefName": fmt.Sprintf("b%d", n), "headRefOid": sha(n), "baseRefName": "main",
		"mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviewDecision": nil, "changedFiles": 1,
		"author":         obj{"__typename": "User", "login": "alice"},
		"headRepository": obj{"id": "R1"},
		"baseRef":        obj{"target": obj{"oid": sha(tipSHA)}},
		"labels":         obj{"nodes": []any{}, "pageInfo": page},
		"files":          obj{"nodes": []any{obj{"path": fmt.Sprintf("a/%d.yaml", n), "changeType": "MODIFIED"}}},
		"latestOpinionatedReviews": obj{
			"nodes": []any{}, "pageInfo": page,
		},
		"commits":           commitsPart(n, tipSHA),
		"statusCheckRollup": nil,
	}
}

// commitsPart is one commit with parents.
func commitsPart(n int, parents ...int) obj {
	nodes := []any{}
	for _, p := range parents {
		nodes = append(nodes, obj{"oid": sha(p)})
	}
	commit := obj{"oid": sha(n), "parents": obj{"totalCount": len(nodes), "nodes": nodes}}
	return obj{"totalCount": 1, "nodes": []any{obj{"commit": commit}}}
}

// repoPart is a repository with pull requests, all of them on one page.
func repoPart(pulls ...obj) obj {
	return obj{
		"id": "R1", "databaseId": 42, "isArchived": false, "mergeCommitAllowed": true, "squashMergeAllowed": true,
		"rebaseMergeAllowed": false, "defaultBranchRef": basePart("main", "version: 1\n"), "freeze": nil,
		"pullRequests": obj{
			"totalCount": len(pulls), "nodes": pulls, "pageInfo": obj{"hasNextPage": false, "endCursor": nil},
		},
	}
}

// repoAnswer is a whole GraphQL answer.
func repoAnswer(repository any) answerOf {
	data, err := json.Marshal(obj{"data": obj{"repository": repository, "rateLimit": obj{"cost": 15}}})
	if err != nil {
		panic(err)
	}
	return answerOf{code: 200, body: string(data)}
}

// sayRepo answers every look with a repository.
func sayRepo(repository obj) func(*http.Request, string) answerOf {
	return func(r *http.Request, body string) answerOf {
		if r.URL.Path == "/graphql" && operation(body) == "look" {
			return repoAnswer(repository)
		}
		return answerOf{}
	}
}

// observe looks once and fails the test on an error.
func observe(t *testing.T, f *Forge, ask Ask) plan.Snapshot {
	t.Helper()
	s, err := f.Observe(context.Background(), testRepo, ask)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// variables are those of a GraphQL request.
func variables(body string) obj {
	var q struct{ Variables obj }
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.UseNumber()
	_ = d.Decode(&q)
	return q.Variables
}

var pending = plan.Status{Context: "sluice/main", State: plan.Pending, Description: "held"}

// wasSet is GitHub's answer to it.
const wasSet = `{"state":"pending","context":"sluice/main"}`

func (f *Forge) status() error {
	return f.SetStatus(context.Background(), testRepo, plan.SHA(sha(1)), pending)
}

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
