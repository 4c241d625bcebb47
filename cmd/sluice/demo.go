package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/site"
)

// newDemoCommand makes `sluice demo`: the service, as it is, against a stand-in GitHub over real git.
func newDemoCommand(e *env) *cobra.Command {
	var once bool
	var logLevel string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "run the service against a stand-in GitHub over real git, with windows that open every few minutes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var level slog.Level
			if err := level.UnmarshalText([]byte(logLevel)); err != nil {
				return fmt.Errorf("--log.level: %w", err)
			}
			return e.demo(cmd.Context(), level, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "exit after the story instead of waiting for Ctrl-C")
	cmd.Flags().StringVar(&logLevel, "log.level", "error", "what the service logs to stderr: debug, info, warn or error")
	return cmd
}

// demo keeps everything in one temporary directory, which is gone when it returns.
func (e *env) demo(ctx context.Context, level slog.Level, once bool) (err error) {
	dir, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := e.startDemo(ctx, dir, level)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.story(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // Ctrl-C: the reader has seen enough
		}
		return err
	}
	if once {
		return nil
	}
	d.invite()
	return d.narrate(ctx)
}

// demo is the world of the demo: a stand-in GitHub, the service, and the people.
type demo struct {
	out     io.Writer
	now     func() time.Time
	github  *standin.GitHub
	repo    *standin.Repo
	server  *http.Server
	service *service
	cancel  context.CancelFunc
	ended   chan error // what the service ended with

	pulls    []int                // that people opened in the story so far
	seen     map[int]standin.Pull // as they were when last reported, by number
	moves    int                  // of branches that were reported
	statuses map[string]int       // how many were reported, by context and commit
	branch   string               // where the windowed branch was when last seen
	applied  string               // the last commit of the windowed branch that sluice knows to be applied
	key      string               // the file with the App's private key
}

const (
	demoApp    = 4711
	demoSecret = "a secret between the demo and its stand-in"
)

func (e *env) startDemo(ctx context.Context, dir string, level slog.Level) (*demo, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	url := "http://" + listener.Addr().String()
	d := &demo{out: e.stdout, now: e.now, ended: make(chan error, 1), seen: map[int]standin.Pull{}, statuses: map[string]int{}, key: filepath.Join(dir, "app.pem")}
	d.github, err = standin.New(standin.Options{
		Dir: filepath.Join(dir, "git"), URL: url, AppID: demoApp, AppKey: &key.PublicKey, WebhookSecret: demoSecret, Limits: standin.GitHubLimits,
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	d.server = &http.Server{Handler: site.New(d.github), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.server.Serve(listener) }() // ends with Close
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(d.key, pemKey, 0o600); err != nil {
		return nil, errors.Join(err, d.server.Close())
	}
	s := settings{
		GitHubURL: url + "/api/v3", AppID: demoApp, WebhookSecret: []byte(demoSecret),
		PrivateKey: pemKey,
		Listen:     "127.0.0.1:0", AdminListen: "127.0.0.1:0", Database: filepath.Join(dir, "sluice.db"),
		Resync: time.Minute, Workers: 2, Pace: standin.GitHubLimits.REST, LogLevel: level,
	}
	if err := d.startService(ctx, s, e.stderr); err != nil {
		return nil, errors.Join(err, d.server.Close())
	}
	return d, nil
}

func (d *demo) startService(ctx context.Context, s settings, stderr io.Writer) error {
	service, err := newService(ctx, s, s.logger(stderr))
	if err != nil {
		return err
	}
	d.service = service
	d.github.SetWebhookURL("http://" + service.hook.Addr().String() + "/webhook")
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel = cancel
	go func() { d.ended <- service.run(running) }()
	return nil
}

// stop ends the service first, so that it puts back what it has in hand, then its GitHub.
func (d *demo) stop() error {
	d.cancel()
	err := <-d.ended
	d.github.Close()
	return errors.Join(err, d.server.Close())
}
