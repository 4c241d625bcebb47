// Command sluice-demo runs the service, as it is, against a stand-in GitHub over real git, with windows that open every few minutes.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sluicegate/sluice/escape"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/internal/standin/site"
	"github.com/sluicegate/sluice/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks; the second one finds the system's default, and kills
	out, errs := escape.NewWriter(os.Stdout), escape.NewWriter(os.Stderr)
	code := run(ctx, os.Args[1:], out, errs)
	stop()
	_, _ = out.Close(), errs.Close() // there is nobody left to say it to
	os.Exit(code)
}

// run runs the demo and gives its exit code: 2 for a wrong call, 1 if it failed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sluice-demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	once := flags.Bool("once", false, "exit after the story instead of waiting for Ctrl-C")
	level := slog.LevelError
	flags.TextVar(&level, "log.level", level, "what the service logs to stderr: debug, info, warn or error")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "sluice-demo: it takes flags alone: %q\n", flags.Arg(0))
		return 2
	}
	if err := show(ctx, stdout, stderr, level, *once); err != nil {
		fmt.Fprintln(stderr, "sluice-demo:", err)
		return 1
	}
	return 0
}

// show keeps everything in one temporary directory, which is gone when it returns.
func show(ctx context.Context, stdout, stderr io.Writer, level slog.Level, once bool) (err error) {
	dir, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := start(ctx, dir, stdout, stderr, level)
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
	out      io.Writer
	now      func() time.Time
	github   *api.Server
	repo     *standin.Repo
	server   *http.Server
	service  *service.Service
	settings service.Settings
	cancel   context.CancelFunc
	ended    chan error // what the service ended with

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

func start(ctx context.Context, dir string, stdout, stderr io.Writer, level slog.Level) (*demo, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	url := "http://" + listener.Addr().String()
	d := &demo{out: stdout, now: time.Now, ended: make(chan error, 1), seen: map[int]standin.Pull{}, statuses: map[string]int{}, key: filepath.Join(dir, "app.pem")}
	d.github, err = api.New(api.Options{
		Dir: filepath.Join(dir, "git"), AppID: demoApp, AppKey: &key.PublicKey, WebhookSecret: demoSecret, Limits: api.GitHubLimits,
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	d.github.SetURL(url)
	d.server = &http.Server{Handler: site.New(d.github.GitHub, d.github.Handler()), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = d.server.Serve(listener) }() // ends with Close
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(d.key, pemKey, 0o600); err != nil {
		return nil, errors.Join(err, d.server.Close())
	}
	d.settings = service.Settings{
		GitHubURL: url + "/api/v3", AppID: demoApp, WebhookSecret: []byte(demoSecret),
		PrivateKey: pemKey,
		Listen:     "127.0.0.1:0", AdminListen: "127.0.0.1:0", Database: filepath.Join(dir, "sluice.db"),
		Resync: time.Minute, Workers: 2, Pace: api.GitHubLimits.REST, LogLevel: level, Version: "demo",
	}
	if err := d.startService(ctx, stderr); err != nil {
		return nil, errors.Join(err, d.server.Close())
	}
	return d, nil
}

func (d *demo) startService(ctx context.Context, stderr io.Writer) error {
	v, err := service.New(ctx, d.settings, d.settings.Logger(stderr))
	if err != nil {
		return err
	}
	d.service = v
	d.github.SetWebhookURL("http://" + v.Hook().String() + "/webhook")
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel = cancel
	go func() { d.ended <- v.Run(running) }()
	return nil
}

// stop ends the service first, so that it puts back what it has in hand, then its GitHub.
func (d *demo) stop() error {
	d.cancel()
	err := <-d.ended
	d.github.Close()
	return errors.Join(err, d.server.Close())
}
