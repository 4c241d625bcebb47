package service

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/web"
)

// Settings are what the service is told by flags, the environment (SLUICE_…) or a settings file, in that order of weight.
type Settings struct {
	GitHubURL     string
	GraphQLURL    string // "": derived from GitHubURL, as GitHub does
	AppID         int64
	PrivateKey    []byte // PEM; secret
	WebhookSecret []byte // secret
	FluxSecret    []byte // secret; none: Flux's own events are not taken
	ClientID      string // of the App as an OAuth client; "": nobody can log in
	ClientSecret  []byte // secret
	Listen        string
	AdminListen   string
	MetricsListen string // "": the metrics are at AdminListen
	Peer          int    // connections of one peer address to each listener; 0: no share
	PublicURL     string // where people reach the page; "": on loopback and AdminListen's host alone
	Database      string
	Trees         string   // directory of what is kept of the files of repositories
	TreeBytes     int      // that are kept of one repository
	AllTreeBytes  int      // that are kept of all
	Reader        []string // starts a child process that reads them: see revisions.Child; none: nothing is read
	Resync        time.Duration
	History       time.Duration // how long it is kept; 0: [store.ActAge]
	Pace          int           // points a minute; 0: off
	Workers       int
	Memory        int // bytes that are remembered of repositories
	LogLevel      slog.Level
	LogJSON       bool
	Version       string   // of the program, for the metrics
	Warnings      []string // for the log, once
}

// LogsIn reports whether people can log in to the page.
func (s Settings) LogsIn() bool {
	return s.ClientID != "" && len(s.ClientSecret) > 0 && s.PublicURL != ""
}

// Logger writes what operators read to w.
func (s Settings) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel, ReplaceAttr: present}
	if s.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// present leaves out an attribute that says nothing: an empty text, an instant that is none, the number of no pull request or installation.
// What has words of its own is written with them in JSON too.
func present(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case time.Time:
		if v.IsZero() {
			return slog.Attr{}
		}
	case fmt.Stringer: // a duration, an address
		a.Value = slog.StringValue(v.String())
	}
	numbers := a.Key == "pull" || a.Key == "installation"
	if text := a.Value.String(); text == "" || numbers && text == "0" {
		return slog.Attr{}
	}
	return a
}

// proxy is the host of the proxy that requests to GitHub go through, as HTTPS_PROXY and the like of the environment say; "": none. One that
// cannot be read is none to Go: the log shows that it is not used.
func (s Settings) proxy() string {
	u, err := url.Parse(s.GitHubURL)
	if err != nil {
		return ""
	}
	through, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil || through == nil {
		return ""
	}
	return through.Host // a name and password stand before it
}

// PeopleURL is where people see what the REST base serves: https://github.com for github.com's, https://HOST for an
// Enterprise Server's.
func (s Settings) PeopleURL() string {
	if rest, ok := strings.CutSuffix(strings.TrimSuffix(s.GitHubURL, "/"), "/api/v3"); ok {
		return rest
	}
	return strings.Replace(strings.TrimSuffix(s.GitHubURL, "/"), "://api.", "://", 1)
}

// link is where people read more of what a status is about: on the page where it has an address, else in the rules file on GitHub, at the line
// if that is known.
func (s Settings) link(repo plan.Repo, t plan.Target) string {
	if u, err := url.Parse(s.PublicURL); err == nil && s.PublicURL != "" { // it was checked
		return u.JoinPath(web.PlaceOf(repo, t.Subject.Pull, t.Branch)).String()
	}
	at := cmp.Or(string(t.Origin.SHA), string(t.Subject.Base), "HEAD")
	link := s.PeopleURL() + (&url.URL{Path: "/" + strings.Join([]string{repo.Owner, repo.Name, "blob", at, config.File}, "/")}).EscapedPath()
	if t.Origin.Line > 0 {
		link += "#L" + strconv.Itoa(t.Origin.Line)
	}
	return link
}

// pageHosts are the hosts that the page answers under, beside loopback names.
func (s Settings) pageHosts() []string {
	hosts := []string{s.AdminListen}
	if u, err := url.Parse(s.PublicURL); err == nil { // it was checked
		hosts = append(hosts, u.Host)
	}
	return hosts
}

// Forge is what package forge needs of the settings.
func (s Settings) Forge(log *slog.Logger) forge.Options {
	return forge.Options{
		Options: client.Options{
			URL: s.GitHubURL, GraphQLURL: s.GraphQLURL, AppID: s.AppID, PrivateKey: s.PrivateKey, Pace: s.Pace, Log: log,
		},
		Resync: s.Resync, Memory: s.Memory,
	}
}
