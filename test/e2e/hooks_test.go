package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// TestWebhooksLost: every webhook about a change is lost on its way. The resync finds what there is to do; nothing is lost
// but time.
func TestWebhooksLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve("SLUICE_RESYNC=2s")
	w.github.Deliver(api.Fate{Drop: true})
	w.merged(w.open("live", "apps/a-rt/x"))
	w.hasStatus(w.open("windowed", "apps/a-rw/x"), "pending: held by w")
	w.once(w.repo, "live")
}

// TestWebhooksDoubled: each webhook comes twice. Nothing is written twice.
func TestWebhooksDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	w.github.Deliver(api.Fate{Twice: true})
	live, windowed := w.open("live", "apps/a-rt/x"), w.open("windowed", "apps/a-rw/x")
	w.merged(live)
	w.hasStatus(windowed, "pending: held by w")
	w.once(w.repo, "live")
	w.noRepeats(live)
	w.noRepeats(windowed)
}

// TestWebhooksOutOfOrderAndReplayed: a pull request was opened, pushed to, labelled, closed and opened again; then all that was
// ever delivered comes again, backwards, under its old numbers and under new ones, and a day later. What was merged is merged
// once, what is held stays held, and what was closed stays closed: a delivery is a hint, not a word about the state.
func TestWebhooksOutOfOrderAndReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	live, windowed, closed := w.open("live", "apps/a-rt/x"), w.open("windowed", "apps/a-rw/x"), w.open("closed", "apps/c-rt/x", "README.md")
	w.merged(live)
	w.hasStatus(windowed, "pending: held by w")
	for _, err := range []error{
		w.repo.Label(windowed, "alice", "hold"), w.repo.Unlabel(windowed, "alice", "hold"), w.repo.ClosePull(closed, "alice"),
		w.github.Settle(t.Context()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.push("windowed", "apps/a-rw/y")
	w.hasStatus(windowed, "pending: held by w")
	p.stop(syscall.SIGKILL)
	w.exec(w.database(), "UPDATE deliveries SET at = at - 25*3600*1000000")
	p = w.serve("SLUICE_RESYNC=1s")
	all := w.github.Deliveries()
	known := 0
	for i := range all {
		d := all[len(all)-1-i]
		if code := p.post(d.Event, d.GUID, d.Payload); code == http.StatusOK {
			known++
		}
		if code := p.post(d.Event, fmt.Sprintf("new-%d", i), d.Payload); code/100 != 2 {
			t.Errorf("%s is answered %d", d.Event, code)
		}
	}
	if known == 0 {
		t.Error("no delivery of yesterday was known")
	}
	w.lookedAgain(2)
	w.once(w.repo, "live")
	if w.pull(windowed).Merged || w.pull(closed).Merged {
		t.Error("an old delivery merged something")
	}
	if got := w.status(windowed); !strings.HasPrefix(got, "pending: held by w") {
		t.Errorf("the held one's status is %q", got)
	}
	w.noRepeats(windowed)
}

// TestWebhooksOdd: bodies over the limit, about nothing, of the wrong shape. None of them is believed, and none ends the service.
func TestWebhooksOdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	huge := append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), 25<<20)...)
	for i, c := range []struct {
		event, body string
		codes       string
	}{
		{"push", string(append(huge, `"}`...)), "413"},
		{"push", `{}`, "200 202"},
		{"pull_request", `{"action":"opened","number":1}`, "200 202"},
		{"push", `{"ref":"refs/heads/main","repository":{"id":1,"full_name":"acme/fleet"}}`, "200 202"},
		{"push", `{"ref":"refs/heads/main","repository":{"full_name":"../../etc"},"installation":{"id":1}}`, "200 202"},
		{"push", `{"ref":"refs/heads/main","repository":{"id":99,"full_name":"acme/nowhere"},"installation":{"id":99}}`, "200 202"},
		{"installation", `{"action":"deleted"}`, "200 202"},
		{"merge_group", `{"action":"checks_requested","installation":{"id":1}}`, "200 202"},
		{"push", `[]`, "200"},
		{"push", `nonsense`, "200"},
		{"push", ``, "200"},
	} {
		code := p.post(c.event, fmt.Sprintf("odd-%d", i), []byte(c.body))
		if !strings.Contains(c.codes, fmt.Sprint(code)) {
			t.Errorf("%s %.60s is answered %d, want %s", c.event, c.body, code, c.codes)
		}
	}
	w.merged(w.open("live", "apps/a-rt/x"))
	w.once(w.repo, "live")
}
