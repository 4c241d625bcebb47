package attack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// approvals judges every approval of ours.
func (o *oracle) approvals() {
	for _, p := range o.w.repo.Pulls() {
		for _, v := range p.Reviews {
			if !ours(v.By) {
				continue
			}
			if !o.given[v.ID] {
				o.given[v.ID] = true
				o.w.say("sluice approves #%d at %.7s", p.Number, v.On)
				o.give(p, v)
			}
			if v.State == standin.Approved && !p.Merged && !o.down {
				o.approval(p, v)
			}
		}
	}
}

// give judges an approval as it was given.
func (o *oracle) give(p standin.Pull, v standin.Review) {
	_, reads := o.w.troubled()
	if v.At.Before(o.fileSeen(reads)) || p.Base != "main" || o.w.based[p.Number].Add(aLook).After(v.At) {
		return
	}
	what := fmt.Sprintf("sluice approved #%d at %.7s", p.Number, v.On)
	if o.now == nil || o.now.observe {
		o.once("e", what+", and main has no rules")
		return
	}
	paths := o.w.changed(o.tip, v.On)
	says := o.now.live
	if slices.ContainsFunc(paths, windowed) {
		says = o.now.window
	}
	if says != "approve" && v.On == p.HeadSHA {
		o.once("e", what+", and the file says "+says)
	}
	for _, path := range paths {
		if strings.HasPrefix(path, "docs/") || strings.HasPrefix(path, ".github/") || strings.Contains(path, "flux-system/") {
			o.once("e", what+" with "+path)
		}
	}
	people := map[string]bool{}
	for _, r := range p.Reviews {
		if r.State == standin.Approved && r.On == v.On && r.By.Login != "mallory" && r.By.Login != p.Author.Login && !ours(r.By) && !r.At.After(v.At) {
			people[r.By.Login] = true
		}
	}
	if len(people) < o.now.approvals || p.HeadOwner != "acme" && len(people) == 0 {
		o.once("e", what+fmt.Sprintf(" of %s, and %d people had", p.Author.Login, len(people)))
	}
}

// approval judges one that stands.
func (o *oracle) approval(p standin.Pull, v standin.Review) {
	now := time.Now()
	what := fmt.Sprintf("the approval of #%d at %.7s, given at %s, stands", p.Number, v.On, o.w.since(v.At))
	bad := ""
	switch {
	case v.On != p.HeadSHA:
		bad = fmt.Sprintf("its head is %.7s", p.HeadSHA)
	case !p.Open:
		bad = "it is closed"
	case slices.Contains(p.Labels, "hold"):
		bad = "people hold it"
	}
	if since, was := o.wrong[v.ID]; bad == "" {
		delete(o.wrong, v.ID)
	} else if !was {
		o.wrong[v.ID] = now
	} else if _, reads := o.w.troubled(); now.After(latest(since, reads, o.due(standin.Status{SHA: v.On, At: v.At}, since)).Add(aLook + aWrite)) {
		o.once("e", what+": "+bad+" since "+o.w.since(since))
	}
	if p.Base != "main" {
		return
	}
	if closed := o.closed("main", v.On, now); !closed.IsZero() && now.After(o.due(standin.Status{SHA: v.On, At: v.At}, closed).Add(aWrite)) {
		o.once("e", what+" since main is closed at "+o.w.since(closed))
	}
}

// dismiss has a writer dismiss an approval of ours.
func (w *world) dismiss() {
	approved := func(p standin.Pull) bool {
		return slices.ContainsFunc(p.Reviews, func(v standin.Review) bool { return ours(v.By) && v.State == standin.Approved })
	}
	if p, ok := w.somePull(approved); ok {
		w.tried(w.repo.DismissReview(p.Number, "eve", "sluice"), "eve dismisses sluice's approval of #%d", p.Number)
	}
}
