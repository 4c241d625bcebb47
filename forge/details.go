package forge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// A look reads what each open pull request is, and the details (files, reviews, checks, commits) of those alone of which they are not
// known, or may be others by now. What is kept of them is as GitHub said it, with the snapshot's instant for which it was read. Who is
// merged, or gets a success, is read in full once more just before that, so kept details can hold for too long, but release nothing.

const (
	// fewPulls is how many pull requests are read in full with the first page of a repository that has fewer, or that is not known: as
	// many as GitHub takes one point for.
	fewPulls = 6
	// maxOwn is under how many bases' contexts statuses are asked for with a page. Those of other heads are asked for apart.
	maxOwn = 10
	// aheadLists is how many lists of details are asked for with a page beside those that somebody asked for: a point's worth.
	aheadLists = 100
	// listsKnown and listsNew are how many lists the details of a pull request are whose commits are known, or not.
	listsKnown = 4
	listsNew   = 4 + maxCommits
	// stableAfter is how long after a pull request's last date its details are read again. GitHub's dates are of a second, and its clock
	// is not ours: what changed right after a read may bear the same date.
	stableAfter = 5 * time.Second
)

// mayHide reports whether a status of ours in this state may be all that a rollup of a state tells.
func mayHide(ours, rollup string) bool {
	switch ours {
	case "PENDING", "EXPECTED":
		return rollup == "PENDING" || rollup == "EXPECTED"
	case "FAILURE", "ERROR":
		return true
	}
	return false
}

// shows is the state of all checks together in an answer; "" if our own status hides it.
func (raw *rawPull) shows(ours *look.RawContext) string {
	switch {
	case raw.StatusCheckRollup == nil:
		return "none"
	case ours != nil && mayHide(ours.State, raw.StatusCheckRollup.State):
		return ""
	}
	return raw.StatusCheckRollup.State
}

// named notes which status stands under our context, of an answer that asked by name.
func (raw *rawPull) named(own []plan.Branch) {
	raw.ours, raw.statusRead = nil, raw.StatusCheckRollup == nil && !raw.holed
	i := slices.Index(own, plan.Branch(raw.BaseRefName))
	if raw.statusRead || raw.holed || i < 0 || raw.StatusCheckRollup.Commit == nil || raw.StatusCheckRollup.Commit.Oid != raw.HeadRefOid {
		return
	}
	raw.ours, raw.statusRead = raw.StatusCheckRollup.Commit.Status[fmt.Sprintf("s%d", i)], true
}

// ourContext is the status under our context among a pull request's details; nil if there is none.
func (raw *rawPull) ourContext() *look.RawContext {
	context := plan.ContextFor(plan.Branch(raw.BaseRefName))
	for i, c := range raw.reports().contexts {
		if context.Is(plan.Context(c.Context)) {
			return &raw.reports().contexts[i]
		}
	}
	return nil
}

// withDetails gives a pull request the details of one of the same head and base.
func (raw *rawPull) withDetails(of *rawPull) {
	raw.Files, raw.Reviews, raw.Commits, raw.ChangedFiles, raw.Body = of.Files, of.Reviews, of.Commits, of.ChangedFiles, of.Body
	raw.StatusCheckRollup, raw.read, raw.fresh, raw.detail, raw.thin = of.StatusCheckRollup, of.read, of.fresh, of.detail, false
}

// hasDetails notes that an answer brought details with it.
func (l *observation) hasDetails(raw *rawPull) {
	if kept := l.kept(raw.Number); kept != nil && len(raw.Commits.Nodes) == 0 && kept.HeadRefOid == raw.HeadRefOid &&
		kept.BaseRefName == raw.BaseRefName && kept.Commits.TotalCount == raw.Commits.TotalCount {
		raw.Commits = kept.Commits // a head's own commits become fewer, never others
	}
	raw.thin, raw.read, raw.began = false, l.At, l.Began
	l.hasList(raw)
	detail := *raw
	raw.fresh = true
	raw.detail = &detail
}

// kept gives what is kept of a pull request's details; nil if there is nothing, or nothing that time allows to trust.
func (l *observation) kept(number int) *rawPull {
	kept, ok := keptDetails.Get(l.Memory, number)
	if !ok || kept.read.After(l.At) || l.Began.Sub(kept.began) > l.At.Sub(kept.read)+budget.Margin { // the clock was set back: they are older than they look
		return nil
	}
	return kept
}

