package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicegate/sluice/service"
)

func readWith(t *testing.T, args []string, need ...string) (service.Settings, error) {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	addSettingFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return readSettings(flags, need...)
}

// TestSettingsWeight: a flag weighs more than the environment, that more than the file, that more than the default.
func TestSettingsWeight(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.yaml")
	text := "github:\n  app_id: 1\n  pace: off\nresync: 1m\nworkers: 3\nlisten: 127.0.0.1:1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLUICE_RESYNC", "2m")
	t.Setenv("SLUICE_WORKERS", "4")
	s, err := readWith(t, []string{"--settings", file, "--workers", "5"})
	if err != nil {
		t.Fatal(err)
	}
	if s.AppID != 1 || s.Pace != 0 || s.Resync != 2*time.Minute || s.Workers != 5 || s.Listen != "127.0.0.1:1" || s.AdminListen != "127.0.0.1:8081" {
		t.Errorf("read %+v", s)
	}
}

// TestSettingsErrors: every error names the setting, and no error shows a secret.
func TestSettingsErrors(t *testing.T) {
	dir := t.TempDir()
	empty, unknown := filepath.Join(dir, "empty.pem"), filepath.Join(dir, "unknown.yaml")
	for path, text := range map[string]string{empty: "\n", unknown: "github:\n  app: 1\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLUICE_GITHUB_WEBHOOK_SECRET", "hunter2")
	cases := []struct {
		args []string
		want string
	}{
		{nil, "missing settings: github.app_id (SLUICE_GITHUB_APP_ID), github.private_key_file (SLUICE_GITHUB_PRIVATE_KEY_FILE) or github.private_key (SLUICE_GITHUB_PRIVATE_KEY)"},
		{[]string{"--github.app_id", "x", "--github.private_key_file", empty}, "setting github.app_id: want a positive number (from --github.app_id)"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", empty}, "setting github.private_key_file: the file " + empty + " is empty"},
		{[]string{"--settings", unknown}, "unknown.yaml, line 2: unknown setting; did you mean github.app_id?"},
		{[]string{"--settings", filepath.Join(dir, "none.yaml")}, "none.yaml"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--log.format", "xml"}, "setting log.format: want text or json"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--github.url", "https://me:pw@host/"}, "setting github.url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--public_url", "https://:8443/"}, "setting public_url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--public_url", "sluice.example.com"}, "setting public_url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--resync", "1ms"}, "setting resync: want a duration"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--history", "1h"}, "setting history: want at least 24h"},
	}
	for _, c := range cases {
		_, err := readWith(t, c.args, "github.app_id", "github.private_key_file|github.private_key")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "pw@")) {
			t.Errorf("%q: a secret is shown: %v", c.args, err)
		}
	}
}

