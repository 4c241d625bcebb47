package suspend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/sluicegate/sluice/config"
)

// cluster answers the two requests as an API server does, from objects in memory.
type cluster struct {
	t   *testing.T
	now func() time.Time // by its own clock

	mu      sync.Mutex
	objects map[string]map[string]any // spec, by NAMESPACE/NAME
	refuse  map[string]int            // METHOD NAMESPACE/NAME: the code instead
	hang    map[string]bool           // METHOD NAMESPACE/NAME: no answer before the request's end
	noDate  bool
	writes  []string
}

func newCluster(t *testing.T, now func() time.Time, names ...string) *cluster {
	c := &cluster{t: t, now: now, objects: map[string]map[string]any{}, refuse: map[string]int{}, hang: map[string]bool{}}
	for _, name := range names {
		c.objects[name] = map[string]any{"path": "./apps", "prune": true}
	}
	return c
}

// suspended is what an object says.
func (c *cluster) suspended(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ := c.objects[name]["suspend"].(bool)
	return s
}

// change changes the cluster beside the loop.
func (c *cluster) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// written gives the writes since it was asked last. A pass asks for many objects at once: those of one second are in the order of their names,
// those of one object as they came.
func (c *cluster) written() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := func(write string) string { return strings.TrimSuffix(strings.TrimSuffix(write, " true"), " false") }
	slices.SortStableFunc(c.writes, func(a, b string) int { return strings.Compare(object(a), object(b)) })
	out := strings.Join(c.writes, "\n")
	c.writes = nil
	return out
}

// ServeHTTP implements http.Handler.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const prefix = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/"
	rest, ok := strings.CutPrefix(r.URL.Path, prefix)
	name := strings.Replace(rest, "/kustomizations/", "/", 1)
	if !ok || name == rest {
		c.t.Errorf("a request for %s", r.URL.Path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := r.Method + " " + name
	if c.hang[call] {
		c.mu.Unlock()
		<-r.Context().Done()
		c.mu.Lock()
		return
	}
	w.Header()["Date"] = []string{c.now().UTC().Format(http.TimeFormat)}
	if c.noDate {
		w.Header()["Date"] = nil
	}
	w.Header().Set("Content-Type", "application/json")
	spec, exists := c.objects[name]
	switch code := c.refuse[call]; {
	case code != 0:
		fail(w, code, name)
	case !exists:
		fail(w, http.StatusNotFound, name)
	case r.Method == http.MethodPatch:
		c.patch(w, r, name, spec)
	case r.Method == http.MethodGet:
		c.show(w, name, spec)
	default:
		c.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
}

// patch accepts what Flux would not take back: a merge patch of the one field by a manager of its own.
func (c *cluster) patch(w http.ResponseWriter, r *http.Request, name string, spec map[string]any) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	var change struct {
		Spec struct{ Suspend *bool }
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&change); err != nil || change.Spec.Suspend == nil || r.Header.Get("Content-Type") != "application/merge-patch+json" ||
		r.URL.Query().Get("fieldManager") != "sluice" {
		c.t.Errorf("%v: %s %s: %s", err, r.URL, r.Header.Get("Content-Type"), body)
		return
	}
	spec["suspend"] = *change.Spec.Suspend
	c.writes = append(c.writes, fmt.Sprintf("%s %s %t", c.now().UTC().Format(time.RFC3339), name, *change.Spec.Suspend))
	c.show(w, name, spec)
}

func (c *cluster) show(w http.ResponseWriter, name string, spec map[string]any) {
	namespace, name, _ := strings.Cut(name, "/")
	if err := json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": spec,
	}); err != nil {
		c.t.Error(err)
	}
}

// fail answers as Kubernetes does.
func fail(w http.ResponseWriter, code int, name string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": "no to " + name + "\x1b[2J",
		"reason": map[int]string{404: "NotFound", 403: "Forbidden", 409: "Conflict"}[code],
	})
}

// RoundTrip implements http.RoundTripper: a server on loopback would hang a bubble.
func (c *cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	c.ServeHTTP(rec, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	out := rec.Result()
	out.Request = r
	return out, nil
}

// api is the real client to the cluster in memory.
func (c *cluster) api() API {
	api, err := Dial(&rest.Config{Host: "http://cluster.test", Transport: c})
	if err != nil {
		c.t.Fatal(err)
	}
	return api
}

// world is a loop over a cluster in memory, with the file and the lines.
type world struct {
	*Loop
	cluster *cluster
	mu      sync.Mutex
	file    string // "": it is not there
	lines   []string
	clock   time.Time
}

const text = `version: 1
timezone: UTC
windows:
  day: {open: "0 8 * * *", close: "0 17 * * *", cutoff: 10m}
  night: {open: "0 22 * * *", duration: 4h, cutoff: 30m}
`

// newWorld holds targets at an instant by a clock that stands still until it is set.
func newWorld(t *testing.T, at string, targets ...string) *world {
	t.Helper()
	w := &world{file: text}
	w.set(t, at)
	return w.with(t, func() time.Time { return w.clock }, targets...)
}

func (w *world) with(t *testing.T, now func() time.Time, targets ...string) *world {
	t.Helper()
	w.Loop = &Loop{Cluster: "c-1", Now: now, Read: w.read, Parse: parse, Say: w.say}
	var names []string
	for _, text := range targets {
		target, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		w.Targets, names = append(w.Targets, target), append(names, target.String())
	}
	w.cluster = newCluster(t, now, names...)
	w.API = w.cluster.api()
	return w
}

func (w *world) set(t *testing.T, at string) {
	t.Helper()
	var err error
	if w.clock, err = time.Parse("2006-01-02T15:04:05", at); err != nil {
		t.Fatal(err)
	}
}

func (w *world) read(context.Context) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == "" {
		return nil, fmt.Errorf("open sluice.yaml: no such file or directory")
	}
	return []byte(w.file), nil
}

func parse(data []byte) (*config.Policy, error) {
	policy, findings := config.Parse(data)
	if policy == nil {
		return nil, fmt.Errorf("sluice.yaml:%d: %s", findings[0].Line, findings[0].Message)
	}
	return policy, nil
}

func (w *world) say(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, e.String())
}

// drain gives the lines since it was asked last.
func (w *world) drain() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.lines, "\n")
	w.lines = nil
	return out
}

// forget makes the loop what it is in a new process.
func (l *Loop) forget() {
	var fresh Loop
	l.rules, l.last = fresh.rules, nil
}
