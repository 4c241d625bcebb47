package githubapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// recorder is a testing.TB that keeps what is reported.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(func()) {}

// one answer of a server, and what the checker has to say about the conversation.
type row struct {
	name, method, path, send string
	status                   int
	body                     string
	want                     string // part of the report; "" for none
}

const sha = "1234567890123456789012345678901234567890"

var restRows = []row{
	{"described", "GET", "/repos/o/r/git/ref/heads/rw/a", "", 200,
		`{"ref":"refs/heads/rw/a","node_id":"x","url":"http://x/y","object":{"type":"commit","sha":"` + sha + `","url":"http://x/y"}}`, ""},
	{"prefix of an Enterprise Server", "GET", "/api/v3/repos/o/r/git/ref/heads%2Fmain", "", 404, `{"message":"Not Found"}`, ""},
	{"a field is missing", "GET", "/repos/o/r/git/ref/heads/main", "", 200, `{"ref":"refs/heads/main"}`, "node_id"},
	{"a field has the wrong type", "GET", "/repos/o/r/git/ref/heads/main", "", 200,
		`{"ref":7,"node_id":"x","url":"http://x/y","object":{"type":"commit","sha":"` + sha + `","url":"http://x/y"}}`, "ref"},
	{"status that is not described", "GET", "/repos/o/r/git/ref/heads/main", "", 204, "", "status is not supported"},
	{"a refusal without message", "GET", "/repos/o/r/git/ref/heads/main", "", 429, `{}`, "no message"},
	{"limited", "GET", "/repos/o/r/git/ref/heads/main", "", 429, `{"message":"slow down"}`, ""},
	{"a fault is no answer", "GET", "/repos/o/r/git/ref/heads/main", "", 502, "<html>", ""},
	{"no such operation", "GET", "/repos/o/r/nonsense", "", 200, `{}`, "no such operation"},
	{"a wrong request that was taken", "PUT", "/repos/o/r/pulls/1/merge", `{"merge_method":"octopus"}`, 200,
		`{"sha":"x","merged":true,"message":"m"}`, "merge_method"},
	{"a wrong request that was refused", "PUT", "/repos/o/r/pulls/1/merge", `{"merge_method":"octopus"}`, 422,
		`{"message":"Validation Failed","documentation_url":"u"}`, ""},
	{"a branch with slashes", "GET", "/repos/o/r/rules/branches/rw/cluster-1", "", 200, `[]`, ""},
	{"status of a ref with slashes", "GET", "/repos/o/r/commits/heads/main/statuses", "", 200, `[]`, ""},
}

var graphqlRows = []row{
	{"valid", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{"data":{"viewer":{"login":"x"}}}`, ""},
	{"unknown field", "POST", "/api/graphql", `{"query":"{viewer{nonsense}}"}`, 200, `{"data":{"viewer":{"nonsense":1}}}`, "nonsense"},
	{"missing", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{"data":{"viewer":{}}}`, "missing"},
	{"not asked for", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{"data":{"viewer":{"login":"x","id":"y"}}}`, "not asked for"},
	{"null where none may be", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{"data":{"viewer":{"login":null}}}`, "is null"},
	{"errors without data", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{"errors":[{"message":"no"}]}`, ""},
	{"neither", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 200, `{}`, "neither"},
	{"no first", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){pullRequests{totalCount}}}"}`, 200,
		`{"data":{"repository":null}}`, "neither first nor last"},
	{"too many", "POST", "/graphql", `{"query":"query($n:Int){repository(owner:\"o\",name:\"r\"){pullRequests(first:$n){totalCount}}}","variables":{"n":101}}`, 200,
		`{"data":{"repository":null}}`, "101"},
	{"too many nodes", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){pullRequests(first:100){nodes{files(first:100){nodes{path}} ` +
		`commits(first:100){nodes{commit{parents(first:100){totalCount}}}}}}}}"}`, 200, `{"data":{"repository":null}}`, "nodes"},
	{"enum", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){pullRequest(number:1){mergeable}}}"}`, 200,
		`{"data":{"repository":{"pullRequest":{"mergeable":"PERHAPS"}}}}`, "PERHAPS"},
	{"union with type name", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){object(oid:\"` + sha + `\"){__typename ... on Blob{text} ... on Tree{oid}}}}"}`, 200,
		`{"data":{"repository":{"object":{"__typename":"Blob","text":null,"oid":"` + sha + `"}}}}`, `"oid" was not asked for`},
	{"union without type name", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){object(oid:\"` + sha + `\"){... on Blob{text} ... on Tree{oid}}}}"}`, 200,
		`{"data":{"repository":{"object":{"text":"x"}}}}`, ""},
	{"object id", "POST", "/graphql", `{"query":"{repository(owner:\"o\",name:\"r\"){object(oid:\"` + sha + `\"){oid}}}"}`, 200,
		`{"data":{"repository":{"object":{"oid":"short"}}}}`, "GitObjectID"},
	{"left out by a directive", "POST", "/graphql", `{"query":"query($x:Boolean!){viewer{login id @include(if:$x)}}","variables":{"x":false}}`, 200,
		`{"data":{"viewer":{"login":"x"}}}`, ""},
	{"variable missing", "POST", "/graphql", `{"query":"query($x:Boolean!){viewer{login id @include(if:$x)}}"}`, 200,
		`{"data":{"viewer":{"login":"x"}}}`, "variables"},
	{"refused", "POST", "/graphql", `{"query":"{viewer{login}}"}`, 401, `{"message":"Bad credentials"}`, ""},
}

