package gitremote

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/sluicegate/sluice/plan"
)

// TestSSH: read and moved over ssh, with a key of the agent; a host that is not known is not spoken to.
func TestSSH(t *testing.T) {
	for name, known := range map[string]bool{"known host": true, "unknown host": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old, tip := w.two()
			w.branch("rw/a", old)
			addr := sshServer(t, known)
			r := dial(t, Options{URL: "ssh://git@" + addr + w.dir})
			_, err := r.Overview(t.Context(), file)
			if !known {
				if err == nil || !strings.Contains(err.Error(), "key is unknown") {
					t.Errorf("error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _ := track(t, r, "rw/a")
			is(t, got[0], plan.Behind, 1)
			refused, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
			if err != nil || len(refused) > 0 || w.at("rw/a") != tip {
				t.Error(refused, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// sshServer serves git over ssh on loopback for the one key that an agent, set up for the test's time, holds.
func sshServer(t *testing.T, known bool) (addr string) {
	t.Helper()
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	user := sshAgent(t)
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(user.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return &ssh.Permissions{}, nil
	}}
	cfg.AddHostKey(host)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go sshServe(c, cfg)
		}
	}()
	hosts := filepath.Join(t.TempDir(), "known_hosts")
	line := "# none\n"
	if known {
		line = knownhosts.Line([]string{l.Addr().String()}, host.PublicKey()) + "\n"
	}
	if err := os.WriteFile(hosts, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_KNOWN_HOSTS", hosts)
	return l.Addr().String()
}

// sshAgent runs an agent with one key, and gives the key.
func sshAgent(t *testing.T) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := agent.NewKeyring()
	if err := keys.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keys, c) }()
		}
	}()
	t.Setenv("SSH_AUTH_SOCK", l.Addr().String())
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sshServe serves one connection: commands, each run by a shell as sshd does.
func sshServe(c net.Conn, cfg *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, cfg)
	if err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // only a test
	go ssh.DiscardRequests(requests)
	for ch := range channels {
		stream, requests, err := ch.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				if r.Type != "exec" {
					_ = r.Reply(false, nil)
					continue
				}
				_ = r.Reply(true, nil)
				var what struct{ Command string }
				code := uint32(0)
				if ssh.Unmarshal(r.Payload, &what) != nil || sshRun(stream, what.Command) != nil {
					code = 1
				}
				_, _ = stream.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
				_ = stream.Close()
			}
		}()
	}
}

// sshRun runs one of git's commands.
func sshRun(stream ssh.Channel, command string) error {
	program, rest, _ := strings.Cut(command, " ")
	verb, ok := strings.CutPrefix(program, "git-")
	if !ok {
		return fmt.Errorf("%s is not git's", program)
	}
	cmd := exec.Command("sh", "-c", "git "+verb+" "+rest)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stream, stream, stream.Stderr()
	return cmd.Run()
}
