package standin

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// GitHub's limits on deliveries: https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries
const (
	deliveryTimeout = 10 * time.Second
	maxDeliveries   = 10_000 // kept in the log; the oldest go first
)

// Delivery is one webhook, sent or waiting to be.
type Delivery struct {
	ID           int64
	GUID         string // the same for one that is sent twice
	Event        string
	Action       string
	Installation int64
	Repository   int64
	Payload      []byte
	At           time.Time
	StatusCode   int    // of the receiver; 0: not delivered
	Status       string // "OK", or what went wrong
}

// Fate is what becomes of deliveries on their way.
type Fate struct {
	Event string // that it is about; "" for all
	Drop  bool   // logged as failed, never sent
	Twice bool   // sent two times with the same GUID
	Times int    // deliveries that it is for; 0: all from now on
}

// hook sends events to the App, one after the other.
type hook struct {
	g *GitHub

	mu      sync.Mutex
	wake    chan struct{} // has room for one
	quit    context.CancelFunc
	running sync.WaitGroup
	url     string
	queue   []queueEntry
	log     []*Delivery
	fates   []*Fate
}

// queueEntry is a delivery whose fate is decided already.
type queueEntry struct {
	d    *Delivery
	fate Fate
}

func newHook(g *GitHub) *hook {
	ctx, quit := context.WithCancel(context.Background())
	h := &hook{g: g, wake: make(chan struct{}, 1), quit: quit, url: g.opts.WebhookURL}
	h.running.Add(1)
	go func() {
		defer h.running.Done()
		h.run(ctx)
	}()
	return h
}

func (h *hook) stop() {
	h.quit()
	h.running.Wait()
}

// SetWebhookURL sets where events are sent from now on; "" for nowhere.
func (g *GitHub) SetWebhookURL(url string) {
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	g.hooks.url = url
}

// nowhere reports whether events are sent nowhere.
func (h *hook) nowhere() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.url == ""
}

// Deliver decides the fate of events from now on. Several fates for one event are used up one after the other.
func (g *GitHub) Deliver(f Fate) {
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	g.hooks.fates = append(g.hooks.fates, &f)
}

// Deliveries lists what was sent or tried, oldest first.
func (g *GitHub) Deliveries() []Delivery {
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	list := make([]Delivery, len(g.hooks.log))
	for i, d := range g.hooks.log {
		list[i] = *d
	}
	return list
}

// send queues an event for the App.
func (h *hook) send(event string, to *installation, repository int64, payload object) {
	body, err := json.Marshal(payload)
	if err != nil { // maps of plain values: cannot happen
		h.g.opts.Log.Error("webhook", "event", event, "err", err)
		return
	}
	action, _ := payload["action"].(string) // push and status have none
	d := &Delivery{
		ID: h.g.nextID(), GUID: newGUID(), Event: event, Action: action, Repository: repository, Payload: body, At: h.g.now(),
	}
	if to != nil {
		d.Installation = to.id
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(d)
}

func (h *hook) add(d *Delivery) {
	h.g.jobBegins()
	h.queue = append(h.queue, queueEntry{d, h.fateOf(d)})
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

func (h *hook) run(ctx context.Context) {
	for {
		one, ok := h.next()
		if !ok {
			select {
			case <-h.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		if ctx.Err() == nil {
			h.deliver(ctx, one.d, one.fate)
		}
		h.g.jobDone()
	}
}

// sleep waits, and reports whether it did so to the end: the context may end first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// next removes the first delivery from the queue.
func (h *hook) next() (one queueEntry, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return queueEntry{}, false
	}
	one = h.queue[0]
	h.queue = h.queue[1:]
	return one, true
}

func (h *hook) fateOf(d *Delivery) Fate {
	for i, f := range h.fates {
		if f.Event != "" && f.Event != d.Event {
			continue
		}
		fate := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				h.fates = slices.Delete(h.fates, i, i+1)
			}
		}
		return fate
	}
	return Fate{}
}

func (h *hook) deliver(ctx context.Context, d *Delivery, fate Fate) {
	if fate.Drop {
		d.Status = "dropped"
		h.keep(d)
		return
	}
	h.post(ctx, d)
	h.keep(d)
	if fate.Twice {
		again := *d
		again.ID = h.g.nextID()
		h.post(ctx, &again)
		h.keep(&again)
	}
}

func (h *hook) keep(d *Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, d)
	if len(h.log) > maxDeliveries {
		h.log = slices.Delete(h.log, 0, len(h.log)-maxDeliveries)
	}
}

// post sends one delivery and records the outcome. Failures are never tried again, as on GitHub.
func (h *hook) post(ctx context.Context, d *Delivery) {
	h.mu.Lock()
	url := h.url
	h.mu.Unlock()
	if url == "" {
		d.Status = "no webhook URL"
		return
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	code, err := h.request(ctx, url, d)
	d.StatusCode = code
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d.Status = "timed out"
	case err != nil:
		d.Status = "failed to connect to host"
	case code/100 == 2:
		d.Status = "OK"
	default:
		d.Status = fmt.Sprintf("Invalid HTTP Response: %d", code)
	}
}

func (h *hook) request(ctx context.Context, url string, d *Delivery) (code int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "GitHub-Hookshot/standin")
	req.Header.Set("X-GitHub-Event", d.Event)
	req.Header.Set("X-GitHub-Delivery", d.GUID)
	req.Header.Set("X-GitHub-Hook-ID", "1")
	req.Header.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	req.Header.Set("X-GitHub-Hook-Installation-Target-ID", fmt.Sprint(h.g.opts.AppID))
	if secret := h.g.opts.WebhookSecret; secret != "" {
		req.Header.Set("X-Hub-Signature-256", Signature(secret, d.Payload))
	}
	answer, err := h.g.opts.WebhookTransport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody))
	return answer.StatusCode, err
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
