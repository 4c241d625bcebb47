package reconcile_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/reconcile"
)

// logged is a log that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logger writes lines without times and numbers of looks.
func logger(w *logged) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey:
			return slog.Attr{}
		case "look": // how many looks came before depends on chance
			return slog.String(a.Key, "N")
		}
		return a
	}}))
}

// What is wrong for everybody is one line of /readyz, and one of the log until it is another thing, however often it is tried; and one when it
// is well again. A repository whose looks fail on it as well adds none.
func TestWhatIsWrongForEverybodyIsSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log logged
		silent := &client.Error{Kind: client.Transient, Reason: "dial tcp 10.0.0.7:443", Setup: "no answer from GitHub at URL"}
		path := &client.Error{Kind: client.Refused, Reason: "404 Not Found", Setup: "no GitHub API at URL"}
		key := &client.Error{Kind: client.Unauthorized, Reason: "no", Setup: "GitHub rejects the App"}
		tries := 0
		fail := func(err error) {
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == "repositories" {
						tries++
					}
					if err != nil && (c.op == "repositories" || c.op == "observe") {
						return err
					}
					return nil
				}
			})
		}
		w.hubs[one.ID].known = true // from before the start
		fail(silent)
		stop := w.run(reconcile.Options{Log: logger(&log)})
		defer stop()
		for _, err := range []*client.Error{silent, path, key, silent} {
			fail(err)
			w.set(func() { tries = 0 })
			time.Sleep(time.Hour)
			if got := w.loop.Ready(); len(got) != 1 || got[0] != err.Setup {
				t.Errorf("ready: %q, want %q", got, err.Setup)
			}
			if got := w.loop.Lags(); len(got) > 1 || len(got) == 1 && !strings.HasPrefix(got[0], "installation 1: ") {
				t.Errorf("lags: %q", got)
			}
			w.set(func() {
				if tries < 5 {
					t.Errorf("%d tries", tries)
				}
			})
		}
		fail(nil)
		time.Sleep(time.Hour)
		if got := w.loop.Ready(); len(got) != 0 {
			t.Errorf("ready: %q", got)
		}
		fail(silent) // nothing is due: it is no reason to take no deliveries
		time.Sleep(time.Hour)
		if got := w.loop.Ready(); len(got) != 0 {
			t.Errorf("ready: %q", got)
		}
		const want = `level=ERROR msg="no answer from GitHub at URL" error="temporary error: dial tcp 10.0.0.7:443"
level=ERROR msg="no GitHub API at URL" error="refused: 404 Not Found"
level=ERROR msg="GitHub rejects the App" error="unauthorized: no"
level=ERROR msg="no answer from GitHub at URL" error="temporary error: dial tcp 10.0.0.7:443"
level=INFO msg=started repositories=1
level=INFO msg="repositories are listed again"
level=ERROR msg="no answer from GitHub at URL" error="temporary error: dial tcp 10.0.0.7:443"
`
		if got := log.String(); got != want {
			t.Errorf("the log says\n%s\nwant\n%s", got, want)
		}
	}, one)
}

// A look that fails time and again for one reason is one line, and one when it works again.
func TestLooksThatFailAreSaidOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log logged
		stop, _ := started(w, reconcile.Options{Log: logger(&log)})
		defer stop()
		for _, reason := range []string{"one", "one", "two", ""} {
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == "observe" && reason != "" {
						return &client.Error{Kind: client.Refused, Reason: reason}
					}
					return nil
				}
			})
			w.note(one)
			time.Sleep(time.Hour)
		}
		text := log.String()
		if strings.Count(text, "reconciliation failed") != 2 || strings.Count(text, "refused: one") != 1 || strings.Count(text, "reconciliation works again") != 1 {
			t.Errorf("the log says\n%s", text)
		}
	}, one)
}