// TestSettingsFileErrors: what is wrong with a settings file is told by its line, and nothing of the file is shown: it may be a secret.
func TestSettingsFileErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"colon.yaml":    {"github:\n  app_id: 1\n  webhook_secret:hunter2\n", ", line 3: "},
		"map.yaml":      {"github:\n  webhook_secret: hunter2: x\n", ", line 2: "},
		"text.yaml":     {"hunter2\n", ", line 1: "},
		"list.yml":      {"- hunter2\n", ", line 1: "},
		"quote.yaml":    {"github:\n  webhook_secret: \"hunter2\n", ", line 2: "},
		"twice.yaml":    {"a: 1\nhunter2: 1\nhunter2: 2\n", ", line 3: "},
		"anchor.yaml":   {"github:\n  webhook_secret: *hunter2\n", ": cannot parse it"},
		"tag.yaml":      {"github:\n  webhook_secret: !!int hunter2\n", ": cannot parse it"},
		"key.yaml":      {"github:\n  app_id: 1\n  webhook_secret: {hunter2: 1}\n", "setting github.webhook_secret: want one value"},
		"list2.yaml":    {"listen:\n  - hunter2\n", ", line 1: setting listen: want one value"},
		"table.toml":    {"[listen]\nhunter2 = 1\n", ", line 1: setting listen: want one value"},
		"below.yaml":    {"listen: x\nflux:\n  listen: hunter2\n", ", line 3: unknown setting"},
		"number.yaml":   {"github:\n  webhook_secret: 0123456701234567\n", "setting github.webhook_secret: want text"},
		"bare.toml":     {"[github]\nwebhook_secret = hunter2\n", ", line 2: "},
		"quote.toml":    {"[github]\n\nwebhook_secret = \"hunter2\n", ", line 3: "},
		"text.toml":     {"hunter2\n", ", line 1: "},
		"twice.toml":    {"[github]\nhunter2=1\nhunter2=2\n", ": cannot parse it"},
		"bare.json":     {"{\"github\":{\n\"webhook_secret\": hunter2}}", ", line 2: "},
		"text.json":     {"\"hunter2\"", ": cannot parse it"},
		"break.json":    {"{\"github\":{\n\"webhook_secret\":\n\"hunter2\n\"}}", ", line 4: "},
		"unknown.json":  {"{\"hunter2\": 1}", ", line 1: unknown setting"},
		"other.hunter":  {"x", "want a name that ends in .yaml, .toml or .json"},
		"unknown.hosts": {"x", "want a name that ends in .yaml, .toml or .json"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readWith(t, []string{"--settings", path})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestLogInSettings: what a log-in takes is set together or not at all, and its secret is in a file or the environment.
func TestLogInSettings(t *testing.T) {
	const says = "want github.client_id, github.client_secret_file and public_url together"
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("0123456789abcdef0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, file, page := []string{"--github.client_id", "Iv1.abc"}, []string{"--github.client_secret_file", secret}, []string{"--public_url", "https://sluice.example.com"}
	for _, c := range []struct {
		args  []string
		fails bool
	}{{nil, false}, {page, false}, {id, true}, {file, true}, {slices.Concat(id, file), true}, {slices.Concat(id, page), true}, {slices.Concat(file, page), true}, {slices.Concat(id, file, page), false}} {
		s, err := readWith(t, c.args)
		if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), says) || s.LogsIn() != (len(c.args) == 6) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	s, _ := readWith(t, slices.Concat(id, file, page))
	if string(s.ClientSecret) != "0123456789abcdef0123" || s.ClientID != "Iv1.abc" {
		t.Errorf("%q %q", s.ClientID, s.ClientSecret)
	}
}

// TestSecretsAlike: one rule for all secrets, wherever they come from: space around one is no part of it, and nothing but space is an
// error that names the setting. A short one is warned of.
func TestSecretsAlike(t *testing.T) {
	dir := t.TempDir()
	get := map[string]func(service.Settings) []byte{
		"github.private_key":    func(s service.Settings) []byte { return s.PrivateKey },
		"github.webhook_secret": func(s service.Settings) []byte { return s.WebhookSecret },
		"flux.secret":           func(s service.Settings) []byte { return s.FluxSecret },
	}
	for key, value := range get {
		group, name, _ := strings.Cut(key, ".")
		for text, want := range map[string]string{" \tcorrect horse battery\n": "correct horse battery", " \n": "", "short": "short"} {
			file, yaml := filepath.Join(dir, "secret"), filepath.Join(dir, "service.yaml")
			for path, text := range map[string]string{file: text, yaml: fmt.Sprintf("%s:\n  %s: %q\n", group, name, text)} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for from, read := range map[string]func() (service.Settings, error){
				"environment": func() (service.Settings, error) {
					t.Setenv(envName(key), text)
					return readWith(t, nil)
				},
				"file":          func() (service.Settings, error) { return readWith(t, []string{"--" + key + "_file", file}) },
				"settings file": func() (service.Settings, error) { return readWith(t, []string{"--settings", yaml}) },
			} {
				s, err := read()
				t.Setenv(envName(key), "")
				short := slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, key) && strings.Contains(w, "guessed") })
				switch {
				case want == "" && (err == nil || !strings.Contains(err.Error(), "setting "+key)):
					t.Errorf("%s from the %s: %q is taken (%v)", key, from, text, err)
				case want != "" && (err != nil || string(value(s)) != want || short != (want == "short")):
					t.Errorf("%s from the %s: %q gives %q, %q, %v", key, from, text, value(s), s.Warnings, err)
				}
			}
		}
	}
}

