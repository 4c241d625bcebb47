package branches

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// maxReports is how many reports of one branch a snapshot holds. What went wrong comes first, and is not cut off by what
// went well.
const maxReports = 200

// reports reads what Flux said from the statuses of tips. Branches that share a tip share what names none of them.
type reports struct {
	names map[string]plan.Branch // of the file's branches, by their names in lower case
	tips  map[plan.SHA]tipReports
}

// tipReports is what Flux said of one commit: about branches by name, and about the commit alone under "".
type tipReports map[plan.Branch][]plan.Report

// of gives the reports on a branch's tip that name the branch or none.
func (r reports) of(branch plan.Branch, tip plan.SHA, contexts []look.RawContext) []plan.Report {
	byBranch, ok := r.tips[tip]
	if !ok {
		byBranch = r.sort(tip, contexts)
		r.tips[tip] = byBranch
	}
	if len(byBranch[branch]) == 0 {
		return byBranch[""]
	}
	return worstFirst(slices.Concat(byBranch[branch], byBranch[""]))
}

// sort reads the reports on one commit.
func (r reports) sort(tip plan.SHA, contexts []look.RawContext) tipReports {
	byBranch := tipReports{}
	for _, c := range contexts {
		object, flux := plan.Context(c.Context).Kustomization()
		if !flux || object == "" {
			continue
		}
		one := plan.Report{
			SHA: tip, Object: client.OneLine(object), Branch: r.named(object), State: c.Check(), At: c.CreatedAt.UTC(),
		}
		if c.Description != nil {
			one.Says = client.OneLine(*c.Description)
		}
		byBranch[one.Branch] = append(byBranch[one.Branch], one)
	}
	byBranch[""] = worstFirst(byBranch[""])
	return byBranch
}

// named finds the windowed branch whose name an object begins with, the longest; "" if there is none. Both may hold slashes.
func (r reports) named(object string) plan.Branch {
	for i := strings.LastIndexByte(object, '/'); i > 0; i = strings.LastIndexByte(object[:i], '/') {
		if branch, ok := r.names[strings.ToLower(object[:i])]; ok {
			return branch
		}
	}
	return ""
}

// worstFirst orders reports by what they say and then by their age, the newest first, and cuts them.
func worstFirst(all []plan.Report) []plan.Report {
	rank := map[plan.CheckState]int{plan.CheckRed: 0, plan.CheckPending: 1, plan.CheckGreen: 2}
	slices.SortStableFunc(all, func(a, b plan.Report) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), b.At.Compare(a.At))
	})
	return slices.Clip(all[:min(len(all), maxReports)]) // whoever adds to it gets a list of their own
}
