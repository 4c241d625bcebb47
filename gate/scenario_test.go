package gate_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

//go:generate go run ../internal/scenario/index_gen.go testdata/scenarios

// TestScenarios reads testdata/scenarios as a specification: a file, an instant and what GitHub shows, and the plan that
// follows. The comment above each says why.
func TestScenarios(t *testing.T) {
	scenario.Run(t, 30, func(t *testing.T, a *golden.Archive) plan.Snapshot {
		sc := readScene(t, a)
		s := sc.snapshot()
		s.Commands, s.Undone = scenario.Commands(t, sc.World.Comments, sc.now), sc.World.Undone
		return s
	}, gate.Decide, render)
}

// file is what a branch has as its rules.
type file struct {
	policy *config.Policy
	bad    []config.Finding
	none   bool
}

// scene is what stands in a txtar file: .github/sluice.yaml is that of every base, .github/sluice.yaml@BASE that of one (empty:
// it has none), and that of main~1 the newest version of main's that can be read (empty: there never was one; not there: it could not
// be found out). It comes with the dull things defaulted: a trusted, mergeable, up-to-date head with one
// green check, on a protected base that takes our status from our App alone.
type scene struct {
	now   time.Time
	files map[string]file // by base; "": of all others
	World world
	Pulls []pull
}

type world struct {
	Strict, Queue, NotEnforced, NotBound, RulesUnread, NoFile, Budget bool
	Bypassed                                                          []plan.Ruleset // that let us bypass what they demand
	Reviewed                                                          string         // what GitHub demands a review of: "none", "rules"; else all
	Skew, TipAhead                                                    time.Duration
	Required                                                          []string
	Methods                                                           []string
	Refusals                                                          []struct {
		Pull, Count int
		Head, Tip   string
		Ago         time.Duration
		Reason      string
	}
	Repairs []struct {
		Head string
		By   string
		Ago  time.Duration
	}
	Merges []struct {
		Base     string
		Releases []string
		Ago      time.Duration
	}
	Groups []struct {
		Head, Base, Unread string
		On                 string // the head it was built on; else the base's tip
		Ours               string // as of a pull request
		Files, Net         []string
		Incomplete         bool
		Passing            bool
	}
	Keeps      bool   // sluice may not dismiss reviews
	UnreadBase string // the base could not be read, and why
	Came       []struct {
		By         string
		Ago        time.Duration
		Files      []string
		Incomplete bool
	}
	Debts []struct { // of successes on main, by the file that it has unless another is named
		Number, Pull     int
		Head, Base, File string
		Group, Unstored  bool          // Unstored: the store could not keep it
		Approval         bool          // of the pull request
		Ends, Cutoff     time.Duration // Ends from now; 0: at no instant
		Says             string
	}
	Closed []struct {
		Pull       int
		Head, Base string
		Merged     bool
	}
	Forgotten []struct {
		Pull             int
		Head, Base, Ours string
	}
	Others struct { // debts of other repositories
		Count        int
		Cutoff, Ends time.Duration
	}
	Comments []scenario.Comment
	Undone   map[int]int64 // by pull request, the number of a comment that is gone by now
	Hour     int           // requests of an hour
	Tip      string        // our status on the base's tip: "failure: text"
}

type pull struct {
	// References is what refers to paths, by path and in the words of a file's releases; Stale: it was found for another tip.
	References                                     map[string]string `yaml:"references"`
	Stale                                          bool              `yaml:"stale"`
	Broken                                         string            `yaml:"broken"`
	Told                                           string            `yaml:"told"`
	Number                                         int
	Base, Head, Author, Branch, Body               string
	Files, Moved, Labels                           []string
	Draft, Fork, Behind, Incomplete, ChecksPartial bool
	Crossed, NoMergeBase, Replays                  bool
	Unread                                         string // it could not be read whole, and why
	Passing                                        bool   // for a moment
	Mergeable, Decision, Armed                     string
	Approved, Refused                              []string // LOGIN, LOGIN (reader), LOGIN @ HEAD
	Sluice                                         string   // what sluice's review says: "approved", "dismissed", "approved @ HEAD"
	Checks                                         map[string]string
	Ours                                           string // "pending: text", "success by mallory: text"
	Statuses                                       int    // under our context on the head
	Seen, Created                                  time.Duration
	Unknown                                        time.Duration // since when mergeability is; else as long as the head was seen
	Rules                                          string        // the text of its rules file; "deleted"
}