// TestExposedFiles: a file that holds secrets and that others may read or write is warned of; what is a group's alone is not.
func TestExposedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.yaml")
	for text, secret := range map[string]bool{"flux:\n  secret: correct horse battery\n": true, "workers: 3\n": false} {
		for mode, open := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: false, 0o660: false, 0o644: true, 0o602: true} {
			if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
				t.Fatal(err)
			}
			s, err := readWith(t, []string{"--settings", path})
			if err != nil || (len(s.Warnings) > 0) != (secret && open) {
				t.Errorf("mode %04o, secret %v: %q, %v", mode, secret, s.Warnings, err)
			}
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestURLsInClear: a token never leaves the machine in clear.
func TestURLsInClear(t *testing.T) {
	for url, want := range map[string]bool{
		"https://github.example.com/api/v3": true, "http://localhost:1/api/v3": true, "http://LOCALHOST": true, "http://127.0.0.1:1": true,
		"http://127.9.9.9": true, "http://[::1]:80": true, "http://[::ffff:127.0.0.1]": true,
		"http://github.example.com/api/v3": false, "HTTP://github.example.com": false, "http://10.0.0.1": false, "http://0.0.0.0": false,
		"http://localhost.example.com": false, "http://127.0.0.1.example.com": false, "http://2130706433": false, "http://[::]": false,
	} {
		for _, key := range []string{"github.url", "github.graphql_url"} {
			_, err := readWith(t, []string{"--" + key, url})
			if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "setting "+key+": http:// would send") {
				t.Errorf("%s %s: %v", key, url, err)
			}
		}
	}
}

