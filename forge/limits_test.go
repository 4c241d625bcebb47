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
		"already exceeded":      {403, nil, `{"message":"API rate limit already exceeded for installation ID 1."}`, minPause},
		"by its document":       {403, nil, `{"message":"Slow down","documentation_url":"https://docs.github.com/rest/using#about-secondary-rate-limits"}`, minPause},
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

// In no minute more points are given than the pace, all of them are if they are asked for, and who cannot have them soon is told when to
// come back.
func TestPace(t *testing.T) {
	for _, pace := range []int{5, 60, 900} {
		w := newWindow(float64(pace), time.Minute)
		var given []time.Time // a point each
		now := at
		for i := range 20_000 {
			if wait := w.wait(now, 1, 1); wait <= maxPatience {
				w.spend(now.Add(wait), 1)
				given = append(given, now.Add(wait))
			}
			now = now.Add(time.Duration(i%60) * time.Millisecond)
		}
		most, from := 0, 0
		for i := range given {
			for given[i].Sub(given[from]) >= time.Minute {
				from++
			}
			most = max(most, i-from+1)
		}
		if most > pace {
			t.Errorf("pace %d: %d points within a minute", pace, most)
		}
		if perMinute := float64(len(given)) / now.Sub(at).Minutes(); perMinute < 0.96*float64(pace) {
			t.Errorf("pace %d: only %.0f points a minute", pace, perMinute)
		}
		if len(w.spent) > int((w.span+maxPatience)/grain)+2 {
			t.Errorf("pace %d: %d things are remembered", pace, len(w.spent))
		}
	}
}

func TestClockThatIsSetBack(t *testing.T) {
	w := newWindow(900, time.Minute)
	w.spend(at, 900)
	w.forget(at)
	if w.wait(at.Add(-time.Hour), 100, 1) == 0 {
		t.Error("points out of nothing")
	}
	if w.wait(at.Add(-time.Hour+2*time.Minute), 100, 1) != 0 {
		t.Error("the window does not empty again")
	}
}

// What is more urgent finds room in a minute that the rest has filled, and what comes free later is its own first.
func TestTheUrgentFindsRoomInAFullMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := newLimits(900), map[Class]int{}
		send := func(c Class) error {
			err := l.reserve(t.Context(), price{of: accountGraphQL, class: c, points: pointsWrite, hour: 1}, time.Now()) // its minute is not spent evenly
			if err == nil {
				sent[c]++
			} else if e := judge(err); e.Kind != Limited || !e.Foreseen || !e.Until.After(time.Now()) {
				t.Fatal(err)
			}
			return err
		}
		for _, c := range []Class{Resync, Event, Opening, Debt} {
			for send(c) == nil {
			}
		}
		for c, want := range map[Class]int{Resync: 200, Event: 120, Opening: 60, Debt: 20} {
			if sent[c] != want {
				t.Errorf("%d of class %d, want %d", sent[c], c, want)
			}
		}
		until(t, send(Debt), judge(send(Debt)).Until)
		time.Sleep(61 * time.Second)
		clear(sent)
		for range 300 { // a crowd of both
			_, _ = send(Event), send(Debt)
		}
		if sent[Debt] < sent[Event] {
			t.Errorf("%d debts, %d events", sent[Debt], sent[Event])
		}
	})
}