const (
	tip   plan.SHA = "7190000000000000000000000000000000000000"
	older plan.SHA = "0190000000000000000000000000000000000000"
)

func readScene(t *testing.T, a *golden.Archive) scene {
	t.Helper()
	sc := scene{now: scenario.Now(t, a), files: map[string]file{}}
	for _, f := range a.Files {
		name, base, _ := strings.Cut(f.Name, "@")
		if name == config.File {
			policy, bad := config.Parse(f.Data)
			sc.files[base] = file{policy, bad, base != "" && len(f.Data) == 0}
		}
	}
	scenario.Strict(t, a.Section("world"), &sc.World)
	scenario.Strict(t, a.Section("pulls"), &sc.Pulls)
	return sc
}

func (sc scene) snapshot() plan.Snapshot {
	w := sc.World
	s := plan.Snapshot{
		Repo: plan.Repo{Owner: "acme", Name: "fleet"}, At: sc.now, Skew: w.Skew, Us: scenario.Us, App: scenario.App, Default: "main",
		Methods: []config.Method{config.MergeCommit, config.Squash, config.Rebase},
		Bases:   map[plan.Branch]plan.Base{},
	}
	if w.Methods != nil {
		s.Methods = nil
		for _, m := range w.Methods {
			s.Methods = append(s.Methods, config.Method(m))
		}
	}
	if w.Budget {
		s.Budget = 60
	}
	s.Bases["main"] = sc.base("main")
	for _, p := range sc.Pulls {
		s.Pulls = append(s.Pulls, sc.pull(p))
		base := cmp.Or(p.Base, "main")
		s.Bases[plan.Branch(base)] = sc.base(base)
	}
	sc.remember(&s)
	return s
}

// reviewed is all, if the world does not say otherwise.
func (w world) reviewed() plan.ReviewDemand {
	switch {
	case w.RulesUnread:
		return plan.ReviewsUnknown
	case w.Reviewed == "none":
		return plan.ReviewsOfNone
	case w.Reviewed == "rules":
		return plan.ReviewsOfRules
	}
	return plan.ReviewsOfAll
}

func (sc scene) base(name string) plan.Base {
	w := sc.World
	if w.UnreadBase != "" {
		return plan.Base{Unread: plan.Unread{Reason: w.UnreadBase}}
	}
	f, own := sc.files[name]
	if !own {
		f = sc.files[""]
	}
	b := plan.Base{Tip: tip, File: "f11e", Policy: f.policy, Findings: f.bad, Strict: w.Strict, Queue: w.Queue, Rules: !w.RulesUnread, Reviews: w.reviewed(), Keeps: w.Keeps, Bypassed: w.Bypassed}
	if w.TipAhead != 0 {
		b.TipAt = sc.now.Add(w.TipAhead)
	}
	if w.NoFile || f.none {
		b.File, b.Policy = "", nil
	}
	if last, known := sc.files[name+"~1"]; last.none {
		b.Last.Known = true
	} else if known {
		b.Last = plan.RosterOf("01d", last.policy)
	}
	if !w.NotEnforced {
		r := plan.RequiredCheck{Context: plan.ContextFor(plan.Branch(name)), App: scenario.App}
		if w.NotBound {
			r.App = 0
		}
		b.Required = append(b.Required, r)
	}
	for _, c := range w.Required {
		context, by := scenario.Named(c)
		b.Required = append(b.Required, plan.RequiredCheck{Context: context, App: by})
	}
	b.Ours = scenario.Ours(w.Tip, plan.ContextFor(plan.Branch(name)), sc.now)
	for i, c := range w.Came {
		b.Landings = append(b.Landings, plan.Landing{
			SHA: scenario.SHA(fmt.Sprintf("c%d", i+1)), By: plan.Login(c.By), At: sc.now.Add(-c.Ago), Files: files(c.Files), Complete: !c.Incomplete,
		})
	}
	return b
}

