package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func readWith(t *testing.T, args []string, need ...string) (settings, error) {
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
		{[]string{"--github.app_id", "x", "--github.private_key_file", empty}, "setting github.app_id: want a positive number"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", empty}, "empty.pem is empty"},
		{[]string{"--settings", unknown}, "unknown setting github.app; known are"},
		{[]string{"--settings", filepath.Join(dir, "none.yaml")}, "none.yaml"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--log.format", "xml"}, "setting log.format: want text or json"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--github.url", "https://me:pw@host/"}, "setting github.url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--public_url", "https://:8443/"}, "setting public_url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--public_url", "sluice.example.com"}, "setting public_url: want"},
		{[]string{"--github.app_id", "1", "--github.private_key_file", unknown, "--resync", "1ms"}, "setting resync: want a duration"},
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
