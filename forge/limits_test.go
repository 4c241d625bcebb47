package forge

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var pending = plan.Status{Context: "sluice/main", State: plan.Pending, Description: "held"}

// wasSet is GitHub's answer to it.
const wasSet = `{"state":"pending","context":"sluice/main"}`

// TestAStatusThatGitHubDoesNotShowIsNotSet: an answer of success without the status is none. Who took it for one would forget a debt.
func TestAStatusThatGitHubDoesNotShowIsNotSet(t *testing.T) {
	for _, a := range []answerOf{
		{code: 200, body: "null"}, {code: 201, body: "null"}, {code: 201, body: "{}"}, {code: 201}, {code: 200, body: wasSet},
		{code: 201, body: `{"state":"success","context":"sluice/main"}`}, {code: 201, body: `{"state":"pending","context":"sluice/dev"}`},
	} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, _ string) answerOf {
			if strings.Contains(r.URL.Path, "/statuses/") {
				return a
			}
			return answerOf{}
		}
		if err := hub.forge(nil).status(); kindOf(err) != Transient {
			t.Errorf("%d %q: %v", a.code, a.body, err)
		}
	}
}

func (f *Forge) status() error {
	return f.SetStatus(context.Background(), testRepo, plan.SHA(sha(1)), pending)
}

func TestLimits(t *testing.T) {
	in := func(d time.Duration) string { return strconv.FormatInt(at.Add(d).Unix(), 10) }
	for name, tt := range map[string]struct {
		code   int
		header map[string]string
		body   string
		want   time.Duration
	}{
		"primary 403":           {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(10 * time.Minute)}, `{"message":"API rate limit exceeded"}`, 10*time.Minute + margin},
		"primary 429":           {429, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(10 * time.Minute)}, ``, 10*time.Minute + margin},
		"secondary 403":         {403, map[string]string{"Retry-After": "90"}, `{"message":"You have exceeded a secondary rate limit"}`, 90*time.Second + margin},
		"secondary 429":         {429, map[string]string{"Retry-After": "90"}, ``, 90*time.Second + margin},
		"secondary, no headers": {403, nil, `{"message":"You have exceeded a secondary rate limit. Please wait."}`, minPause},
		"429 without headers":   {429, nil, `<html>`, minPause},
		"beside primary":        {403, map[string]string{"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": in(time.Hour)}, `{"message":"You have exceeded a secondary rate limit."}`, minPause},
		"a date":                {429, map[string]string{"Retry-After": at.Add(time.Minute).Format(http.TimeFormat)}, ``, time.Minute + margin},
		"nonsense":              {429, map[string]string{"Retry-After": "soon", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "never"}, ``, minPause},
		"for ever":              {429, map[string]string{"Retry-After": "99999999999999"}, ``, maxReset},
		"for a year":            {429, map[string]string{"Retry-After": "31536000"}, ``, maxReset},
		"a reset in the past":   {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(-time.Hour)}, ``, margin},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clock{now: at}
			limited := true
			hub := &fake{t: t}
			hub.say = func(r *http.Request, _ string) answerOf {
				if strings.HasSuffix(r.URL.Path, "/access_tokens") {
					return answerOf{}
				}
				if limited {
					return answerOf{code: tt.code, header: tt.header, body: tt.body}
				}
				return answerOf{code: 201, body: wasSet}
			}
			f := hub.forge(func(o *Options) { o.Now = c.read })
			err := f.status()
			until(t, err, at.Add(tt.want))
			sent := len(hub.took())
			until(t, f.status(), at.Add(tt.want))
			_, err = f.Merge(context.Background(), testRepo, plan.Merge{Pull: 1, Pin: plan.Pin{SHA: "x"}})
			until(t, err, at.Add(tt.want))
			if sent != 1 || len(hub.took()) != 0 {
				t.Error("a limited installation goes on sending")
			}
			limited = false
			other := testRepo
			other.Installation++
			if err := f.SetStatus(context.Background(), other, "x", pending); err != nil {
				t.Error("another installation:", err)
			}
			c.pass(tt.want)
			if err := f.status(); err != nil {
				t.Error("after the limit:", err)
			}
		})
	}
}

// until demands a Limited that ends at an instant.
func until(t *testing.T, err error, want time.Time) {
	t.Helper()
	if kindOf(err) != Limited {
		t.Fatalf("got %v", err)
	}
	if e := judge(err); !e.Until.Equal(want) {
		t.Errorf("until %s, want %s", e.Until, want)
	}
}

// GitHub's clock may differ from ours: a reset counts from the answer's own date.
func TestResetOnGitHubsClock(t *testing.T) {
	a := answer{code: 403, header: http.Header{}}
	a.header.Set("Date", at.Add(time.Hour).Format(http.TimeFormat))
	a.header.Set("X-RateLimit-Remaining", "0")
	a.header.Set("X-RateLimit-Reset", strconv.FormatInt(at.Add(time.Hour+5*time.Minute).Unix(), 10))
	if got, ok := a.named(at); !ok || got != 5*time.Minute+margin {
		t.Error(got, ok)
	}
}

func TestPausesDouble(t *testing.T) {
	l := newLimits(0)
	now := at
	for _, want := range []time.Duration{1, 2, 4, 8, 15, 15} {
		until(t, l.see(answer{code: 429, header: http.Header{}}, now), now.Add(want*time.Minute))
		now = l.until[accountREST]
	}
	if err := l.see(answer{code: 200, header: http.Header{}}, now); err != nil {
		t.Fatal(err)
	}
	until(t, l.see(answer{code: 429, header: http.Header{}}, now), now.Add(minPause))
}

