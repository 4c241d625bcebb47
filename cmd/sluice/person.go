package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/sluicegate/sluice/person"
)

// personalSite is GitHub for whoever calls.
func personalSite(ctx context.Context, github string) (*person.Site, error) {
	token, err := personalToken(ctx, github)
	if err != nil {
		return nil, err
	}
	return person.NewSite(github, "", token, nil)
}

// personalToken is the caller's own token for GitHub: GH_TOKEN, or what the command gh has.
func personalToken(ctx context.Context, github string) (string, error) {
	if token := strings.TrimSpace(os.Getenv("GH_TOKEN")); token != "" {
		return token, nil
	}
	host := "github.com"
	if u, err := url.Parse(github); err == nil && u.Hostname() != "api.github.com" {
		host = u.Host
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "gh", "auth", "token", "--hostname", host).Output() //nolint:gosec // the host is the caller's own setting
	if token := strings.TrimSpace(string(out)); err == nil && token != "" {
		return token, nil
	}
	return "", fmt.Errorf("no token: set GH_TOKEN, or log in with gh auth login --hostname %s", host)
}