// TestUnknownVariables: a variable that looks like a setting and is none is an error with the name that was most likely meant; those that
// Kubernetes sets for a Service called sluice, or sluice-SOMETHING, are none of ours. No value is shown.
func TestUnknownVariables(t *testing.T) {
	for name, want := range map[string]string{
		"SLUICE_GITHUB_APPID":               "did you mean SLUICE_GITHUB_APP_ID?",
		"SLUICE_LOGLEVEL":                   "did you mean SLUICE_LOG_LEVEL?",
		"SLUICE_PRIVATE_KEY_FILE":           "did you mean SLUICE_GITHUB_PRIVATE_KEY_FILE?",
		"SLUICE_APP_ID":                     "did you mean SLUICE_GITHUB_APP_ID?",
		"SLUICE_LISTEN_PORT":                "did you mean SLUICE_LISTEN?",
		"SLUICE_DATABASE_URL":               "did you mean SLUICE_DATABASE?",
		"SLUICE_LEVEL":                      "did you mean SLUICE_LOG_LEVEL?",
		"SLUICE_PRIVATE_KEY":                "did you mean SLUICE_GITHUB_PRIVATE_KEY?",
		"SLUICE_SECRET":                     "docs/install.md lists the settings", // there are two
		"SLUICE_URL":                        "docs/install.md lists the settings",
		"SLUICE_E":                          "docs/install.md lists the settings",
		"SLUICE_TEN":                        "docs/install.md lists the settings", // the middle of a word
		"SLUICE_COLOUR":                     "unknown setting; docs/install.md",
		"SLUICE_":                           "unknown setting; docs/install.md",
		"SLUICE_PORT_8080_TCP_USER":         "unknown setting",
		"SLUICE_PORTS":                      "unknown setting",
		"SLUICE_GIT_TOKEN":                  "",
		"SLUICE_SERVICE_HOST":               "",
		"SLUICE_SERVICE_PORT":               "",
		"SLUICE_SERVICE_PORT_HTTP":          "",
		"SLUICE_SERVICE_PORT_FLUX_EVENTS":   "",
		"SLUICE_PORT":                       "",
		"SLUICE_PORT_8080_TCP":              "",
		"SLUICE_PORT_8080_TCP_ADDR":         "",
		"SLUICE_PORT_8080_TCP_PORT":         "",
		"SLUICE_PORT_8080_TCP_PROTO":        "",
		"SLUICE_PORT_53_UDP":                "",
		"SLUICE_PORT_53_UDP_ADDR":           "",
		"SLUICE_PORT_9_SCTP_PROTO":          "",
		"SLUICE_ADMIN_SERVICE_HOST":         "",
		"SLUICE_ADMIN_PORT_8081_TCP_ADDR":   "unknown setting", // unless that Service is there
		"SLUICEGATE":                        "",
		"OTHER_SLUICE_PORT":                 "",
		"SLUICE_WEB_PAGE_SERVICE_PORT_HTTP": "unknown setting",
	} {
		got := strings.Join(unknownVariables([]string{"PATH=/bin", "SLUICE_RESYNC=5m", name + "=hunter2"}), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) || want != "" && !strings.HasPrefix(got, "variable "+name+": ") || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := unknownVariables([]string{"SLUICE_ADMIN_SERVICE_HOST=10.0.0.1", "SLUICE_ADMIN_PORT_8081_TCP_ADDR=10.0.0.1", "SLUICE_ADMIN_PORT=tcp://10.0.0.1:8081"}); got != nil {
		t.Errorf("a Service called sluice-admin: %q", got)
	}
	for _, s := range knownSettings() {
		if ofKubernetes.MatchString(envName(s.key)) {
			t.Errorf("%s: Kubernetes may set %s", s.key, envName(s.key))
		}
	}
	t.Setenv("SLUICE_RESYNK", "1m")
	if _, err := readWith(t, nil); err == nil || err.Error() != "variable SLUICE_RESYNK: unknown setting; did you mean SLUICE_RESYNC?" {
		t.Errorf("%v", err)
	}
}

// TestSettingsSources: an error names the setting and where it was set, the weightiest place of several; a secret that is given both as text
// and by a file's name is an error; no value is shown.
func TestSettingsSources(t *testing.T) {
	file, key := filepath.Join(t.TempDir(), "service.yaml"), filepath.Join(t.TempDir(), "secret")
	text := "resync: soon\nworkers: many\nflux:\n  secret_file: " + key + "\nlog:\n  level: loud\n"
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(key, []byte("hunter2 hunter2 hunter2"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLUICE_WORKERS", "few")
	t.Setenv("SLUICE_GITHUB_PACE", "9")
	t.Setenv("SLUICE_MEMORY", "15MiB")
	t.Setenv("SLUICE_FLUX_SECRET", "hunter2 hunter2 hunter2")
	t.Setenv("SLUICE_PUBLIC_URL", "nowhere")
	_, err := readWith(t, []string{"--settings", file, "--github.pace", "fast", "--listen", "", "--database", "", "--admin.listen", "8081", "--metrics.listen", "8082"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"setting resync: want a duration between 1s and 24h, like 5m (from settings file " + file + ", line 1)",
		"setting workers: want a positive number (from SLUICE_WORKERS)",
		"setting github.pace: want points a minute, at least 10, or off (from --github.pace)",
		"setting memory: want at least 16MiB, like 200MiB or 1GiB (from SLUICE_MEMORY)",
		"setting log.level: want debug, info, warn or error (from settings file " + file + ", line 6)",
		"setting public_url: want https://HOST/…, without a user (from SLUICE_PUBLIC_URL)",
		"setting listen: want HOST:PORT, such as 127.0.0.1:8080 (from --listen)",
		"setting admin.listen: want HOST:PORT, such as 127.0.0.1:8080 (from --admin.listen)",
		"setting metrics.listen: want HOST:PORT, such as 127.0.0.1:8080 (from --metrics.listen)",
		"setting database: want a path (from --database)",
		"settings flux.secret (from SLUICE_FLUX_SECRET) and flux.secret_file (from settings file " + file + ", line 4): want one of them",
	} {
		if !slices.Contains(strings.Split(err.Error(), "\n"), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret is shown:\n%v", err)
	}
}

// TestWrongKeys: what people take for the App's private key, or for its id, is named as what it is, and not shown.
func TestWrongKeys(t *testing.T) {
	block := func(kind string) string {
		return "-----BEGIN " + kind + "-----\naHVudGVyMg==\n-----END " + kind + "-----\n"
	}
	for text, want := range map[string]string{
		block("PUBLIC KEY"): "this is a public key", block("RSA PUBLIC KEY"): "this is a public key", "ssh-rsa aHVudGVyMg== me@host": "this is a public key",
		block("CERTIFICATE"): "this is a certificate", block("ENCRYPTED PRIVATE KEY"): "this is an encrypted key",
		block("OPENSSH PRIVATE KEY"): "this is a key of OpenSSH", block("RSA PRIVATE KEY"): "", block("PRIVATE KEY"): "",
	} {
		path := filepath.Join(t.TempDir(), "app.pem")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readWith(t, []string{"--github.private_key_file", path})
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), "setting github.private_key: "+want) ||
			!strings.Contains(err.Error(), "(from --github.private_key_file)") || strings.Contains(err.Error(), "aHVudGVyMg")) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
	for _, id := range []string{"Iv1.0123456789abcdef", "Iv23liABCDEFGHIJKLMN"} {
		if _, err := readWith(t, []string{"--github.app_id", id}); err == nil || !strings.Contains(err.Error(), "setting github.app_id: this is the App's client id: want its App ID") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
