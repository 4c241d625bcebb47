package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// document is the file as written, with defaults filled in: read, but not yet found to make sense as a whole.
type document struct {
	version  int
	mode     Mode
	zone     *time.Location // nil: not given
	windows  []window.Spec
	freezes  []window.Freeze
	layout   layoutText
	pulls    PullRequests
	clusters []graph.Root
	branches []Branch
	checks   Consistency
	override *Override
}

// layoutText is the file's layout section.
type layoutText struct {
	preset    layout.Preset
	window    string
	branches  []string
	rules     []ruleText
	flux      bool
	entries   []entryPointText
	unmatched releaseText
}

// ruleText is one rule of the layout.
type ruleText struct {
	paths   []string
	release releaseText
}

// releaseText is what a release says, a rule's or that of what is unmatched, in one of three forms. A list of branches is the third.
type releaseText struct {
	names    []string
	branches []string
}

// newDocument is the file that says nothing: all defaults.
func newDocument() *document {
	return &document{
		mode: Enforce, checks: defaultConsistency(),
		layout: layoutText{preset: layout.NoPreset, unmatched: releaseText{names: []string{wordIgnore}}},
		pulls: PullRequests{
			Live: Merge, Window: Merge, Method: MergeCommit, Checks: ChecksAll, Settle: 2 * time.Minute,
			HoldLabels: []string{"hold", "do-not-merge"}, OldestFirst: true, UpdateWhenDue: true,
		},
	}
}

// file is the table of the file's top-level keys; the tables below are of its sections. A key that is not in a table is
// an unknown key. docs/spec describes every one, and a test keeps it so.
func (d *document) file() kind {
	return section(
		key{"version", true, version(&d.version)},
		key{"mode", false, choice(&d.mode, Enforce, Observe)},
		key{"timezone", false, zone(&d.zone)},
		key{"windows", false, named(&d.windows, bounds{0, MaxWindows}, windowKey, windowValue)},
		key{"freezes", false, list(&d.freezes, bounds{0, MaxFreezes}, freezeValue)},
		key{"layout", false, d.layout.value()},
		key{"pull_requests", false, d.pulls.value()},
		key{"clusters", false, list(&d.clusters, bounds{0, MaxClusters}, clusterValue)},
		key{"branches", false, list(&d.branches, bounds{0, MaxBranches}, branchValue)},
		key{"consistency", false, d.checks.value()},
		key{"override", false, override(&d.override)},
	)
}

// windowKey is the name of a window; package window says which words are reserved.
func windowKey(w *window.Spec) kind {
	return text(&w.Name).pattern(namePattern).atMost(MaxName)
}

func windowValue(w *window.Spec) kind {
	w.Cutoff = window.DefaultCutoff
	return section(
		key{"description", false, text(&w.Description)},
		key{"open", false, text(&w.Open)},
		key{"close", false, text(&w.Close)},
		key{"duration", false, durationOf(wantHours, &w.Duration, time.Second, MaxDuration)},
		key{"nth", false, list(&w.Nth, bounds{1, 2 * MaxNth}, func(n *int) kind { return number(n, -MaxNth, MaxNth) })},
		key{"dates", false, list(&w.Dates, bounds{1, MaxDates}, spanValue)},
		key{"timezone", false, zone(&w.Zone)},
		key{"cutoff", false, duration(&w.Cutoff, 0, MaxCutoff)},
	)
}

func spanValue(s *window.Span) kind {
	return section(
		key{"from", true, moment(&s.From)},
		key{"until", true, moment(&s.Until)},
	)
}

func freezeValue(f *window.Freeze) kind {
	return section(
		key{"name", true, text(&f.Name).atMost(MaxName)},
		key{"from", true, moment(&f.Span.From)},
		key{"until", true, moment(&f.Span.Until)},
		key{"timezone", false, zone(&f.Zone)},
		key{"windows", false, list(&f.Windows, bounds{1, MaxWindows}, text[window.Name])},
		key{"reason", false, text(&f.Reason)},
	)
}

