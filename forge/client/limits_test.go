package client

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

	"github.com/sluicegate/sluice/budget"
)

// GitHub's least pause, and the longest limit, as package budget has them.
const (
	minPause = time.Minute
	maxReset = 2 * time.Hour
)

func TestLimits(t *testing.T) {
	in := func(d time.Duration) string { return strconv.FormatInt(at.Add(d).Unix(), 10) }
	for name, tt := range map[string]struct {
		code   int
		header map[string]string
		body   string
		want   time.Duration
	}{
		"primary 403":           {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(10 * time.Minute)}, `{"message":"API rate limit exceeded"}`, 10*time.Minute + budget.Margin},
		"primary 429":           {429, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(10 * time.Minute)}, ``, 10*time.Minute + budget.Margin},
		"secondary 403":         {403, map[string]string{"Retry-After": "90"}, `{"message":"You have exceeded a secondary rate limit"}`, 90*time.Second + budget.Margin},
		"secondary 429":         {429, map[string]string{"Retry-After": "90"}, ``, 90*time.Second + budget.Margin},
		"secondary, no headers": {403, nil, `{"message":"You have exceeded a secondary rate limit. Please wait."}`, minPause},
		"429 without headers":   {429, nil, `<html>`, minPause},
		"beside primary":        {403, map[string]string{"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": in(time.Hour)}, `{"message":"You have exceeded a secondary rate limit."}`, minPause},
		"a date":                {429, map[string]string{"Retry-After": at.Add(time.Minute).Format(http.TimeFormat)}, ``, time.Minute + budget.Margin},
		"nonsense":              {429, map[string]string{"Retry-After": "soon", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "never"}, ``, minPause},
		"for ever":              {429, map[string]string{"Retry-After": "99999999999999"}, ``, maxReset},
		"for a year":            {429, map[string]string{"Retry-After": "31536000"}, ``, maxReset},
		"already exceeded":      {403, nil, `{"message":"API rate limit already exceeded for installation ID 1."}`, minPause},
		"by its document":       {403, nil, `{"message":"Slow down","documentation_url":"https://docs.github.com/rest/using#about-secondary-rate-limits"}`, minPause},
		"a reset in the past":   {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in(-time.Hour)}, ``, budget.Margin},
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
			f := hub.app(func(o *Options) { o.Now = c.read })
			err := f.status()
			until(t, err, at.Add(tt.want))
			sent := len(hub.took())
			until(t, f.status(), at.Add(tt.want))
			err = f.Installation(install).merge()
			until(t, err, at.Add(tt.want))
			if sent != 1 || len(hub.took()) != 0 {
				t.Error("a limited installation goes on sending")
			}
			limited = false
			if err := f.Installation(install + 1).status(); err != nil {
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
	if e := Judge(err); !e.Until.Equal(want) {
		t.Errorf("until %s, want %s", e.Until, want)
	}
}

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

func answered429() answer { return answer{Answer: budget.Answer{Code: 429, Header: http.Header{}}} }

func TestPausesDouble(t *testing.T) {
	l := newLimits(0)
	now := at
	for _, want := range []time.Duration{1, 2, 4, 8, 15, 15} {
		err := l.see(answered429(), now)
		until(t, err, now.Add(want*time.Minute))
		now = Judge(err).Until
	}
	if err := l.see(answer{Answer: budget.Answer{Code: 200, Header: http.Header{}}}, now); err != nil {
		t.Fatal(err)
	}
	until(t, l.see(answered429(), now), now.Add(minPause))
}

// What is more urgent finds room in a minute that the rest has filled, and what comes free later is its own first.
func TestTheUrgentFindsRoomInAFullMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := newLimits(900), map[budget.Class]int{}
		send := func(c budget.Class) error {
			err := l.reserve(t.Context(), budget.Price{Of: budget.GraphQL, Class: c, Points: pointsWrite, Hour: 1}, time.Now()) // its minute is not spent evenly
			if err == nil {
				sent[c]++
			} else if e := Judge(err); e.Kind != Limited || !e.Foreseen || !e.Until.After(time.Now()) {
				t.Fatal(err)
			}
			return err
		}
		for _, c := range []budget.Class{budget.Resync, budget.Event, budget.Opening, budget.Debt} {
			for send(c) == nil {
			}
		}
		for c, want := range map[budget.Class]int{budget.Resync: 200, budget.Event: 120, budget.Opening: 60, budget.Debt: 20} {
			if sent[c] != want {
				t.Errorf("%d of class %d, want %d", sent[c], c, want)
			}
		}
		until(t, send(budget.Debt), Judge(send(budget.Debt)).Until)
		time.Sleep(61 * time.Second)
		clear(sent)
		for range 300 { // a crowd of both
			_, _ = send(budget.Event), send(budget.Debt)
		}
		if sent[budget.Debt] < sent[budget.Event] {
			t.Errorf("%d debts, %d events", sent[budget.Debt], sent[budget.Event])
		}
	})
}