func TestChecker(t *testing.T) {
	for _, r := range append(restRows, graphqlRows...) {
		t.Run(r.name, func(t *testing.T) {
			server := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.WriteHeader(r.status)
				_, _ = io.WriteString(w, r.body)
			})
			asHandler, asTransport := &recorder{TB: t}, &recorder{TB: t}
			req := httptest.NewRequest(r.method, "http://github.test"+r.path, strings.NewReader(r.send))
			rec := httptest.NewRecorder()
			New(asHandler).Handler(server).ServeHTTP(rec, req)
			judge(t, "handler", asHandler.errors, r.want)
			if rec.Code != r.status || rec.Body.String() != r.body {
				t.Errorf("the answer was changed: %d %s", rec.Code, rec.Body)
			}
			answer, err := New(asTransport).Transport(inMemory{server}).RoundTrip(
				httptest.NewRequest(r.method, "http://github.test"+r.path, strings.NewReader(r.send)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			judge(t, "transport", asTransport.errors, r.want)
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != r.body {
				t.Errorf("the answer was changed: %s, %v", body, err)
			}
		})
	}
}

func judge(t *testing.T, as string, got []string, want string) {
	t.Helper()
	all := strings.Join(got, "\n")
	switch {
	case want == "" && all != "":
		t.Errorf("as %s reported: %s", as, all)
	case want != "" && !strings.Contains(all, want):
		t.Errorf("as %s reported %q, want something about %q", as, all, want)
	}
}

type inMemory struct{ h http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	m.h.ServeHTTP(rec, r)
	return rec.Result(), nil
}

type cut struct{}

func (cut) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.MultiReader(bytes.NewReader([]byte(`{"ref`)), iotest.ErrReader(io.ErrUnexpectedEOF))
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

// A body that breaks off reaches the client as such and is not judged.
func TestCutBody(t *testing.T) {
	rec := &recorder{TB: t}
	answer, err := New(rec).Transport(cut{}).RoundTrip(httptest.NewRequest("GET", "http://github.test/repos/o/r", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if string(body) != `{"ref` || err != io.ErrUnexpectedEOF { //nolint:errorlint // exactly this one, unwrapped
		t.Errorf("read %q, %v", body, err)
	}
	if len(rec.errors) > 0 {
		t.Errorf("reported: %v", rec.errors)
	}
}

// Who dies amid a request has made none.
func TestCutRequest(t *testing.T) {
	rec := &recorder{TB: t}
	served := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") })
	for _, err := range []error{io.ErrUnexpectedEOF, syscall.ECONNRESET} { // killed, it has a reset sent
		body := io.MultiReader(strings.NewReader(`{"query`), iotest.ErrReader(err))
		New(rec).Handler(served).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "http://github.test/graphql", body))
	}
	if len(rec.errors) > 0 {
		t.Errorf("reported: %v", rec.errors)
	}
}
