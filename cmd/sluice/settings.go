package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/web"
)

// settings are what the service is told by flags, the environment (SLUICE_…) or a settings file, in that order of weight.
type settings struct {
	GitHubURL     string
	GraphQLURL    string // "": derived from GitHubURL, as GitHub does
	AppID         int64
	PrivateKey    []byte // PEM; secret
	WebhookSecret []byte // secret
	FluxSecret    []byte // secret; none: Flux's own events are not taken
	Listen        string
	AdminListen   string
	MetricsListen string // "": the metrics are at AdminListen
	Peer          int    // connections of one peer address to each listener; 0: no share
	PublicURL     string // where people reach the page; "": on loopback and AdminListen's host alone
	Database      string
	Resync        time.Duration
	Pace          int // points a minute; 0: off
	Workers       int
	Memory        int // bytes that are remembered of repositories
	LogLevel      slog.Level
	LogJSON       bool
	Warnings      []string // for the log, once
}

// setting is one name that can be set, with its default and what it means.
type setting struct {
	key, value, usage string
	secret            bool // never a flag: other people on the machine can read a command line
}

func knownSettings() []setting {
	return []setting{
		{key: "github.url", value: "https://api.github.com", usage: "REST base; an Enterprise Server's is https://HOST/api/v3"},
		{key: "github.graphql_url", usage: "GraphQL address, if it does not follow from github.url"},
		{key: "github.app_id", usage: "the App's id"},
		{key: "github.private_key", usage: "the App's private key, PEM", secret: true},
		{key: "github.private_key_file", usage: "file with the App's private key, PEM"},
		{key: "github.webhook_secret", usage: "the App's webhook secret", secret: true},
		{key: "github.webhook_secret_file", usage: "file with the App's webhook secret"},
		{key: "flux.secret", usage: "the secret from which the token of each repository's generic-hmac provider is derived; the provider posts to /flux/OWNER/REPO", secret: true},
		{key: "flux.secret_file", usage: "file with the secret for Flux's generic-hmac providers"},
		{key: "github.pace", value: "900", usage: "the most points a minute that sluice spends, or off"},
		{key: "listen", value: "127.0.0.1:8080", usage: "address for GitHub and Flux: POST /webhook, /flux/OWNER/REPO, GET /healthz, /readyz"},
		{key: "admin.listen", value: "127.0.0.1:8081", usage: "address for people: the page, and the metrics where they have no address of their own"},
		{key: "metrics.listen", usage: "address for Prometheus: GET /metrics alone, which is then not at admin.listen"},
		{key: "peer_connections", value: "64", usage: "connections that one client address may hold on each listener while all are in use; 0: no limit, for use behind a proxy"},
		{key: "public_url", usage: "URL at which people reach the page; it answers only under this host, admin.listen's and loopback names"},
		{key: "database", value: "sluice.db", usage: "path of the database"},
		{key: "resync", value: "5m", usage: "reconcile each repository at least this often"},
		{key: "workers", value: "32", usage: "repositories that are reconciled at once"},
		{key: "memory", value: "200MiB", usage: "how much is remembered of all repositories together, of one at most a quarter; in MiB or GiB"},
		{key: "log.level", value: "info", usage: "debug, info, warn or error"},
		{key: "log.format", value: "text", usage: "text or json"},
	}
}

const envPrefix = "SLUICE"

var envReplacer = strings.NewReplacer(".", "_")

// envName is the environment's name of a setting: SLUICE_GITHUB_APP_ID for github.app_id.
func envName(key string) string { return envPrefix + "_" + strings.ToUpper(envReplacer.Replace(key)) }

// addSettingFlags adds a flag for every setting that is no secret, and --settings for a file with all of them.
func addSettingFlags(flags *pflag.FlagSet) {
	flags.String("settings", "", "settings file (YAML, TOML or JSON)")
	for _, s := range knownSettings() {
		if !s.secret {
			flags.String(s.key, s.value, fmt.Sprintf("%s (%s)", s.usage, envName(s.key)))
		}
	}
}