// What waits for openings is spent evenly after a burst: a minute's part is never gone in its first seconds, and never more than it is.
func TestWhatTellsIsSpentEvenly(t *testing.T) {
	b := newBucket(720)
	now, spent := at, 0.0
	var last time.Duration
	for range 1000 { // as many as there are, all the time
		wait := b.wait(now, pointsWrite)
		b.spend(now.Add(wait), pointsWrite)
		if spent += pointsWrite; spent > 260 && wait > 2*time.Second {
			t.Fatalf("after %v points nothing goes for %v", spent, wait)
		}
		now, last = now.Add(wait), wait
		if over := spent - b.burst - (720-b.burst)*now.Sub(at).Seconds()/61; over > 0.001 {
			t.Fatalf("%v points too many after %v", over, now.Sub(at))
		}
	}
	if last == 0 {
		t.Error("nothing ever waited")
	}
	if wait := b.wait(now.Add(time.Hour), 1000); wait > 0 {
		t.Errorf("more than a burst waits for %v", wait)
	}
	b.spend(now.Add(time.Hour), 200)
	if wait := b.wait(now, pointsWrite); wait > 0 {
		t.Errorf("after a clock was set back what there is waits for %v", wait)
	}
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
		if err := l.see(answer{code: 200, header: h, of: accountGraphQL}, at); err != nil {
			t.Error(err)
		}
	}
	ask := func(c Class, cost int) (bool, price) {
		p := price{of: accountGraphQL, class: c, points: 1, hour: cost}
		err := l.reserve(t.Context(), p, at)
		if err != nil {
			until(t, err, at.Add(time.Hour+margin))
			if !judge(err).Foreseen {
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
		for c, want := range map[Class]bool{Resync: tt.resync, Event: tt.event, Opening: tt.opening, Debt: tt.debt} {
			got, p := ask(c, tt.cost)
			if got != want {
				t.Errorf("%d points left, class %d: %t", tt.left, c, got)
			}
			if got {
				l.land(p)
			}
		}
		if err := l.reserve(t.Context(), price{of: accountREST, points: pointsWrite, hour: 1}, at); err != nil {
			t.Error("REST has an hour of its own:", err)
		}
	}
	l.hours[accountGraphQL] = hour{held: 800}
	says(800)
	for c, want := range map[Class]bool{Event: false, Opening: false, Debt: true} {
		if ok, _ := ask(c, 1); ok != want {
			t.Errorf("800 points are kept for debts, class %d: %t", c, ok)
		}
	}
	l.hours[accountGraphQL] = hour{}
	says(1000)
	for range 33 { // under way at once
		ask(Event, 15)
	}
	if ok, _ := ask(Event, 15); ok {
		t.Error("what is under way is not reckoned")
	}
}

// No more merges are sent in a minute, or in an hour, than GitHub takes; a merge that a success waits for is.
func TestContentIsPaced(t *testing.T) {
	l, now := newLimits(900), at
	merge := func(c Class) error {
		return l.reserve(t.Context(), price{class: c, points: pointsWrite, hour: 1, content: true}, now)
	}
	for n := range 80 {
		if err := merge(Opening); err != nil {
			t.Fatal(n, err)
		}
	}
	if b := l.content.budget(now); b.Left != 0 || b.Limit != 80 || b.Renewed.Sub(now) < time.Minute || b.Renewed.Sub(now) > 62*time.Second {
		t.Errorf("%+v", b)
	}
	if err := merge(Opening); kindOf(err) != Limited {
		t.Error(err)
	}
	if err := merge(Debt); err != nil {
		t.Error(err)
	}
	for range 6 {
		now = now.Add(62 * time.Second)
		for merge(Opening) == nil {
		}
	}
	if b := l.content.budget(now); b.Left != 0 || b.Limit != 500 || b.Renewed.Sub(at) < time.Hour {
		t.Errorf("after %s: %+v", now.Sub(at), b)
	}
	if b := newLimits(0).content.budget(now); b.Left < 1<<30 {
		t.Error("no pace is none for merges")
	}
}

// 200 statuses at once: nobody waits longer than maxPatience, and who is sent away comes back to a free place.
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
		for n := 0; n < 200; {
			before := time.Now()
			err := f.status()
			if waited := time.Since(before); waited > maxPatience {
				t.Fatalf("waited %s", waited)
			}
			if err == nil {
				n++
				continue
			}
			if e := judge(err); e.Kind != Limited || !e.Until.After(time.Now()) {
				t.Fatal(err)
			}
			time.Sleep(time.Until(judge(err).Until))
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
		w := l.paces[accountREST]
		w.spend(time.Now().Add(-w.span+time.Second), 1)
		w.spend(time.Now(), 47)
		if err := l.reserve(ctx, price{class: Event, points: 1}, time.Now()); err == nil || ctx.Err() == nil {
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
	if got := f.Budgets(install).GraphQL.Limit; got != hourlyDefault {
		t.Errorf("budget before the first answer: %d", got)
	}
	_, err := f.Observe(context.Background(), testRepo, Ask{})
	until(t, err, at.Add(7*time.Minute+margin))
	if got := f.Budgets(install).GraphQL.Limit; got != 12500 {
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

// GraphQL names a limit in several ways, and its headers may say that points are left. Nothing else is asked until it ends.
func TestGraphQLLimitsByAnyName(t *testing.T) {
	in, silent := strconv.FormatInt(at.Add(7*time.Minute).Unix(), 10), map[string]string{"X-RateLimit-Reset": ""}
	for name, tt := range map[string]struct {
		code   int
		header map[string]string
		body   string
		want   time.Duration
	}{
		"as documented": {200, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": in}, `{"errors":[{"type":"RATE_LIMITED","message":"no"}]}`, 7*time.Minute + margin},
		"points are left": {200, map[string]string{"X-RateLimit-Remaining": "57", "X-RateLimit-Reset": in},
			`{"errors":[{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for installation ID 1."}]}`, 7*time.Minute + margin},
		"a code alone":    {200, map[string]string{"Retry-After": "90"}, `{"data":{"repository":null},"errors":[{"code":"graphql_rate_limit","message":"no"}]}`, 90*time.Second + margin},
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
		f := hub.forge(nil)
		for i, do := range []func() error{
			func() error { _, err := f.Observe(context.Background(), testRepo, Ask{}); return err },
			func() error {
				return f.MoveBranches(context.Background(), testRepo, []plan.Move{{Branch: "b", Old: plan.SHA(sha(1)), New: plan.SHA(sha(2))}})
			},
		} {
			hub.took()
			err := do()
			if e := judge(err); e.Kind != Limited || !e.Until.Equal(at.Add(tt.want)) {
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
		if b := l.hours[accountREST].budget(now); b.Left != requests || !b.Renewed.Equal(until) {
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

// TestNotificationsStopNoEvents: a merge or an update that finds the hour of what people are notified of used up keeps no status waiting,
// which is paid from something else.
func TestNotificationsStopNoEvents(t *testing.T) {
	l := newLimits(paceOfGitHub)
	for range contentMinute {
		if err := l.reserve(t.Context(), price{class: Opening, points: pointsWrite, hour: 1, content: true}, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.reserve(t.Context(), price{class: Opening, points: pointsWrite, hour: 1, content: true}, at); kindOf(err) != Limited {
		t.Fatalf("one merge more: %v", err)
	}
	if err := l.reserve(t.Context(), price{class: Event, points: pointsWrite, hour: 1}, at); err != nil {
		t.Errorf("a status: %v", err)
	}
}

// TestWhatIsHeldIsHeldForAnHour: what is kept of an hour for debts is not kept of the next, when they are paid: it would refuse the looks
// that say so.
func TestWhatIsHeldIsHeldForAnHour(t *testing.T) {
	l := newLimits(paceOfGitHub)
	says := func(now time.Time, left int) {
		h := http.Header{}
		h.Set("X-RateLimit-Limit", "5000")
		h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Truncate(time.Hour).Add(time.Hour).Unix(), 10))
		if err := l.see(answer{code: 200, header: h}, now); err != nil {
			t.Fatal(err)
		}
	}
	event := price{class: Event, points: pointsRead, hour: 1}
	now := at.Truncate(time.Hour).Add(time.Minute)
	says(now, 4990)
	l.hours[accountREST].held = 4600
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
