package api_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// git runs git for a person, in a directory of theirs, with none of the machine's settings.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, text, err := tryGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, text)
	}
	return strings.TrimSpace(out)
}

func tryGit(t *testing.T, dir string, args ...string) (out, text string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=alice", "GIT_AUTHOR_EMAIL=alice@example.test", "GIT_COMMITTER_NAME=alice", "GIT_COMMITTER_EMAIL=alice@example.test",
		"LC_ALL=C",
	}
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}