// stable reports whether what changes from now on has another date.
func (raw *rawPull) stable() bool { return raw.read.Sub(raw.UpdatedAt) >= stableAfter }

// keep remembers the details that a look read.
func (l *observation) keep(raw *rawPull) {
	if raw.detail == nil {
		return
	}
	d := raw.detail
	d.Title, d.Labels, d.Author = "", nil, nil
	d.detail, d.ours = nil, nil
	for i, c := range d.reports().contexts { // long, and of no use but on our own
		if !plan.Context(c.Context).Ours() {
			d.StatusCheckRollup.Contexts.Nodes[i].Description = nil
		}
	}
	keptDetails.Put(l.Memory, raw.Number, d)
}

// lacksCommits reports whether a page's own commits would show more than is kept.
func (raw *rawPull) lacksCommits() bool {
	return len(raw.Commits.Nodes) < min(raw.Commits.TotalCount, maxCommits)
}

// detailsOf are what to ask of a pull request for its details alone, whose head is this one or, with "", may be any.
func (l *observation) detailsOf(number int, head string) (parts string, lists int) {
	kept := l.kept(number)
	if kept == nil || kept.lacksCommits() || head != "" && kept.HeadRefOid != head {
		return partDetail + " " + partOwn, listsNew
	}
	return partDetail + " " + partCount, listsKnown
}

// ahead are the details that come with the first page: those that somebody asked for or that may have changed within a second, and as long
// as it costs no more than a point those that were read the longest ago.
func (l *observation) ahead() []pullAsk {
	asked := l.ask.Full
	var old []*rawPull
	for _, n := range l.last.pulls {
		kept := l.kept(n)
		switch {
		case kept == nil:
		case !kept.stable(), slices.Contains(l.ask.Heads, plan.SHA(kept.HeadRefOid)):
			asked = append(slices.Clip(asked), n)
		case l.At.Sub(kept.read) >= l.f.resync:
			old = append(old, kept)
		}
	}
	asked = unique(asked, MaxPulls)
	some, lists := l.wanted(asked)
	slices.SortFunc(old, func(a, b *rawPull) int { return cmp.Or(a.read.Compare(b.read), cmp.Compare(a.Number, b.Number)) })
	for _, kept := range old {
		parts, cost := l.detailsOf(kept.Number, "")
		if lists += cost; lists > aheadLists || len(some) == MaxPulls {
			break
		}
		if !slices.Contains(asked, kept.Number) {
			some = append(some, pullAsk{kept.Number, parts})
		}
	}
	return some
}

// wanted is how the details of some pull requests are asked for, and how many lists those are. Few of them come with their commits, since
// they may have been pushed to; of more only those whose commits are not known.
func (l *observation) wanted(numbers []int) (some []pullAsk, lists int) {
	some = make([]pullAsk, len(numbers))
	for i, n := range numbers {
		parts, cost := l.detailsOf(n, "")
		if len(numbers)*listsNew <= aheadLists {
			parts, cost = partDetail+" "+partOwn, listsNew
		}
		some[i] = pullAsk{n, parts}
		lists += cost
	}
	return some, lists
}

// counts reports whether kept details still say what GitHub would, as far as that can be known.
func (l *observation) counts(ctx context.Context, kept, raw *rawPull) (bool, error) {
	switch {
	case kept == nil, raw.holed, kept.long(), kept.Files.dropped() && kept.Files.bytes <= maxListBytes && !l.pageLists.lacks(kept.Number, kept.Files.bytes), !kept.stable(), kept.HeadRefOid != raw.HeadRefOid, kept.BaseRefName != raw.BaseRefName,
		!kept.UpdatedAt.Equal(raw.UpdatedAt), kept.ChangedFiles != raw.ChangedFiles, decision(kept.ReviewDecision) != decision(raw.ReviewDecision),
		slices.Contains(l.ask.Full, raw.Number), slices.Contains(l.ask.Heads, plan.SHA(raw.HeadRefOid)),
		raw.statusRead && raw.ours == nil && kept.ourContext() != nil: // it may be spelt otherwise
		return false, nil
	}
	if now := raw.shows(raw.ours); raw.statusRead && now != "" && now != kept.shows(kept.ourContext()) {
		return false, nil
	}
	return l.stands(ctx, kept, raw)
}