func (sc scene) remember(s *plan.Snapshot) {
	for _, r := range sc.World.Refusals {
		s.Refusals = append(s.Refusals, plan.Refusal{
			Pull: r.Pull, Head: scenario.SHA(cmp.Or(r.Head, fmt.Sprintf("a%d", r.Pull))), Tip: cmp.Or(plan.SHA(r.Tip), tip),
			At: sc.now.Add(-r.Ago), Count: r.Count, Reason: r.Reason,
		})
	}
	for _, r := range sc.World.Repairs {
		s.Repairs = append(s.Repairs, plan.Repair{SHA: scenario.SHA(r.Head), Context: "sluice/main", By: plan.Login(r.By), At: sc.now.Add(-r.Ago)})
	}
	for _, m := range sc.World.Merges {
		s.Merges = append(s.Merges, plan.MergeRecord{Base: plan.Branch(cmp.Or(m.Base, "main")), At: sc.now.Add(-m.Ago), Releases: releases(m.Releases)})
	}
	sc.owe(s)
	for _, g := range sc.World.Groups {
		base := cmp.Or(g.Base, "main")
		s.Bases[plan.Branch(base)] = sc.base(base)
		on, net := tip, files(g.Net)
		if g.Net != nil && net == nil {
			net = []plan.File{}
		}
		if g.On != "" {
			on = scenario.SHA(g.On)
		}
		s.Groups = append(s.Groups, plan.Group{
			Base: plan.Branch(base), BaseSHA: on, Head: scenario.SHA(g.Head), Files: files(g.Files), Net: net, Complete: !g.Incomplete,
			Unread: plan.Unread{Reason: g.Unread, Passing: g.Passing}, Ours: scenario.Ours(g.Ours, plan.ContextFor(plan.Branch(base)), s.At),
		})
	}
}

func (sc scene) owe(s *plan.Snapshot) {
	w := sc.World
	s.Hour.Limit = w.Hour
	for i, d := range w.Debts {
		base := plan.Branch(cmp.Or(d.Base, "main"))
		debt := plan.Debt{
			Number: int64(cmp.Or(d.Number, i+1)), SHA: scenario.SHA(cmp.Or(d.Head, fmt.Sprintf("a%d", d.Pull))), Context: plan.ContextFor(base), For: plan.ForPull,
			Subject: plan.Subject{Pull: d.Pull, Base: base}, File: plan.SHA(cmp.Or(d.File, "f11e")), State: plan.Pending,
			Description: cmp.Or(d.Says, "as it was recorded"), Cutoff: d.Cutoff,
		}
		if d.Approval {
			debt.Context = plan.ApprovalOf(d.Pull)
		}
		if d.Unstored {
			debt.Number = 0
		}
		if d.Group {
			debt.For, debt.State = plan.ForGroup, plan.Failure
		}
		if d.Ends != 0 {
			debt.Ends = sc.now.Add(d.Ends)
		}
		s.Debts = append(s.Debts, debt)
	}
	for _, c := range w.Closed {
		s.Closed = append(s.Closed, plan.Closure{
			Subject: plan.Subject{Pull: c.Pull, Base: plan.Branch(cmp.Or(c.Base, "main"))}, SHA: scenario.SHA(cmp.Or(c.Head, fmt.Sprintf("a%d", c.Pull))), Merged: c.Merged,
		})
	}
	for _, p := range w.Forgotten {
		base := plan.Branch(cmp.Or(p.Base, "main"))
		s.Forgotten = append(s.Forgotten, plan.Pull{
			Number: p.Pull, Base: base, Head: scenario.SHA(cmp.Or(p.Head, fmt.Sprintf("a%d", p.Pull))), Ours: scenario.Ours(p.Ours, plan.ContextFor(base), sc.now),
		})
	}
	for i := range w.Others.Count {
		s.Others = append(s.Others, plan.Debt{Number: int64(1000 + i), Cutoff: w.Others.Cutoff, Ends: sc.now.Add(w.Others.Ends)})
	}
}

