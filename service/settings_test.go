package service

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestLogWithoutEmptyAttributes: an attribute that says nothing is left out, also one of a logger's own; zero that counts something stays;
// durations and addresses are words in JSON too.
func TestLogWithoutEmptyAttributes(t *testing.T) {
	for format, want := range map[string]string{
		"text": `level=INFO msg=x pull=7 waiting=0 again_in=1m0s page=127.0.0.1:80 error=bad sha=abc`,
		"json": `"level":"INFO","msg":"x","pull":7,"waiting":0,"again_in":"1m0s","page":"127.0.0.1:80","error":"bad","sha":"abc"}`,
	} {
		var out strings.Builder
		log := Settings{LogJSON: format == "json"}.Logger(&out).With("repository", plan.Repo{}.String(), "base", plan.Branch(""))
		log.Info("x", "pull", 0, "installation", int64(0), "pull", 7, "waiting", 0, "until", time.Time{}, "reason", "", "again_in", time.Minute,
			"page", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "error", errors.New("bad"), "sha", plan.SHA("abc"))
		if _, got, _ := strings.Cut(strings.TrimSpace(out.String()), want[:8]); want[:8]+got != want {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}

// TestLinks: a status links to its pull request or branch on the page where that has an address, else to the line of the rules on GitHub.
// Names are escaped.
func TestLinks(t *testing.T) {
	repo := plan.Repo{Owner: "acme", Name: "fleet"}
	pull := plan.Target{Subject: plan.Subject{Pull: 7, Base: "main"}, Origin: plan.Origin{SHA: "abc", Line: 12}}
	for _, c := range []struct {
		public, github string
		about          plan.Target
		want           string
	}{
		{"https://sluice.example.com", "", pull, "https://sluice.example.com/acme/fleet/pull/7"},
		{"https://example.com/sluice/", "", pull, "https://example.com/sluice/acme/fleet/pull/7"},
		{"https://example.com/sluice?x=1", "", pull, "https://example.com/sluice/acme/fleet/pull/7?x=1"},
		{"https://example.com", "", plan.Target{Branch: `rw/a"><b#%`}, "https://example.com/acme/fleet/branch/rw/a%22%3E%3Cb%23%25"},
		{"https://example.com", "", plan.Target{}, "https://example.com/acme/fleet"},
		{"", "https://api.github.com", pull, "https://github.com/acme/fleet/blob/abc/.github/sluice.yaml#L12"},
		{"", "https://ghe.example.com/api/v3", pull, "https://ghe.example.com/acme/fleet/blob/abc/.github/sluice.yaml#L12"},
		{"", "https://api.github.com", plan.Target{Subject: plan.Subject{Base: `a b#"%`}}, "https://github.com/acme/fleet/blob/a%20b%23%22%25/.github/sluice.yaml"},
		{"", "https://api.github.com", plan.Target{Branch: "rw/a"}, "https://github.com/acme/fleet/blob/HEAD/.github/sluice.yaml"},
	} {
		if got := (Settings{PublicURL: c.public, GitHubURL: c.github}).link(repo, c.about); got != c.want {
			t.Errorf("%s %s %+v: %s, want %s", c.public, c.github, c.about, got, c.want)
		}
	}
}

// TestPeopleURL: where people see what the service asks.
func TestPeopleURL(t *testing.T) {
	for api, want := range map[string]string{
		"https://api.github.com":      "https://github.com",
		"https://ghe.acme.com/api/v3": "https://ghe.acme.com",
		"https://api.acme.ghe.com":    "https://acme.ghe.com",
		"http://127.0.0.1:1/api/v3/":  "http://127.0.0.1:1",
	} {
		if got := (Settings{GitHubURL: api}).PeopleURL(); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}