// readSettings collects the settings of a command. Its errors name settings and where they come from, never their values.
func readSettings(flags *pflag.FlagSet, need ...string) (settings, error) {
	v := viper.New()
	from := sources{flags: flags, file: v}
	if path, err := flags.GetString("settings"); err == nil && path != "" {
		from.path = path
		if err := readSettingsFile(v, path); err != nil {
			return settings{}, err
		}
	}
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(envReplacer)
	v.AutomaticEnv()
	for _, s := range knownSettings() {
		v.SetDefault(s.key, s.value)
	}
	if err := v.BindPFlags(flags); err != nil {
		return settings{}, err
	}
	if unknown := unknownVariables(os.Environ()); len(unknown) > 0 {
		return settings{}, errors.New(strings.Join(unknown, "\n"))
	}
	if err := missing(v, need); err != nil {
		return settings{}, err
	}
	s, err := parseSettings(v, from)
	if warning := exposedSettings(v, from.path); warning != "" {
		s.Warnings = append(s.Warnings, warning)
	}
	return s, err
}

// missing names every setting that is needed and not there, in one line. "a|b" is met by either.
func missing(v *viper.Viper, need []string) error {
	var lines []string
	for _, alternatives := range need {
		keys := strings.Split(alternatives, "|")
		if slices.ContainsFunc(keys, func(k string) bool { return v.GetString(k) != "" }) {
			continue
		}
		for i, k := range keys {
			keys[i] = k + " (" + envName(k) + ")"
		}
		lines = append(lines, strings.Join(keys, " or "))
	}
	if len(lines) > 0 {
		return errors.New("missing settings: " + strings.Join(lines, ", "))
	}
	return nil
}

func parseSettings(v *viper.Viper, from sources) (settings, error) {
	s := settings{
		GitHubURL: v.GetString("github.url"), GraphQLURL: v.GetString("github.graphql_url"),
		Listen: v.GetString("listen"), AdminListen: v.GetString("admin.listen"), MetricsListen: v.GetString("metrics.listen"), PublicURL: v.GetString("public_url"), Database: v.GetString("database"),
	}
	var errs []error
	check := func(key string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("setting %s: %w%s", key, err, from.from(key)))
		}
	}
	read := func(key string) []byte {
		value, warning, err := secret(v, key)
		if err == nil {
			err = from.twice(key)
		}
		errs = append(errs, err)
		if warning != "" {
			s.Warnings = append(s.Warnings, warning)
		}
		return value
	}
	var err error
	check("github.url", checkTokenURL(s.GitHubURL))
	check("github.graphql_url", checkTokenURL(s.GraphQLURL))
	check("public_url", checkURL(s.PublicURL))
	s.checkListens(check)
	if s.Database == "" {
		check("database", errors.New("want a path"))
	}
	if text := v.GetString("github.app_id"); text != "" {
		s.AppID, err = appID(text)
		check("github.app_id", err)
	}
	s.PrivateKey, s.WebhookSecret, s.FluxSecret = read("github.private_key"), read("github.webhook_secret"), read("flux.secret")
	if err := keyError(s.PrivateKey); err != nil {
		errs = append(errs, fmt.Errorf("setting github.private_key: %w%s", err, cmp.Or(from.from("github.private_key"), from.from("github.private_key_file"))))
	}
	s.Pace, err = pace(v.GetString("github.pace"))
	check("github.pace", err)
	s.Resync, err = time.ParseDuration(v.GetString("resync"))
	check("resync", durationError(err, s.Resync))
	workers, err := strconv.ParseInt(v.GetString("workers"), 10, 32)
	s.Workers = int(workers)
	check("workers", numberError(err, workers, "a positive number"))
	peer, err := strconv.ParseInt(v.GetString("peer_connections"), 10, 32)
	s.Peer = int(peer)
	check("peer_connections", numberError(err, peer+1, "a number of connections, or 0"))
	s.Memory, err = memory(v.GetString("memory"))
	check("memory", err)
	if s.LogLevel.UnmarshalText([]byte(v.GetString("log.level"))) != nil {
		check("log.level", errors.New("want debug, info, warn or error"))
	}
	switch format := v.GetString("log.format"); format {
	case "text", "json":
		s.LogJSON = format == "json"
	default:
		check("log.format", errors.New("want text or json"))
	}
	return s, errors.Join(errs...)
}

