package suspend

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

const (
	// MaxSkew is how far the clock may be off the API server's before "now" is not known.
	MaxSkew = plan.MaxSkew
	// requestFor bounds what the API server gets for one Kustomization: one that hangs must not keep the others waiting for long.
	requestFor = 10 * time.Second
	// atOnce is how many Kustomizations are asked for at one time, for the same reason.
	atOnce = 20
	// retryAfter is when what failed is tried again, however rarely the rest is looked at: it may be a suspension at a close.
	retryAfter = 30 * time.Second
)

// API is what a pass needs of a cluster. An error that is an apierrors.APIStatus is the API server's answer.
type API interface {
	// Suspended reads spec.suspend, and what time it is by the API server: zero if it does not say.
	Suspended(ctx context.Context, t Target) (suspended bool, date time.Time, err error)
	// Suspend sets spec.suspend.
	Suspend(ctx context.Context, t Target, suspend bool) error
}

// Loop sets spec.suspend of its targets, once or again and again. Its methods are not safe for concurrent use.
type Loop struct {
	Cluster string // as the events call it
	Targets []Target
	Read    func(context.Context) ([]byte, error) // the file, at each pass anew
	Parse   func([]byte) (*config.Policy, error)  // why it is invalid, in words
	API     API
	Now     func() time.Time
	Say     func(Event)

	rules rules
	last  map[string]Event
}

// Event is what became of one Kustomization at a pass.
type Event struct {
	At            time.Time
	Cluster       string
	Kustomization string
	Suspend       bool // what it should be
	Changed       bool // it was not
	Observed      bool // the file only observes: nothing was written
	Reason        string
	Until         time.Time // when Suspend changes; zero: not in sight
	Problem       Problem
}

// Problem is why nothing could be done about a Kustomization, or why its windows are not known.
type Problem string

// The problems of an event.
const (
	ProblemRefused Problem = "refused" // missing, forbidden, in conflict
	ProblemServer  Problem = "server"  // the API server gave no answer that counts
)

// Outcome is what a pass amounts to.
type Outcome struct {
	Refused  bool      // the API server refused something about a Kustomization
	Unusable bool      // the file, the clock or the API server
	Next     time.Time // when a state changes next by time; zero: not in sight
}

// rules is a file as it was read last.
type rules struct {
	data   []byte
	policy *config.Policy
	err    error // why there is none
	// observe: nothing is written. A file that breaks keeps it: who would resume what was suspended meanwhile, when it observes again?
	observe bool
}

// read takes the file anew. What did not change is not compiled again.
func (l *Loop) read(ctx context.Context) {
	data, err := l.Read(ctx)
	switch {
	case err != nil:
		l.rules = rules{err: err, observe: l.rules.observe}
	case l.rules.policy == nil || !bytes.Equal(data, l.rules.data):
		policy, err := l.Parse(data)
		l.rules = rules{data: data, policy: policy, err: err, observe: policy == nil && l.rules.observe || policy != nil && policy.Mode == config.Observe}
	}
}

// verdict is what one target should be at an instant.
type verdict struct {
	suspend bool
	unknown bool // suspended because nothing is known
	reason  string
	until   time.Time
}

func (r rules) decide(t Target, at time.Time) verdict {
	if r.policy == nil {
		return verdict{suspend: true, unknown: true, reason: reasonFile(r.err)}
	}
	calendar := r.policy.Calendar
	if name, near, found := t.unknown(calendar); found {
		return verdict{suspend: true, unknown: true, reason: reasonUnknown(name, near)}
	}
	joint := calendar.Joint(t.Windows, at)
	zone := calendar.Zone(t.Windows[0])
	if joint.Releasable {
		return verdict{reason: reasonOpen(t, joint.Until, zone), until: joint.Until}
	}
	first := joint.Closed[0]
	return verdict{suspend: true, reason: reasonClosed(joint.Closed, calendar.At(first, at), joint.Until, calendar.Zone(first)), until: joint.Until}
}