// What is left of an hour is for what is more urgent, and a request that would exceed it is not sent. A debt is: only GitHub knows.
func TestAnHourRunsOut(t *testing.T) {
	l := newLimits(900)
	says := func(left int) {
		h := http.Header{}
		h.Set("X-RateLimit-Resource", "graphql")
		h.Set("X-RateLimit-Limit", "5000")
		h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(at.Add(time.Hour).Unix(), 10))
		if err := l.see(answer{Answer: budget.Answer{Code: 200, Header: h, Of: budget.GraphQL}}, at); err != nil {
			t.Error(err)
		}
	}
	ask := func(c budget.Class, cost int) (bool, budget.Price) {
		p := budget.Price{Of: budget.GraphQL, Class: c, Points: 1, Hour: cost}
		err := l.reserve(t.Context(), p, at)
		if err != nil {
			until(t, err, at.Add(time.Hour+budget.Margin))
			if !Judge(err).Foreseen {
				t.Error("GitHub was not asked")
			}
		}
		return err == nil, p
	}
	for _, tt := range []struct {
		left, cost                   int
		resync, event, opening, debt bool
	}{
		{5000, 15, true, true, true, true},
		{1264, 15, false, true, true, true},
		{514, 15, false, false, true, true},
		{14, 15, false, false, false, true},
	} {
		says(tt.left)
		for c, want := range map[budget.Class]bool{budget.Resync: tt.resync, budget.Event: tt.event, budget.Opening: tt.opening, budget.Debt: tt.debt} {
			got, p := ask(c, tt.cost)
			if got != want {
				t.Errorf("%d points left, class %d: %t", tt.left, c, got)
			}
			if got {
				l.Land(p)
			}
		}
		if err := l.reserve(t.Context(), budget.Price{Of: budget.REST, Points: pointsWrite, Hour: 1}, at); err != nil {
			t.Error("REST has an hour of its own:", err)
		}
	}
	l.HoldHour(budget.GraphQL, 800)
	says(800)
	for c, want := range map[budget.Class]bool{budget.Event: false, budget.Opening: false, budget.Debt: true} {
		ok, p := ask(c, 1)
		if ok != want {
			t.Errorf("800 points are kept for debts, class %d: %t", c, ok)
		}
		if ok {
			l.Land(p)
		}
	}
	l.HoldHour(budget.GraphQL, 0)
	says(1000)
	for range 33 { // under way at once
		ask(budget.Event, 15)
	}
	if ok, _ := ask(budget.Event, 15); ok {
		t.Error("what is under way is not reckoned")
	}
}

// No more merges are sent in a minute, or in an hour, than GitHub takes; a merge that a success waits for is.
func TestContentIsPaced(t *testing.T) {
	l, now := newLimits(900), at
	merge := func(c budget.Class) error {
		return l.reserve(t.Context(), budget.Price{Class: c, Points: pointsWrite, Hour: 1, Content: true}, now)
	}
	for n := range 80 {
		if err := merge(budget.Opening); err != nil {
			t.Fatal(n, err)
		}
	}
	if b := l.Quotas(now).Content; b.Left != 0 || b.Limit != 80 || b.Renewed.Sub(now) < time.Minute || b.Renewed.Sub(now) > 62*time.Second {
		t.Errorf("%+v", b)
	}
	if err := merge(budget.Opening); kindOf(err) != Limited {
		t.Error(err)
	}
	if err := merge(budget.Debt); err != nil {
		t.Error(err)
	}
	for range 6 {
		now = now.Add(62 * time.Second)
		for merge(budget.Opening) == nil {
		}
	}
	if b := l.Quotas(now).Content; b.Left != 0 || b.Limit != 500 || b.Renewed.Sub(at) < time.Hour {
		t.Errorf("after %s: %+v", now.Sub(at), b)
	}
	if b := newLimits(0).Quotas(now).Content; b.Left < 1<<30 {
		t.Error("no pace is none for merges")
	}
}

