package gitremote

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

const (
	tokenUser     = "x-access-token" // the user name that goes with a token where the URL has none; forges do not look at it
	helperTimeout = 30 * time.Second // of a credential helper; one that waits for a person must not hold a job up
)

// credentials are those for one remote. Over https and http: the token, else what stands in the URL, else what git's
// credential helpers answer once the server asks. Over ssh: the agent's keys, for hosts in known_hosts alone.
type credentials struct {
	token          string
	user, password string // of the URL
	path           string // of the repository, for helpers that look at it
	helped         *githttp.BasicAuth
}

// auth is how to authenticate now; nil: not at all.
func (r *Remote) auth() (transport.AuthMethod, error) {
	switch r.end.Protocol {
	case "ssh":
		agent, err := gitssh.NewSSHAgentAuth(r.creds.user)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", errUnusable, saySSHAgent)
		}
		return agent, nil
	case "http", "https":
		if basic := r.creds.basic(); basic != nil {
			return basic, nil
		}
	}
	return nil, nil
}

// basic is the user name and password to send; nil: none.
func (c *credentials) basic() *githttp.BasicAuth {
	switch {
	case c.token != "":
		return &githttp.BasicAuth{Username: cmp.Or(c.user, tokenUser), Password: c.token}
	case c.password != "":
		return &githttp.BasicAuth{Username: c.user, Password: c.password}
	}
	return c.helped
}

// hide removes every secret from a text, whoever echoed it.
func (c *credentials) hide(text string) string {
	secrets := []string{c.token, c.password}
	if c.password == "" && c.token == "" {
		secrets = append(secrets, c.user) // a token may stand in the user name's place
	}
	if c.helped != nil {
		secrets = append(secrets, c.helped.Password)
	}
	for _, s := range secrets {
		if len(s) > 3 {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return text
}

// ask asks git's credential helpers, once, and never a person. It reports whether there is something new to send.
func (c *credentials) ask(ctx context.Context, end *transport.Endpoint) bool {
	if c.basic() != nil { // the server has seen them
		return false
	}
	answer, ok := c.helper(ctx, "fill", c.describe(end))
	if !ok {
		if c.user != "" { // https://TOKEN@host/: a token in the user name's place, as many write it
			c.helped = &githttp.BasicAuth{Username: c.user}
		}
		return c.user != ""
	}
	found := map[string]string{}
	for line := range strings.Lines(answer) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[key] = value
	}
	if found["password"] == "" {
		return false
	}
	c.helped = &githttp.BasicAuth{Username: found["username"], Password: found["password"]}
	return true
}

// report lets the helpers keep what worked and forget what did not.
func (c *credentials) report(ctx context.Context, end *transport.Endpoint, what string) {
	if c.helped == nil || c.helped.Password == "" {
		return
	}
	about := c.describe(end) + "password=" + c.helped.Password + "\n"
	if c.user == "" {
		about += "username=" + c.helped.Username + "\n"
	}
	_, _ = c.helper(ctx, what, about) // a helper that cannot keep it is asked again
}

// describe is a remote in the words of git's credential protocol.
func (c *credentials) describe(end *transport.Endpoint) string {
	host := end.Host
	if end.Port != 0 {
		host = fmt.Sprintf("%s:%d", end.Host, end.Port)
	}
	text := "protocol=" + end.Protocol + "\nhost=" + host + "\npath=" + c.path + "\n"
	if c.user != "" {
		text += "username=" + c.user + "\n"
	}
	return text
}

// helper runs `git credential`, which asks the helpers that the user has set up. It may not ask the user. It runs in no
// repository: the configuration of whatever directory a job stands in must not name the program that is asked.
func (c *credentials) helper(ctx context.Context, verb, about string) (answer string, ok bool) {
	if strings.ContainsAny(strings.ReplaceAll(about, "\n", ""), "\r\x00") || strings.Contains(c.path+c.user, "\n") {
		return "", false // a line break would be another line of the protocol
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "credential", verb)
	cmd.Dir = string(filepath.Separator)
	cmd.Env = append(Environ(), "GIT_DIR="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never")
	cmd.Stdin = strings.NewReader(about + "\n")
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	err := cmd.Run() // fails where git is not there, or nobody knows; what it prints is not shown
	return out.String(), err == nil
}

// userGit is what may steer git from the environment: where the user's own configuration lies. All else that begins with GIT_
// is left out: a hook's GIT_DIR would lead git into a repository, GIT_CONFIG_COUNT would name programs, GIT_TRACE would write
// secrets down.
var userGit = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// Environ is the environment for git and for what git starts: that of this process without what is meant for sluice, which holds
// secrets, and without what steers git, but for where the user's configuration lies.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "SLUICE_") || strings.HasPrefix(name, "GIT_") && !slices.Contains(userGit, name)
	})
}
