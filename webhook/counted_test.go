package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/sluicegate/sluice/webhook"
)

// TestDeliveriesAreCounted: each by its event and answer. What nobody signed has no event, whatever it claims.
func TestDeliveriesAreCounted(t *testing.T) {
	var counted []string
	w := newWorld()
	w.Handler = webhook.New(webhook.Options{
		Secret: []byte(secret), Store: w, Poke: func(webhook.Hint) {},
		Answered: func(event string, code int) { counted = append(counted, fmt.Sprint(event, " ", code)) },
	})
	for i, event := range []string{"push", "push", "invented"} {
		w.send(delivery(event, fmt.Sprint(min(i, 1)), `{"repository":{"full_name":"acme/fleet"}}`))
	}
	unsigned := delivery("push", "9", "{}")
	unsigned.Header.Set("X-Hub-Signature-256", "sha256=00")
	w.send(unsigned)
	w.send(httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if want := []string{"push 202", "push 202", "other 200", "unsigned 401"}; !slices.Equal(counted, want) {
		t.Errorf("counted %q, want %q", counted, want)
	}
}
