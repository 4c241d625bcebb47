package main

import (
	"cmp"
	"errors"
	"fmt"
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

	"github.com/sluicegate/sluice/service"
)

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
		{key: "github.client_id", usage: "the App's client id: with it and its secret people log in to the page at public_url"},
		{key: "github.client_secret", usage: "the App's client secret", secret: true},
		{key: "github.client_secret_file", usage: "file with the App's client secret"},
		{key: "flux.secret", usage: "the secret from which the token of each repository's generic-hmac provider is derived; the provider posts to /flux/OWNER/REPO", secret: true},
		{key: "flux.secret_file", usage: "file with the secret for Flux's generic-hmac providers"},
		{key: "github.pace", value: "900", usage: "the most points a minute that sluice spends, or off"},
		{key: "listen", value: "127.0.0.1:8080", usage: "address for GitHub and Flux: POST /webhook, /flux/OWNER/REPO, GET /healthz, /readyz"},
		{key: "admin.listen", value: "127.0.0.1:8081", usage: "address for people: the page, and the metrics where they have no address of their own"},
		{key: "metrics.listen", usage: "address for Prometheus: GET /metrics alone, which is then not at admin.listen"},
		{key: "peer_connections", value: "64", usage: "connections that one client address may hold on each listener while all are in use; 0: no limit, for use behind a proxy"},
		{key: "public_url", usage: "URL at which people reach the page; it answers only under this host, admin.listen's and loopback names"},
		{key: "database", value: "sluice.db", usage: "path of the database"},
		{key: "history", value: "8760h", usage: "how long it is kept who did what, when and why"},
		{key: "trees.directory", usage: "directory in which the files of repositories with layout.flux are kept; DATABASE.trees if it is not set"},
		{key: "trees.repository", value: "1GiB", usage: "how much is kept of one repository's files; in MiB or GiB"},
		{key: "trees.all", value: "4GiB", usage: "how much is kept of the files of all repositories; what was not used for longest goes; in MiB or GiB"},
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

// addSetting adds the one setting of the service that a command has.
func addSetting(flags *pflag.FlagSet, key string) {
	for _, s := range knownSettings() {
		if s.key == key {
			flags.String(s.key, s.value, s.usage+" ("+envName(s.key)+")")
		}
	}
}

// readSettings collects the settings of a command. Its errors name settings and where they come from, never their values.
func readSettings(flags *pflag.FlagSet, need ...string) (service.Settings, error) {
	v := viper.New()
	from := sources{flags: flags, file: v}
	if path, err := flags.GetString("settings"); err == nil && path != "" {
		from.path = path
		if err := readSettingsFile(v, path); err != nil {
			return service.Settings{}, err
		}
	}
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(envReplacer)
	v.AutomaticEnv()
	for _, s := range knownSettings() {
		v.SetDefault(s.key, s.value)
	}
	if err := v.BindPFlags(flags); err != nil {
		return service.Settings{}, err
	}
	if unknown := unknownVariables(os.Environ()); len(unknown) > 0 {
		return service.Settings{}, errors.New(strings.Join(unknown, "\n"))
	}
	if err := missing(v, need); err != nil {
		return service.Settings{}, err
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

func parseSettings(v *viper.Viper, from sources) (service.Settings, error) {
	s := service.Settings{
		Version:   version(),
		GitHubURL: v.GetString("github.url"), GraphQLURL: v.GetString("github.graphql_url"), ClientID: v.GetString("github.client_id"),
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
	checkURLs(s, check)
	checkListens(s, check)
	if s.Database == "" {
		check("database", errors.New("want a path"))
	}
	if text := v.GetString("github.app_id"); text != "" {
		s.AppID, err = appID(text)
		check("github.app_id", err)
	}
	s.PrivateKey, s.WebhookSecret, s.FluxSecret = read("github.private_key"), read("github.webhook_secret"), read("flux.secret")
	s.ClientSecret = read("github.client_secret")
	check("github.client_id", logInError(s))
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
	parseKept(v, &s, check)
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

// logInError: what a log-in takes is set together, or not at all.
func logInError(s service.Settings) error {
	if s.LogsIn() != (s.ClientID != "" || len(s.ClientSecret) > 0) {
		return errors.New("want github.client_id, github.client_secret_file and public_url together")
	}
	return nil
}

// parseKept reads how much is kept of repositories, for how long, where, and what reads their files.
func parseKept(v *viper.Viper, s *service.Settings, check func(key string, err error)) {
	var err error
	s.Memory, err = memory(v.GetString("memory"))
	check("memory", err)
	program, err := os.Executable()
	check("trees.directory", err)
	s.Reader = []string{program, "references"}
	s.Trees = cmp.Or(v.GetString("trees.directory"), s.Database+".trees")
	s.TreeBytes, err = memory(v.GetString("trees.repository"))
	check("trees.repository", err)
	s.AllTreeBytes, err = memory(v.GetString("trees.all"))
	check("trees.all", err)
	if s.History, err = time.ParseDuration(v.GetString("history")); err != nil || s.History < 24*time.Hour {
		check("history", errors.New("want at least 24h, like 8760h for a year"))
	}
}

func checkURLs(s service.Settings, check func(key string, err error)) {
	check("github.url", checkTokenURL(s.GitHubURL))
	check("github.graphql_url", checkTokenURL(s.GraphQLURL))
	check("public_url", checkURL(s.PublicURL))
}

func checkListens(s service.Settings, check func(key string, err error)) {
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
