package reconcile

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// about is what a line of the log is about: a verdict's subject, a merge group's head, or a base to be warned of.
type about struct {
	subject plan.Subject
	sha     plan.SHA // of groups and tips, which share a subject
	note    string
	branch  plan.Branch // a windowed one
}

// logPlan logs what was decided, before anything of it is done: one line for each verdict that changed.
func (k *look) logPlan(p plan.Plan) {
	old := k.entry.logged
	logged := make(map[about]uint64, len(p.Verdicts)+len(p.Branches)+len(p.Notes))
	for _, v := range p.Verdicts {
		at := about{subject: v.Subject}
		if v.Subject.Pull == 0 {
			at.sha = v.SHA
		}
		logged[at] = k.loop.hash(string(v.SHA), string(v.Kind), v.Text())
		if was, ok := old[at]; !ok || was != logged[at] {
			args := []any{"pull", v.Subject.Pull, "base", v.Subject.Base, "sha", v.SHA, "verdict", v.Kind, "reason", v.Text()}
			if !v.Until.IsZero() {
				args = append(args, "until", v.Until)
			}
			k.log.Info("decided", args...)
		}
	}
	k.logBranches(p.Branches, logged)
	for _, n := range p.Notes {
		at := about{note: n.About + "\x00" + n.Says}
		logged[at] = 0
		if _, ok := old[at]; !ok {
			k.log.Warn("warning", "code", n.Code, "about", n.About, "reason", n.Says)
		}
	}
	k.entry.logged = logged
}

// logBranches logs the verdicts on windowed branches that changed. A goal that only moves on while its branch is held is no
// change: else one commit would make a line for each branch.
func (k *look) logBranches(verdicts []plan.BranchVerdict, logged map[about]uint64) {
	for _, v := range verdicts {
		at := about{branch: v.Name}
		logged[at] = k.loop.hash(string(v.Old), string(v.Kind), v.Text())
		if was, ok := k.entry.logged[at]; ok && was == logged[at] {
			continue
		}
		args := []any{"branch", v.Name, "from", v.From, "old", v.Old, "new", v.New, "waiting", v.Waiting,
			"verdict", v.Kind, "reason", v.Text()}
		if !v.Until.IsZero() {
			args = append(args, "until", v.Until)
		}
		k.log.Info("decided", args...)
	}
}

// recovered logs that a look did not fail, after some that did.
func (k *reading) recovered() {
	if k.entry.complaint != "" {
		k.entry.complaint = ""
		k.log.Info("reconciliation works again")
	}
}

func (l *Loop) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	for _, p := range parts {
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// logEnd logs how a look ended, and how long it took: on request, or if it was long.
func (k *look) logEnd(ctx context.Context, err error) {
	level, took := slog.LevelDebug, k.loop.now().Tick-k.began
	if took >= slowLook {
		level = slog.LevelInfo
	}
	k.log.Log(ctx, level, "reconciliation ended", "end", endOf(err), "took", took.Round(time.Millisecond), "rest_requests", k.sent.Requests.Load())
}

// complain logs an error that made a look fail for the n-th time in a row. One that is like the last is logged on request alone, as is one that
// the list of repositories is known to have too.
func (k *reading) complain(err error, n int, pause, took time.Duration) {
	args := []any{"error", err, "times", n, "again_in", pause, "took", took.Round(time.Millisecond)}
	var p *panicError
	if errors.As(err, &p) {
		args = append(args, "stack", string(p.stack))
	}
	level, now := slog.LevelError, string(client.KindOf(err))
	if client.KindOf(err) != client.Transient { // those have other words each time
		now += ": " + client.ReasonOf(err)
	}
	if client.SetupOf(err) != "" || now == k.entry.complaint {
		level = slog.LevelDebug
	} else {
		k.entry.complaint = now
	}
	k.log.Log(context.Background(), level, "reconciliation failed", args...)
}
