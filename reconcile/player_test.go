package reconcile_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// player plays the moves of a history: each byte is one thing that happens to the world.
type player struct {
	w       *world
	repos   []plan.Repo
	stop    func()
	trouble atomic.Int64 // percent of calls that fail

	mu   sync.Mutex
	fate *rand.Rand
	next int // number of the next pull request
}

func (p *player) play(m byte) {
	r := p.repos[int(m>>4)%len(p.repos)]
	switch m & 15 {
	case 0, 1, 2, 3:
		p.next++
		p.w.open(r, pull{number: p.next, windowed: m&1 == 0})
	case 4:
		p.toAny(r, func(x *pull) { x.hold = !x.hold })
		p.w.note(r)
	case 5:
		p.toAny(r, func(x *pull) { x.hold = !x.hold }) // and its webhook is lost
	case 6:
		p.toAny(r, func(x *pull) { x.head++; x.status = nil })
		p.w.note(r)
	case 7:
		p.toAny(r, func(x *pull) { x.status = &plan.Status{State: plan.Success, By: "mallory"} })
		p.w.note(r)
	case 8:
		p.trouble.Store(int64(m >> 4 * 6)) // up to 90 percent
	case 9:
		p.trouble.Store(0)
	case 10:
		p.w.set(func() { p.w.dead = true })
		p.restart()
	case 11:
		p.restart()
	case 12:
		time.Sleep(time.Until(time.Now().Truncate(10 * time.Minute).Add(2*time.Minute - time.Duration(m>>4)*100*time.Millisecond)))
	case 13:
		time.Sleep(time.Duration(m>>4) * time.Minute)
	case 14:
		for range int(m >> 4) {
			p.w.note(r)
			time.Sleep(70 * time.Millisecond)
		}
	case 15:
		p.toBranch(r, m>>4)
		time.Sleep(time.Duration(m>>4) * 130 * time.Millisecond)
	}
}

// toBranch does to a windowed branch what people do: they move it, delete it, and change its rules; and they push to main.
func (p *player) toBranch(r plan.Repo, how byte) {
	p.w.change(r, func(h *hub) {
		b := h.branches[h.names()[int(how)%len(h.branches)]]
		switch how / 3 {
		case 0:
			b.at = 0
		case 1:
			b.at = h.tip
		case 2:
			b.demands = !b.demands
		case 3:
			b.refuse = "protected"
		case 4:
			b.refuse = ""
		}
		h.tip++
	})
	if how%2 == 0 {
		p.w.note(r) // else the webhook is lost
	}
}

// toAny changes one open pull request.
func (p *player) toAny(r plan.Repo, f func(*pull)) {
	p.w.change(r, func(h *hub) {
		for n := p.next; n > 0; n-- {
			if x := h.pulls[n]; x != nil && !x.merged {
				f(x)
				return
			}
		}
	})
}

func (p *player) restart() {
	p.stop()
	p.stop = p.w.run(reconcile.Options{Workers: 3})
}

// fail makes a call fail before it does anything.
func (p *player) fail(c call) error {
	switch {
	case !p.unlucky():
		return nil
	case c.op == "observe" || c.op == "status" || c.op == "merge" || c.op == "move" || c.op == "repositories":
		return p.trial()
	}
	return errors.New("disk full")
}

// lose loses the answer of a call that was done.
func (p *player) lose(call) error {
	if p.unlucky() {
		return &client.Error{Kind: client.Transient, Reason: "unexpected EOF"}
	}
	return nil
}

func (p *player) unlucky() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fate.Int64N(100) < p.trouble.Load()
}

// trial is one of GitHub's ways to fail.
func (p *player) trial() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.fate.IntN(6) {
	case 0:
		return &client.Error{Kind: client.Refused, Reason: "no"}
	case 1:
		return &client.Error{Kind: client.Limited, Until: time.Now().Add(time.Duration(p.fate.IntN(90)) * time.Second), Reason: "slow down"}
	case 2:
		return &client.Error{Kind: client.Gone, Reason: "Not Found"}
	case 3:
		return &client.Error{Kind: client.Unauthorized, Reason: "Bad credentials"}
	case 4:
		return errors.New("no route to host")
	}
	return &client.Error{Kind: client.Transient, Reason: "502"}
}