// In no minute more points are given than the pace, and who cannot have them soon is told when to come back.
func TestPace(t *testing.T) {
	for _, pace := range []int{5, 60, 900} {
		b := newBucket(pace)
		var given []time.Time // a point each
		now := at
		for i := range 5000 {
			wait, ok := b.reserve(now, 1)
			if ok && wait > maxPatience || !ok && wait <= maxPatience {
				t.Fatalf("wait %s, %t", wait, ok)
			}
			if ok {
				given = append(given, now.Add(wait))
			}
			now = now.Add(time.Duration(i%90) * time.Millisecond)
		}
		most, from := 0, 0
		for i := range given {
			for given[i].Sub(given[from]) >= time.Minute {
				from++
			}
			most = max(most, i-from+1)
		}
		if most > max(pace, 2*pointsWrite) {
			t.Errorf("pace %d: %d points within a minute", pace, most)
		}
		if most < pace*8/10 {
			t.Errorf("pace %d: only %d points within a minute", pace, most)
		}
	}
}

func TestClockThatIsSetBack(t *testing.T) {
	b := newBucket(900)
	b.reserve(at, 300)
	if _, ok := b.reserve(at.Add(-time.Hour), 100); ok {
		t.Error("points out of nothing")
	}
	if _, ok := b.reserve(at.Add(-time.Hour+30*time.Second), 100); !ok {
		t.Error("the bucket does not fill again")
	}
}

// 50 statuses at once: the burst goes at once, the rest waits its turn, and nobody waits longer than maxPatience.
func TestPacedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, _ string) answerOf {
			if strings.Contains(r.URL.Path, "/statuses/") {
				return answerOf{code: 201, body: wasSet}
			}
			return answerOf{}
		}
		f := hub.forge(func(o *Options) { o.Pace, o.Now = 900, nil })
		began := time.Now()
		for range 80 {
			before := time.Now()
			if err := f.status(); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(before); waited > maxPatience {
				t.Fatalf("waited %s", waited)
			}
		}
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("80 statuses took %s", took) // 400 points: 300 at once, 100 at 10 a second
		}
		var refused int
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 20 {
			wg.Go(func() {
				err := f.status()
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					refused++
					if e := judge(err); e.Kind != Limited || !e.Until.After(time.Now()) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if refused == 0 {
			t.Error("20 at once were all made to wait")
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(60)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		l.rest.reserve(time.Now(), 20)
		if err := l.take(ctx, accountREST, 1, time.Now()); err == nil || ctx.Err() == nil {
			t.Error(err)
		}
	})
}

func TestGraphQLLimited(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if strings.Contains(r.URL.Path, "/statuses/") {
			return answerOf{code: 201, body: wasSet}
		}
		if operation(body) != "look" {
			return answerOf{}
		}
		return answerOf{code: 200, body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, header: map[string]string{
			"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(at.Add(7*time.Minute).Unix(), 10),
			"X-RateLimit-Limit": "12500",
		}}
	}
	f := hub.forge(nil)
	if got := f.HourlyBudget(install); got != hourlyDefault {
		t.Errorf("budget before the first answer: %d", got)
	}
	_, err := f.Observe(context.Background(), testRepo, Ask{})
	until(t, err, at.Add(7*time.Minute+margin))
	if got := f.HourlyBudget(install); got != 12500 {
		t.Errorf("budget: %d", got)
	}
	hub.took()
	if err := f.status(); err != nil || len(hub.took()) == 0 {
		t.Errorf("REST has an hour of its own: %v", err) // a green is taken back although no look can be paid
	}
	_, err = f.Observe(context.Background(), testRepo, Ask{})
	until(t, err, at.Add(7*time.Minute+margin))
	if len(hub.took()) != 0 {
		t.Error("GraphQL goes on")
	}
}

func TestSpare(t *testing.T) {
	l := newLimits(0)
	want := func(requests int, until time.Time, now time.Time) {
		t.Helper()
		if n, renewed := l.spare(now); n != requests || !renewed.Equal(until) {
			t.Errorf("%d until %v, want %d until %v", n, renewed, requests, until)
		}
	}
	says := func(resource, remaining string, reset time.Time, now time.Time) {
		t.Helper()
		h := http.Header{}
		for name, value := range map[string]string{
			"X-RateLimit-Resource": resource, "X-RateLimit-Remaining": remaining, "Date": now.UTC().Format(http.TimeFormat),
			"X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10),
		} {
			h.Set(name, value)
		}
		if err := l.see(answer{code: 200, header: h}, now); err != nil {
			t.Error(err)
		}
	}
	end, next := at.Add(time.Hour), at.Add(2*time.Hour)
	want(math.MaxInt, time.Time{}, at)
	says("graphql", "3", end, at)
	want(math.MaxInt, time.Time{}, at)
	says("core", "many", end, at)
	want(math.MaxInt, time.Time{}, at)
	says("core", "40", end, at)
	says("core", "41", end, at) // sent before the other
	want(40, end.Add(margin), at)
	says("core", "39", end, at.Add(2*time.Second))
	want(39, end.Add(margin), at.Add(time.Minute))
	want(math.MaxInt, time.Time{}, end.Add(margin))
	says("core", "4999", next, end.Add(2*time.Second))
	want(4999, next.Add(margin), end.Add(time.Minute))
}
