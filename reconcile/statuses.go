package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// round is the statuses at the beginning of some actions that may be written at the same time: no two to one place or about one pull
// request, and what takes green back not together with others, which it would wait for.
func (k *look) round(actions []plan.Action) []plan.SetStatus {
	var sets []plan.SetStatus
	most := roundShare * k.abreast()
	places, pulls := map[outbox.Place]bool{}, map[int]bool{}
	for _, a := range actions {
		set, ok := a.(plan.SetStatus)
		at := k.placeOf(a)
		if !ok || len(sets) == most || places[at] || len(sets) > 0 && set.Withdraws != sets[0].Withdraws {
			return sets
		}
		for _, n := range set.Pulls {
			if pulls[n] {
				return sets
			}
		}
		for _, n := range set.Pulls {
			pulls[n] = true
		}
		places[at] = true
		sets = append(sets, set)
	}
	return sets
}

// setStatuses writes statuses at the same time, and records them together. It gives the error that ends the look, if one does: the first
// in the plan's order.
func (k *look) setStatuses(ctx context.Context, sets []plan.SetStatus) error {
	var jobs []*job
	var acts []store.Act
	var end error
	for _, a := range sets {
		if k.passedOver(a) {
			continue
		}
		if err := k.may(ctx, a); err != nil {
			if !errors.Is(err, errStopped) {
				acts = append(acts, k.actOfLeft(a, err))
			}
			if end = k.heed(a, err); end != nil {
				break
			}
			continue
		}
		jobs = append(jobs, k.setting(a))
	}
	k.sendAll(ctx, jobs)
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		if errors.Is(j.err, errStopped) {
			end = errStopped
		}
		return errors.Is(j.err, errUnbegun) || errors.Is(j.err, errStopped)
	})
	for _, j := range jobs {
		acts = append(acts, k.written(j))
	}
	if len(acts) == 0 {
		return end
	}
	kept := k.record(ctx, acts...)
	if kept != nil && k.end == nil {
		k.end = kept
	}
	for _, j := range jobs {
		err := k.heed(j.action, k.confine(j.action, errors.Join(kept, j.err)))
		if end == nil {
			end = err
		}
	}
	return end
}

// setting is the write of one status.
func (k *look) setting(a plan.SetStatus) *job {
	w := &post{
		Status: plan.Status{Context: a.Context, State: a.State, Description: a.Description},
		sha:    a.SHA, before: a.Before, debt: a.Debt, statuses: a.Statuses, withdraws: a.Withdraws, tells: a.Tells(), lingers: true,
	}
	return &job{action: a, urgency: w.urgency(), write: func(ctx context.Context) error { return k.post(ctx, w) }}
}

// written is what came of a status, as the history keeps it.
func (k *look) written(j *job) store.Act {
	s := j.action.(plan.SetStatus)
	act := k.actOf(s)
	act.Reason, act.Took = string(s.State)+": "+s.Description, j.took
	if j.err == nil && s.Repairs != "" {
		act.Repair = &plan.Repair{SHA: s.SHA, Context: s.Context, By: s.Repairs, At: act.At}
		k.log.Warn("restoring a sluice status that someone else overwrote",
			"sha", s.SHA, "context", s.Context, "by", s.Repairs)
	}
	return k.ended(act, j.err)
}