func (l *layoutText) value() kind {
	return section(
		key{"preset", false, choice(&l.preset, layout.NoPreset, layout.RTRW, layout.RTMW, layout.LiveWindow)},
		key{"window", false, text(&l.window)},
		key{"branches", false, list(&l.branches, bounds{1, MaxReleases}, branchGlob)},
		key{"rules", false, list(&l.rules, bounds{0, MaxRules}, ruleValue)},
		key{"flux", false, boolean(&l.flux)},
		key{"entrypoints", false, list(&l.entries, bounds{0, MaxEntryPoints}, entryPointValue)},
		key{"unmatched", false, release(&l.unmatched)},
	)
}

func ruleValue(t *ruleText) kind {
	return section(
		key{"paths", true, list(&t.paths, bounds{1, MaxPaths}, text[string])},
		key{"release", true, release(&t.release)},
	)
}

func (p *PullRequests) value() kind {
	labels, contexts := bounds{0, MaxLabels}, bounds{0, MaxLabels}
	k := section(
		key{"live", false, choice(&p.Live, Merge, Approve, Status)},
		key{"window", false, choice(&p.Window, Merge, Approve, Status)},
		key{"method", false, choice(&p.Method, MergeCommit, Squash, Rebase)},
		key{"mixed", false, either(&p.RejectMixed, "reject", "hold")},
		key{"checks", false, choice(&p.Checks, ChecksAll, ChecksRequired)},
		key{"checks_ignore", false, list(&p.ChecksIgnore, contexts, text[string])},
		key{"settle", false, duration(&p.Settle, 0, MaxSettle)},
		key{"approvals", false, number(&p.Approvals, 0, MaxApprovals)},
		key{"hold_labels", false, list(&p.HoldLabels, labels, text[string])},
		key{"require_labels", false, list(&p.RequireLabels, labels, text[string])},
		key{"order", false, either(&p.OldestFirst, "oldest", "ready")},
		key{"max_merges_per_opening", false, number(&p.MaxMergesPerOpening, 0, MaxMerges)},
		key{"update", false, either(&p.UpdateWhenDue, "when-due", "never")},
		key{"delete_branch", false, boolean(&p.DeleteBranch)},
	)
	read := k.read
	k.read = func(r *report, n *yaml.Node) {
		read(r, n)
		if p.Live != Approve && p.Window != Approve || p.Approvals > 0 || !r.sound("pull_requests") {
			return
		}
		if _, written := child(n, "approvals"); written == nil {
			r.fail(of(n), approvesUnasked())
		} else {
			r.warn(of(written), approvesUnread())
		}
	}
	return k
}

func clusterValue(c *graph.Root) kind {
	return section(
		key{"name", true, checked(&c.Name, clusterName).pattern(namePattern).atMost(MaxName)},
		key{"path", true, checked(&c.Path, treePath)},
		key{"branch", false, checked(&c.Branch, branchName)},
		key{"url", false, checked(&c.URL, repositoryURL)},
	)
}

func branchValue(b *Branch) kind {
	b.Checks = ChecksRequired
	return section(
		key{"name", true, checked(&b.Name, branchName)},
		key{"from", true, checked(&b.From, branchName)},
		key{"window", true, text(&b.Window)},
		key{"checks", false, choice(&b.Checks, ChecksNone, ChecksRequired, ChecksAll)},
	)
}

// override is the section by which somebody may release what is closed; without it nobody may.
func override(into **Override) kind {
	o := Override{Expires: defaultExpires, Approvals: 1}
	k := section(
		key{"by", true, list(&o.By, bounds{1, MaxGrantees}, granteeValue)},
		key{"expires", false, duration(&o.Expires, time.Minute, MaxExpires)},
		key{"approvals", false, number(&o.Approvals, 1, 2)},
	)
	read := k.read
	k.read = func(r *report, n *yaml.Node) {
		read(r, n)
		if o.people() < o.Approvals && r.sound("override") {
			r.fail(of(n), tooFewPeople(o.Approvals))
		}
		*into = &o
	}
	return k
}
