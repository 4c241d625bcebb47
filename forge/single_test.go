package forge

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/migueleliasweb/go-github-mock/src/mock"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// singly answers one endpoint of a mocked GitHub.
func singly(p mock.EndpointPattern, code int, header map[string]string, body string) mock.MockBackendOption {
	return mock.WithRequestMatchHandler(p, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}))
}

// TestSingleErrors: what each write over REST makes of each way in which GitHub answers it with an error. What only one of them knows, by
// GitHub's words or by asking again, is tested with it.
func TestSingleErrors(t *testing.T) {
	ctx := context.Background()
	writes := []struct {
		name     string
		endpoint mock.EndpointPattern
		send     func(f *Forge) error
	}{
		{"status", mock.PostReposStatusesByOwnerByRepoBySha, func(f *Forge) error {
			return f.SetStatus(ctx, testRepo, "head", pending)
		}},
		{"merge", mock.PutReposPullsMergeByOwnerByRepoByPullNumber, func(f *Forge) error {
			_, err := f.Merge(ctx, testRepo, plan.Merge{Pin: plan.Pin{SHA: "head"}, Pull: 5, Base: "main", Method: config.Squash})
			return err
		}},
		{"update", mock.PutReposPullsUpdateBranchByOwnerByRepoByPullNumber, func(f *Forge) error {
			return f.Update(ctx, testRepo, plan.Update{Pin: plan.Pin{SHA: "head"}, Pull: 5})
		}},
		{"delete", mock.DeleteReposGitRefsByOwnerByRepoByRef, func(f *Forge) error {
			return f.DeleteBranch(ctx, testRepo, "topic", "head")
		}},
	}
	answers := []struct {
		name   string
		code   int
		header map[string]string
		body   string
		kind   client.Kind
	}{
		{"405", 405, nil, `{"message":"Pull Request is not mergeable"}`, client.Refused},
		{"409", 409, nil, `{"message":"Conflict"}`, client.Transient},
		{"422", 422, nil, `{"message":"Validation Failed"}`, client.Refused},
		{"403", 403, nil, `{"message":"Resource not accessible by integration"}`, client.Refused},
		{"403 with Retry-After", 403, map[string]string{"Retry-After": "30"}, `{"message":"You have exceeded a secondary rate limit."}`, client.Limited},
		{"HTML", 502, map[string]string{"Content-Type": "text/html"}, "<html><h1>502 Bad Gateway</h1></html>", client.Transient},
		{"truncated", 200, map[string]string{"Content-Length": "100"}, `{"sha":"m1","mer`, client.Transient},
	}
	token := `{"token":"` + testToken + `","expires_at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`
	for _, w := range writes {
		for _, a := range answers {
			t.Run(w.name+"/"+a.name, func(t *testing.T) {
				mocked, server := mock.NewMockedHTTPClientAndServer(
					singly(mock.PostAppInstallationsAccessTokensByInstallationId, 201, nil, token),
					singly(mock.GetApp, 200, nil, `{"id":7,"slug":"sluice"}`),
					singly(mock.GetReposPullsByOwnerByRepoByPullNumber, 200, nil, `{"merged":false,"head":{"sha":"head"},"base":{"ref":"main"}}`),
					singly(mock.GetReposBranchesByOwnerByRepoByBranch, 200, nil, `{"name":"topic","commit":{"sha":"head"},"protected":false}`),
					singly(mock.GetReposPullsByOwnerByRepo, 200, nil, `[]`),
					singly(w.endpoint, a.code, a.header, a.body),
				)
				defer server.Close()
				f, err := New(Options{Options: client.Options{AppID: appID, PrivateKey: testKey(), Transport: mocked.Transport, Now: time.Now}})
				if err != nil {
					t.Fatal(err)
				}
				want := a.kind
				if w.name == "delete" && a.name == "truncated" {
					want = "" // nothing is read of the answer to a deletion
				}
				if err := w.send(f); kindOf(err) != want {
					t.Errorf("got %v, want %s", err, want)
				}
			})
		}
	}
}