// 200 statuses at once: nobody waits longer than budget.Patience, and who is sent away comes back to a free place.
func TestPacedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, _ string) answerOf {
			if strings.Contains(r.URL.Path, "/statuses/") {
				return answerOf{code: 201, body: wasSet}
			}
			return answerOf{}
		}
		f := hub.app(func(o *Options) { o.Pace, o.Now = 900, nil })
		began := time.Now()
		for n := 0; n < 200; {
			before := time.Now()
			err := f.status()
			if waited := time.Since(before); waited > budget.Patience {
				t.Fatalf("waited %s", waited)
			}
			if err == nil {
				n++
				continue
			}
			if e := Judge(err); e.Kind != Limited || !e.Until.After(time.Now()) {
				t.Fatal(err)
			}
			time.Sleep(time.Until(Judge(err).Until))
		}
		if took := time.Since(began); took < 95*time.Second || took > 100*time.Second {
			t.Errorf("200 statuses took %s", took) // 1000 points, of which 252 go at once and the others at 468 a minute
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(60)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		for ago, points := range map[time.Duration]float64{time.Minute: 1, 0: 47} {
			if _, _, cause := l.Reserve(budget.Price{Class: budget.Opening, Points: points}, time.Now().Add(-ago)); cause != budget.NoCause {
				t.Fatal(cause)
			}
		}
		if err := l.reserve(ctx, budget.Price{Class: budget.Event, Points: 1}, time.Now()); err == nil || ctx.Err() == nil {
			t.Error(err)
		}
	})
}

func TestGraphQLLimited(t *testing.T) {
	hub := &fake{t: t}
	hub.say = func(r *http.Request, _ string) answerOf {
		if strings.Contains(r.URL.Path, "/statuses/") {
			return answerOf{code: 201, body: wasSet}
		}
		if r.URL.Path != "/graphql" {
			return answerOf{}
		}
		return answerOf{code: 200, body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, header: map[string]string{
			"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": strconv.FormatInt(at.Add(7*time.Minute).Unix(), 10),
			"X-RateLimit-Limit": "12500",
		}}
	}
	f := hub.app(nil)
	if got := f.Budgets(install).GraphQL.Limit; got != budget.HourlyDefault {
		t.Errorf("budget before the first answer: %d", got)
	}
	until(t, f.look(), at.Add(7*time.Minute+budget.Margin))
	if got := f.Budgets(install).GraphQL.Limit; got != 12500 {
		t.Errorf("budget: %d", got)
	}
	hub.took()
	if err := f.status(); err != nil || len(hub.took()) == 0 {
		t.Errorf("REST has an hour of its own: %v", err) // a green is taken back although no look can be paid
	}
	until(t, f.look(), at.Add(7*time.Minute+budget.Margin))
	if len(hub.took()) != 0 {
		t.Error("GraphQL goes on")
	}
}