func (sc scene) pull(p pull) plan.Pull {
	base := plan.Branch(cmp.Or(p.Base, "main"))
	out := plan.Pull{
		Number: p.Number, Author: plan.Login(cmp.Or(p.Author, "alice")), Base: base,
		Unread:    plan.Unread{Reason: p.Unread, Passing: p.Passing},
		Head:      scenario.SHA(cmp.Or(p.Head, fmt.Sprintf("a%d", p.Number))),
		HeadRef:   plan.Branch(cmp.Or(p.Branch, fmt.Sprintf("change-%d", p.Number))),
		CreatedAt: sc.now.Add(-24 * time.Hour).Add(time.Duration(p.Number) * time.Minute),
		MergeBase: tip, Crossed: p.Crossed, Replays: p.Replays, Draft: p.Draft, AutoMerge: config.Method(p.Armed), SameRepo: !p.Fork, Labels: p.Labels, NotBefore: plan.NotBeforeOf(p.Body), Files: files(p.Files), Complete: !p.Incomplete,
		Moved: p.Moved, ChecksAll: !p.ChecksPartial, FirstSeen: sc.now.Add(-cmp.Or(p.Seen, time.Hour)),
		Decision: plan.Decision(p.Decision), Statuses: p.Statuses, Ours: scenario.Ours(p.Ours, plan.ContextFor(base), sc.now),
		Mergeable: map[string]plan.Mergeable{"": plan.MergeableYes, "unknown": plan.MergeableUnknown, "conflict": plan.MergeableConflict}[p.Mergeable],
	}
	if out.Mergeable == plan.MergeableUnknown {
		out.Unknown = sc.now.Add(-cmp.Or(p.Unknown, p.Seen, time.Hour))
	}
	if p.Behind {
		out.MergeBase = older
	}
	if p.NoMergeBase {
		out.MergeBase = ""
	}
	if p.Created != 0 {
		out.CreatedAt = sc.now.Add(-p.Created)
	}
	for _, text := range p.Approved {
		out.Reviews = append(out.Reviews, review(text, out.Head, true))
	}
	if is, on, _ := strings.Cut(p.Sluice, " @ "); is != "" {
		out.Approval = plan.Approval{On: out.Head, Stands: is == "approved"}
		if on != "" {
			out.Approval.On = scenario.SHA(on)
		}
	}
	for _, text := range p.Refused {
		out.Reviews = append(out.Reviews, review(text, out.Head, false))
	}
	out.Checks = scenario.Checks(p.Checks)
	out.Rules = sc.rules(base, p)
	if p.References != nil {
		b := sc.base(string(base))
		out.References = &plan.References{Asked: out.Asked(&b), Answers: layout.Answers{}, Broken: p.Broken}
		if p.Told != "" {
			out.References.Told = []plan.Note{{Code: "duplicates", Says: p.Told}}
		}
		for path, release := range p.References {
			out.References.Answers[path] = layout.Answer{Reads: &layout.Class{Releases: releases([]string{release}), Rule: path + " ← its reader"}}
		}
		if p.Stale {
			out.References.Tip = older
		}
	}
	return out
}

func (sc scene) rules(base plan.Branch, p pull) *plan.RulesChange {
	switch p.Rules {
	case "":
		return nil
	case "deleted":
		return &plan.RulesChange{Deleted: true}
	}
	policy := sc.base(string(base)).Policy
	outline, findings := config.Verify([]byte(p.Rules), policy, plan.Foreseen(sc.now, policy))
	return &plan.RulesChange{Outline: outline, Findings: findings}
}

func review(text string, head plan.SHA, approved bool) plan.Review {
	who, on, _ := strings.Cut(text, " @ ")
	who, reader := strings.CutSuffix(who, " (reader)")
	r := plan.Review{By: plan.Login(who), On: head, Approved: approved, CanWrite: !reader}
	if on != "" {
		r.On = scenario.SHA(on)
	}
	return r
}

// files reads "path", "old => new", "source ~> copy", "-path" (deleted) and "+path" (added).
func files(lines []string) []plan.File {
	var out []plan.File
	for _, l := range lines {
		f := plan.File{Path: l, Kind: plan.Modified}
		if was, is, ok := strings.Cut(l, " => "); ok {
			f = plan.File{Path: is, Old: was, Kind: plan.Renamed}
		} else if from, is, ok := strings.Cut(l, " ~> "); ok {
			f = plan.File{Path: is, Old: from, Kind: plan.Copied}
		} else if rest, ok := strings.CutPrefix(l, "-"); ok {
			f = plan.File{Path: rest, Kind: plan.Deleted}
		} else if rest, ok := strings.CutPrefix(l, "+"); ok {
			f = plan.File{Path: rest, Kind: plan.Added}
		}
		out = append(out, f)
	}
	return out
}