// stands reports whether the base's moves left the details as they were: what a pull request changes is another thing once its base has
// some of its commits. Where that cannot be found out it counts as long as no success of ours rests on it.
func (l *observation) stands(ctx context.Context, kept, raw *rawPull) (bool, error) {
	from, to := plan.SHA(kept.BaseRef.Target.Oid), plan.SHA(raw.BaseRef.Target.Oid)
	if from == to {
		return true, nil
	}
	unproved := raw.statusRead && (raw.ours == nil || raw.ours.State != "SUCCESS")
	if b := l.Bases[plan.Branch(raw.BaseRefName)]; b != nil && b.Target.File == nil {
		return unproved, nil
	}
	h := l.history(kept)
	if !h.complete {
		return unproved, nil
	}
	between, err := l.Moved(ctx, from, to)
	if err != nil || between == nil {
		return unproved, err
	}
	for own := range h.own {
		if between[own] {
			return false, nil
		}
	}
	stands := *kept
	stands.BaseRef = raw.BaseRef
	keptDetails.Put(l.Memory, raw.Number, &stands)
	return true, nil
}

// readDetails fills in the details: those that came with the first page, those that are kept and still count, and for all others those
// that are read now. One pull request that is too heavy alone, or that GitHub does not show whole, is unknown.
func (l *observation) readDetails(ctx context.Context) error {
	var some []pullAsk
	for _, raw := range l.pulls {
		if !raw.thin {
			continue
		}
		if raw.unread = l.Rests(l.headKey(raw.HeadRefOid, raw.BaseRefName)); raw.unread.Is() {
			continue
		}
		if full := l.full[raw.Number]; full != nil && !raw.holed && full.HeadRefOid == raw.HeadRefOid && full.BaseRefName == raw.BaseRefName {
			raw.withDetails(full)
			continue
		}
		kept := l.kept(raw.Number)
		current, err := l.counts(ctx, kept, raw)
		if err != nil {
			return err
		}
		if current {
			raw.withDetails(kept)
			l.hasList(raw)
			continue
		}
		parts, _ := l.detailsOf(raw.Number, raw.HeadRefOid)
		some = append(some, pullAsk{raw.Number, partThin + " " + parts})
	}
	ask := func(some []pullAsk) *look.Query { return pullsQuery(l.Repo.Owner, l.Repo.Name, some, l.own) }
	err := look.AskEach(ctx, l.Look, some, MaxPulls, ask, "p", func(w pullAsk, full *rawPull, err error) error { return l.readAgain(ctx, l.raws[w.number], full, err) })
	if err != nil {
		return err
	}
	listed := len(l.pulls)
	l.pulls = slices.DeleteFunc(l.pulls, func(raw *rawPull) bool { return raw.State != "OPEN" })
	if len(l.pulls) < listed {
		l.forgotten = nil // what was closed since the page is on neither list
	}
	var heads []plan.SHA
	for _, raw := range l.pulls {
		if !raw.statusRead && !raw.fresh {
			heads = append(heads, plan.SHA(raw.HeadRefOid)) // a success of ours may stand there
		}
	}
	return l.readHeads(ctx, unique(heads, len(heads)))
}

// readAgain replaces a thin pull request by what an answer by its number says: it may have changed since the page.
func (l *observation) readAgain(ctx context.Context, thin, full *rawPull, err error) error {
	if err == nil && full.unusable() {
		err = client.Empty()
	}
	if err != nil {
		thin.unread, err = l.Failed(ctx, l.headKey(thin.HeadRefOid, thin.BaseRefName), whatPull, err)
		return err
	}
	if *thin = *full; full.BaseRef == nil || full.BaseRef.Target == nil {
		thin.State = "" // as in keepPull
		return nil
	}
	thin.named(l.own)
	l.hasDetails(thin)
	return l.SawTip(plan.Branch(full.BaseRefName), plan.SHA(full.BaseRef.Target.Oid))
}

const (
	partPull    look.PartKind = "pull"    // by its head and base: another one is another part
	partReports look.PartKind = "reports" // of a pull request, by its head: for turns alone, as the next two
	partFork    look.PartKind = "fork"
	partFiles   look.PartKind = "files"
	partClosed  look.PartKind = "closed"  // a pull request that is perhaps not open, by its number: for turns alone
	partEarlier look.PartKind = "earlier" // the heads that a pull request had before, by its number: those that were read
	partDebts   look.PartKind = "debts"   // a base of debts, by its name: for turns alone
	partGroup   look.PartKind = "group"   // by its head

	partComments look.PartKind = "comments" // of the repository
	partPermit   look.PartKind = "permit"   // of a person, by login
)