func (s settings) checkListens(check func(key string, err error)) {
	check("listen", checkListen(s.Listen))
	check("admin.listen", checkListen(s.AdminListen))
	if s.MetricsListen != "" {
		check("metrics.listen", checkListen(s.MetricsListen))
	}
}

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
		return errors.New("want https://HOST/…, without a user")
	}
	return nil
}

// checkTokenURL is checkURL of where the App's tokens are sent.
func checkTokenURL(text string) error {
	if err := checkURL(text); err != nil || text == "" {
		return err
	}
	if u, _ := url.Parse(text); u.Scheme == "http" && !loopback(u.Hostname()) {
		// Fail closed: whoever reads one token on the way may merge what sluice may.
		return errors.New("http:// would send the App's tokens in clear: want https://; http:// is for localhost, 127.0.0.1 and [::1], " +
			"where a tunnel or a proxy that speaks TLS may stand")
	}
	return nil
}

// loopback reports whether a host is this machine, whatever its resolver says.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// clientID is what GitHub gives an App beside its id; the page that shows both shows it in larger letters.
var clientID = regexp.MustCompile(`^Iv[0-9]`)

func appID(text string) (int64, error) {
	if clientID.MatchString(text) {
		return 0, errors.New("this is the App's client id: want its App ID, a number on the same page")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, numberError(err, n, "a positive number")
}

func numberError(err error, n int64, want string) error {
	if err != nil || n <= 0 {
		return errors.New("want " + want)
	}
	return nil
}

func durationError(err error, d time.Duration) error {
	if err != nil || d < time.Second || d > 24*time.Hour {
		return errors.New("want a duration between 1s and 24h, like 5m")
	}
	return nil
}

func pace(text string) (int, error) {
	if text == "off" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 10 || n > 1_000_000 {
		return 0, errors.New("want points a minute, at least 10, or off")
	}
	return n, nil
}

// leastMemory is enough for a repository of a few hundred pull requests.
const leastMemory = 16 << 20

// memory is a number of bytes, written as for GOMEMLIMIT.
func memory(text string) (int, error) {
	for unit, shift := range map[string]int{"MiB": 20, "GiB": 30} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseUint(number, 10, 16); ok && err == nil && int(n)<<shift >= leastMemory {
			return int(n) << shift, nil
		}
	}
	return 0, fmt.Errorf("want at least %dMiB, like 200MiB or 1GiB", leastMemory>>20)
}

// logger writes what operators read to w.
func (s settings) logger(w io.Writer) *slog.Logger {
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
func (s settings) proxy() string {
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

// peopleURL is where people see what the REST base serves: https://github.com for github.com's, https://HOST for an
// Enterprise Server's.
func (s settings) peopleURL() string {
	if rest, ok := strings.CutSuffix(strings.TrimSuffix(s.GitHubURL, "/"), "/api/v3"); ok {
		return rest
	}
	return strings.Replace(strings.TrimSuffix(s.GitHubURL, "/"), "://api.", "://", 1)
}

// link is where people read more of what a status is about: on the page where it has an address, else in the rules file on GitHub, at the line
// if that is known.
func (s settings) link(repo plan.Repo, t reconcile.Target) string {
	if u, err := url.Parse(s.PublicURL); err == nil && s.PublicURL != "" { // it was checked
		u = u.JoinPath("/")
		u.Fragment = web.Anchor(repo, t.Subject.Pull, t.Branch)
		return u.String()
	}
	at := cmp.Or(string(t.Origin.SHA), string(t.Subject.Base), "HEAD")
	link := s.peopleURL() + (&url.URL{Path: "/" + strings.Join([]string{repo.Owner, repo.Name, "blob", at, config.File}, "/")}).EscapedPath()
	if t.Origin.Line > 0 {
		link += "#L" + strconv.Itoa(t.Origin.Line)
	}
	return link
}

// pageHosts are the hosts that the page answers under, beside loopback names.
func (s settings) pageHosts() []string {
	hosts := []string{s.AdminListen}
	if u, err := url.Parse(s.PublicURL); err == nil { // it was checked
		hosts = append(hosts, u.Host)
	}
	return hosts
}
