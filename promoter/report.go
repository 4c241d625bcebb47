package promoter

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// What Flux says of a commit comes as statuses on it, which name no branch, and as events, which do. Several branches may stand
// at one commit, so a report that names the branch counts for more.

// maxReported bounds how many objects' reports a verdict lists one by one.
const maxReported = 20

// reported is the ruling on a branch that stands where it should.
func (d *branchCase) reported() ruling {
	r := ruling{kind: plan.Current, reason: phrase(sayCurrent, d.from), why: d.said()}
	latest := d.latestReports()
	greens, last := 0, time.Time{}
	var failed, pending *plan.Report
	for i := range latest {
		v := &latest[i]
		switch v.State {
		case plan.CheckRed:
			if failed == nil {
				failed = v
			}
		case plan.CheckGreen:
			greens++
			if v.At.After(last) {
				last = v.At
			}
		case plan.CheckPending:
			pending = v
		}
	}
	switch {
	case failed != nil:
		r.kind, r.reason = plan.Failed, sayFailed(d.tracked.Tip, failed)
	case pending == nil && greens > 0:
		r.kind, r.reason = plan.Applied, sayApplied(last, d.took(last), d.open.zone)
		if lack := d.unreported(latest); len(lack) > 0 {
			r.reason = plan.Text(r.reason + sayUnreported + plan.Few(lack))
			for _, name := range lack[:min(len(lack), max(0, maxReported-len(r.why)))] {
				r.why = append(r.why, plan.Step{About: plan.Middle(plan.Clean(name), plan.MaxReason), Says: wordUnreported})
			}
		}
	}
	return r
}

// said is what Flux says of the commit at which the branch stands, an object each.
func (d *branchCase) said() (steps []plan.Step) {
	all := d.latestReports()
	for i := range all[:min(len(all), maxReported)] {
		steps = append(steps, sayReport(&all[i]))
	}
	return steps
}

// unreported is the Flux Kustomizations that track the branch where it stands, and of which no report speaks. A report's object ends with the name, or with
// that and what tells its cluster from others.
func (d *branchCase) unreported(reports []plan.Report) (lack []string) {
	spoken := map[string]bool{}
	for _, v := range reports {
		parts := strings.Split(strings.ToLower(v.Object), "/")
		for _, part := range parts[max(0, len(parts)-2):] {
			spoken[part] = true
		}
	}
	for _, name := range d.line.Builds[d.tracked.Tip].Of[d.name].Tracks {
		if !spoken[strings.ToLower(path.Base(name))] {
			lack = append(lack, name)
		}
	}
	return lack
}

// latestReports are those that count: of the commit where the branch stands, the latest of each object, ordered by object. If any
// of them names the branch, those that name none do not count.
func (d *branchCase) latestReports() []plan.Report {
	named, plain := map[string]plan.Report{}, map[string]plan.Report{}
	for _, v := range d.tracked.Reports {
		of := plain
		switch {
		case v.SHA != d.tracked.Tip || (v.Branch != "" && v.Branch != d.name) || d.before(v):
			continue
		case v.Branch != "":
			of = named
		}
		if was, ok := of[v.Object]; !ok || laterReport(v, was) {
			of[v.Object] = v
		}
	}
	if len(named) == 0 {
		named = plain
	}
	return slices.SortedFunc(maps.Values(named), func(a, b plan.Report) int { return cmp.Compare(a.Object, b.Object) })
}

// before reports whether a report names no branch and is older than our move to its commit: then it is about another branch there,
// as the live side's is.
func (d *branchCase) before(v plan.Report) bool {
	m := d.tracked.Moved
	return v.Branch == "" && m != nil && m.New == d.tracked.Tip && v.At.Before(m.At)
}

// laterReport reports whether a is to be preferred to b, on one object: it is later, or of the same instant and worse.
func laterReport(a, b plan.Report) bool {
	badness := func(r plan.Report) int {
		return slices.Index([]plan.CheckState{plan.CheckGreen, plan.CheckPending, plan.CheckRed}, r.State)
	}
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(badness(a), badness(b)), cmp.Compare(b.Says, a.Says)) > 0
}

// took is the time from due to applied, of our own move to this commit alone.
func (d *branchCase) took(applied time.Time) time.Duration {
	m := d.tracked.Moved
	if m == nil || m.New != d.tracked.Tip || m.Due.IsZero() {
		return 0
	}
	return max(0, applied.Sub(m.Due).Truncate(time.Second))
}