// GraphQL names a limit in several ways, and its headers may say that points are left. Nothing else is asked until it ends.
func TestGraphQLLimitsByAnyName(t *testing.T) {
	in, silent := strconv.FormatInt(at.Add(7*time.Minute).Unix(), 10), map[string]string{"X-RateLimit-Reset": ""}
	for name, tt := range map[string]struct {
		code   int
		header map[string]string
		body   string
		want   time.Duration
	}{
		"as documented": {200, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in}, `{"errors":[{"type":"RATE_LIMITED","message":"no"}]}`, 7*time.Minute + budget.Margin},
		"points are left": {200, map[string]string{"X-RateLimit-Remaining": "57", "X-RateLimit-Reset": in},
			`{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for installation ID 1."}]}`, 7*time.Minute + budget.Margin},
		"a code alone":    {200, map[string]string{"Retry-After": "90"}, `{"data":{"repository":null},"errors":[{"code":"graphql_rate_limit","message":"no"}]}`, 90*time.Second + budget.Margin},
		"an inner code":   {200, silent, `{"errors":[{"extensions":{"code":"RATE_LIMITED"},"message":"no"}]}`, minPause},
		"no headers":      {200, silent, `{"errors":[{"type":"RATE_LIMIT","message":"no"}]}`, minPause},
		"of a part":       {200, silent, `{"data":{"repository":{}},"errors":[{"type":"RATE_LIMIT","message":"no","path":["repository","b0"]}]}`, minPause},
		"beside another":  {200, silent, `{"errors":[{"type":"FORBIDDEN","message":"no"},{"type":"RATE_LIMIT","message":"no"}]}`, minPause},
		"403":             {403, silent, `{"errors":[{"type":"RATE_LIMIT","message":"no"}]}`, minPause},
		"a secondary one": {200, map[string]string{"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": in}, `{"errors":[{"message":"You have exceeded a secondary rate limit."}]}`, minPause},
	} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, body string) answerOf {
			if r.URL.Path != "/graphql" {
				return answerOf{}
			}
			return answerOf{code: tt.code, body: tt.body, header: tt.header}
		}
		f := hub.app(nil)
		for i, do := range []func() error{
			f.look,
			func() error { return f.Installation(install).Mutate(t.Context(), "updateRefs", "mutation move", nil) },
		} {
			hub.took()
			err := do()
			if e := Judge(err); e.Kind != Limited || !e.Until.Equal(at.Add(tt.want)) {
				t.Errorf("%s, %d: %v, want until %s", name, i, err, at.Add(tt.want))
			}
			if got := hub.took(); i > 0 && len(got) > 0 {
				t.Errorf("%s: GraphQL is asked on: %v", name, got)
			}
		}
	}
}

func TestBudgetOfAnHour(t *testing.T) {
	l := newLimits(0)
	want := func(requests int, until time.Time, now time.Time) {
		t.Helper()
		if b := l.Quotas(now).REST; b.Left != requests || !b.Renewed.Equal(until) {
			t.Errorf("%+v, want %d until %v", b, requests, until)
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
		if err := l.see(answer{Answer: budget.Answer{Code: 200, Header: h}}, now); err != nil {
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
	want(40, end.Add(budget.Margin), at)
	says("core", "39", end, at.Add(2*time.Second))
	want(39, end.Add(budget.Margin), at.Add(time.Minute))
	want(math.MaxInt, time.Time{}, end.Add(budget.Margin))
	says("core", "4999", next, end.Add(2*time.Second))
	want(4999, next.Add(budget.Margin), end.Add(time.Minute))
}

// TestNotificationsStopNoEvents: a merge or an update that finds the hour of what people are notified of used up keeps no status waiting,
// which is paid from something else.
func TestNotificationsStopNoEvents(t *testing.T) {
	l := newLimits(budget.PaceOfGitHub)
	for range budget.ContentMinute {
		if err := l.reserve(t.Context(), budget.Price{Class: budget.Opening, Points: pointsWrite, Hour: 1, Content: true}, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.reserve(t.Context(), budget.Price{Class: budget.Opening, Points: pointsWrite, Hour: 1, Content: true}, at); kindOf(err) != Limited {
		t.Fatalf("one merge more: %v", err)
	}
	if err := l.reserve(t.Context(), budget.Price{Class: budget.Event, Points: pointsWrite, Hour: 1}, at); err != nil {
		t.Errorf("a status: %v", err)
	}
}

// TestWhatIsHeldIsHeldForAnHour: what is kept of an hour for debts is not kept of the next, when they are paid: it would refuse the looks
// that say so.
func TestWhatIsHeldIsHeldForAnHour(t *testing.T) {
	l := newLimits(budget.PaceOfGitHub)
	says := func(now time.Time, left int) {
		h := http.Header{}
		h.Set("X-RateLimit-Limit", "5000")
		h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Truncate(time.Hour).Add(time.Hour).Unix(), 10))
		if err := l.see(answer{Answer: budget.Answer{Code: 200, Header: h}}, now); err != nil {
			t.Fatal(err)
		}
	}
	event := budget.Price{Class: budget.Event, Points: pointsRead, Hour: 1}
	now := at.Truncate(time.Hour).Add(time.Minute)
	says(now, 4990)
	l.HoldHour(budget.REST, 4600)
	says(now, 4980)
	if err := l.reserve(t.Context(), event, now); kindOf(err) != Limited {
		t.Errorf("what is held was given away: %v", err)
	}
	now = now.Add(time.Hour)
	says(now, 4999)
	if err := l.reserve(t.Context(), event, now); err != nil {
		t.Errorf("in the next hour: %v", err)
	}
}
