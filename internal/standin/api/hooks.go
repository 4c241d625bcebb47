package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// GitHub's limits on deliveries: https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries
const (
	deliveryTimeout = 10 * time.Second
	maxDeliveries   = 10_000 // kept in the log; the oldest go first
)

// Delivery is one webhook, sent or lost on its way.
type Delivery struct {
	GUID         string // the same for one that is sent twice
	Event        string
	Action       string
	Installation int64
	Repository   int64
	Payload      []byte
	At           time.Time
	StatusCode   int // of the receiver; 0: not delivered
}

// Fate is what becomes of deliveries on their way.
type Fate struct {
	Drop  bool // logged, never sent
	Twice bool // sent two times with the same GUID
}

// hook sends events to the App, one after the other.
type hook struct {
	s    *Server
	work func() // sends what is queued
	quit context.CancelFunc

	mu      sync.Mutex
	url     string
	running bool // work is
	queue   []queueEntry
	log     []Delivery
	fate    Fate
}

// queueEntry is a delivery whose fate is decided already.
type queueEntry struct {
	d    Delivery
	fate Fate
}

func newHook(s *Server) *hook {
	ctx, quit := context.WithCancel(context.Background())
	h := &hook{s: s, quit: quit, url: s.opts.WebhookURL}
	h.work = func() {
		for one, ok := h.next(ctx); ok; one, ok = h.next(ctx) {
			h.deliver(ctx, one)
		}
	}
	return h
}

// SetWebhookURL sets where events are sent from now on; "" for nowhere.
func (s *Server) SetWebhookURL(url string) {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	s.hooks.url = url
}

// target is where events are sent; "" for nowhere.
func (h *hook) target() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.url
}

// Deliver decides the fate of events from now on.
func (s *Server) Deliver(f Fate) {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	s.hooks.fate = f
}

// Deliveries lists what was sent or tried, oldest first.
func (s *Server) Deliveries() []Delivery {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	return slices.Clone(s.hooks.log)
}

// send queues an event for the App.
func (h *hook) send(e standin.Event, repository int64, payload object) {
	body, _ := json.Marshal(payload) // maps of plain values: cannot fail
	d := Delivery{
		GUID: newGUID(), Event: e.Name, Action: e.Action, Installation: e.To.ID, Repository: repository, Payload: body, At: h.s.Now(),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, queueEntry{d, h.fate})
	if !h.running {
		h.running = true
		h.s.Later(h.work)
	}
}

// next removes the first delivery from the queue; false ends the work.
func (h *hook) next(ctx context.Context) (one queueEntry, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = len(h.queue) > 0 && ctx.Err() == nil
	if h.running {
		one, h.queue = h.queue[0], h.queue[1:]
	}
	return one, h.running
}

// sleep waits, and reports whether it did so to the end: the context may end first.
func sleep(ctx context.Context, d time.Duration) bool {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-wait.Done()
	return ctx.Err() == nil
}

func (h *hook) deliver(ctx context.Context, one queueEntry) {
	if one.fate.Drop {
		h.keep(one.d)
		return
	}
	h.keep(h.post(ctx, one.d))
	if one.fate.Twice {
		h.keep(h.post(ctx, one.d))
	}
}

func (h *hook) keep(d Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, d)
	if len(h.log) > maxDeliveries {
		h.log[0] = Delivery{} // its payload is let go
		h.log = h.log[1:]
	}
}

// post sends one delivery and gives it with the answer's code, 0 if there was none. Failures are never tried again, as on GitHub.
func (h *hook) post(ctx context.Context, d Delivery) Delivery {
	url := h.target()
	if url == "" {
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return d
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "GitHub-Hookshot/standin")
	req.Header.Set("X-GitHub-Event", d.Event)
	req.Header.Set("X-GitHub-Delivery", d.GUID)
	if secret := h.s.opts.WebhookSecret; secret != "" {
		req.Header.Set("X-Hub-Signature-256", Signature(secret, d.Payload))
	}
	answer, err := h.s.opts.WebhookTransport.RoundTrip(req)
	if err != nil {
		return d
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)) // the code counts, whatever follows it
	_ = answer.Body.Close()
	d.StatusCode = answer.StatusCode
	return d
}

// Signature is the value of X-Hub-Signature-256 for a body.
func Signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// newGUID is a random version 4 UUID.
func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