// Pass sets every target to what holds now.
func (l *Loop) Pass(ctx context.Context) Outcome {
	l.read(ctx)
	var out Outcome
	events, unknown := l.all(ctx)
	if ctx.Err() != nil {
		return out // somebody wants it to end, and what failed for that is no news
	}
	for i, e := range events {
		out.Refused = out.Refused || e.Problem == ProblemRefused
		out.Unusable = out.Unusable || unknown[i] || e.Problem == ProblemServer
		// By the instant at which it was decided: what closes while the pass waits for another is due at once.
		out.Next = plan.Soonest(out.Next, l.rules.decide(l.Targets[i], e.At).until)
		l.say(e)
	}
	return out
}

// all sets the targets, some at a time, and gives what became of each.
func (l *Loop) all(ctx context.Context) (events []Event, unknown []bool) {
	events, unknown = make([]Event, len(l.Targets)), make([]bool, len(l.Targets))
	places := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, t := range l.Targets {
		places <- struct{}{}
		group.Go(func() {
			events[i], unknown[i] = l.one(ctx, t)
			<-places
		})
	}
	group.Wait()
	return events, unknown
}

// one sets one target; unknown: what holds is not known, so that it is suspended.
func (l *Loop) one(ctx context.Context, t Target) (e Event, unknown bool) {
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	sent := l.Now()
	suspended, date, err := l.API.Suspended(ctx, t)
	now := l.Now()
	v := l.rules.decide(t, now)
	if !v.suspend && clockOff(date, sent, now) {
		v = verdict{suspend: true, unknown: true, reason: reasonClock(date)}
	}
	e = Event{At: now.UTC(), Cluster: l.Cluster, Kustomization: t.String(), Suspend: v.suspend, Reason: v.reason, Until: v.until}
	if err != nil {
		return e.failed(err), false // without a Date the verdict is not the target's
	}
	e.Changed = suspended != v.suspend
	if e.Observed = l.rules.observe; e.Observed || !e.Changed {
		return e, v.unknown
	}
	if !v.suspend && !v.until.IsZero() { // a resumption that arrives after the close is none
		var void context.CancelFunc
		ctx, void = context.WithTimeout(ctx, v.until.Sub(now))
		defer void()
	}
	if err := l.API.Suspend(ctx, t, v.suspend); err != nil {
		return e.failed(err), v.unknown
	}
	return e, v.unknown
}

// failed is the event when the API server did not do it.
func (e Event) failed(err error) Event {
	e.Changed, e.Problem, e.Reason, e.Until = false, ProblemServer, plan.Clean(err.Error()), time.Time{}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return e
	}
	if word := wordsOfRefusal[answer.Status().Code]; word != "" {
		e.Problem, e.Reason = ProblemRefused, word+e.Reason
	}
	return e
}

// clockOff reports whether the clock is too far off the API server's Date, which is cut to whole seconds and lies between sending and
// getting.
func clockOff(date, sent, got time.Time) bool {
	return date.IsZero() || date.Add(time.Second+MaxSkew).Before(sent) || date.After(got.Add(MaxSkew))
}

// say says an event, unless it is what was said of this Kustomization last.
func (l *Loop) say(e Event) {
	if l.last == nil {
		l.last = map[string]Event{}
	}
	last, ok := l.last[e.Kustomization]
	l.last[e.Kustomization] = e
	wrote := e.Changed && !e.Observed
	if ok && !wrote && last.Suspend == e.Suspend && last.Reason == e.Reason && last.Problem == e.Problem && (last.Changed == e.Changed || !e.Observed) {
		return
	}
	l.Say(e)
}

// Run passes at once, then every so often, soon after a failure, and at each instant at which a state changes by time, until the context ends.
func (l *Loop) Run(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		wait, out := every, l.Pass(ctx)
		if out.Refused || out.Unusable {
			wait = min(wait, retryAfter)
		}
		if !out.Next.IsZero() {
			wait = min(wait, out.Next.Sub(l.Now()))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}
