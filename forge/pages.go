package forge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

const (
	// maxPulls is how many pull requests a look reads. Beyond them a repository is not observed at all.
	maxPulls = 5000
	// maxKnownBases is how many bases a look asks for beforehand.
	maxKnownBases = 40
	// leastPage is the smallest page that is asked for whole. Where GitHub finds even that too heavy, pages are read thinly, and each
	// pull request by its number: so one that is too heavy alone is found, and spoils no other.
	leastPage = 25
	// sizeTTL is how long a page that proved too heavy for a repository stays smaller.
	sizeTTL = time.Hour
	// roomToGrow is how many pull requests more than last time a page has room for.
	roomToGrow = 10
)

// pageSizes are the pages that are asked for: the smallest with room, as GitHub's price goes by the page, not by what it
// holds.
var pageSizes = []int{25, 50, maxPage}

// memory is what is remembered of a repository from one look to the next.
type memory struct {
	bases []string  // that pull requests targeted
	count int       // open pull requests
	known bool      // count was seen
	limit int       // the largest page that GitHub could answer; 0: no bound
	until time.Time // for which limit counts
	cost  int       // points of the last look
	id    string    // of the repository, as mutations name it
	def   string    // the default branch

	windowed windowed  // of the default branch's file, as the last look had it
	apart    time.Time // until then windowed branches are not asked for with the page: it was too heavy
	bare     time.Time // nor are other bases than the default branch, and merge groups
	thin     time.Time // until then pages are read thinly
}

// weight of what is remembered, for which a repository of few branches is the unit.
func (m memory) weight() int { return 1 + (len(m.windowed.entries)+len(m.windowed.judged))/100 }

// size is how large the first page should be.
func (m memory) size(now time.Time) int {
	size := maxPage
	if m.known {
		for _, s := range pageSizes {
			if s >= m.count+roomToGrow {
				size = s
				break
			}
		}
	}
	if m.limit > 0 && now.Before(m.until) {
		size = min(size, m.limit)
	}
	return size
}

// page is one query for pull requests.
type page struct {
	owner, name string
	size        int
	after       string // "": the first page
	numbers     []int
	thin        bool // of each pull request only what it is
	bases       []string
	groups      []plan.Group
	merged      []int // what became of them is asked with the first page
	asked       asked // of windowed branches, with the first page
}

// readPages reads the pull requests, page by page.
func (l *look) readPages(ctx context.Context) error {
	now := l.f.now()
	bare := now.Before(l.mem.bare)
	if now.After(l.mem.apart) && !bare {
		l.asked = l.mem.windowed.asked(now)
		l.asked.ruled = l.rulesDue(l.mem.windowed.entries)
	}
	p := page{
		owner: l.repo.Owner, name: l.repo.Name, size: l.mem.size(now), numbers: l.ask.Pulls, thin: now.Before(l.mem.thin), asked: l.asked,
		merged: l.ask.Merged[:min(len(l.ask.Merged), MaxPulls)],
	}
	if p.thin {
		p.size = maxPage // without lists it costs next to nothing
	}
	if !bare {
		p.bases, p.groups = l.knownBases(), l.firstGroups()
	}
	for read := 0; read < maxPulls; read += p.size {
		r, err := l.readPage(ctx, &p)
		if err != nil {
			return err
		}
		next, err := l.take(ctx, p, r)
		if errors.Is(err, errThinly) {
			p.thin, p.size, l.mem.thin = true, maxPage, l.f.now().Add(sizeTTL)
			l.f.repos.put(keyOf(l.repo), l.mem)
			continue
		}
		if err != nil || next == "" {
			return err
		}
		p.after, p.asked = next, asked{}
	}
	return transient(wordTooMany, nil) // fail closed: who sees only some may merge what the rest forbids
}

// firstGroups are the merge groups that are asked for with the first page: those that were read the longest ago, or never.
func (l *look) firstGroups() []plan.Group {
	var first []plan.Group
	order := l.inTurn(partGroup, indices(l.ask.Groups), func(i int) string { return string(l.ask.Groups[i].Head) })
	for _, i := range order[:min(len(order), maxGroups)] {
		first = append(first, l.ask.Groups[i])
	}
	return first
}

// knownBases are the bases to ask for beforehand: those that windowed branches follow, those of the last look and of the groups.
func (l *look) knownBases() []string {
	var names []string
	for _, source := range l.asked.lines {
		if source != l.asked.defName {
			names = append(names, source)
		}
	}
	names = append(names, l.mem.bases...)
	for _, g := range l.ask.Groups {
		names = append(names, string(g.Base))
	}
	for _, name := range l.owing {
		if string(name) != l.mem.def {
			names = append(names, string(name))
		}
	}
	return unique(names, maxKnownBases)
}

// unique gives the first n different names.
func unique(names []string, n int) []string {
	seen := map[string]bool{}
	var out []string
	for _, name := range names {
		if !seen[name] && len(out) < n {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// readPage reads one page, and a smaller one each time GitHub finds it too heavy. The size is remembered.
func (l *look) readPage(ctx context.Context, p *page) (reply, error) {
	for {
		r, err := l.c.askParts(ctx, lookQuery(*p))
		if l.f.knowsNoRules(err, p.asked) {
			l.asked.ruled, p.asked.ruled = nil, nil
			continue
		}
		if err == nil || !errors.Is(err, errHeavy) || ctx.Err() != nil {
			return r, err
		}
		switch {
		case len(p.asked.ruled) > 0: // they come once in a while: only they are read apart
			l.asked.ruled, p.asked.ruled = nil, nil
		case !p.asked.empty(): // they may have been what was too heavy: they are read apart
			l.asked, l.mem.apart = asked{}, l.f.now().Add(sizeTTL)
			p.asked = l.asked
			if p.bases != nil {
				p.bases = l.knownBases()
			}
		case !p.thin && p.numbers == nil && p.size/2 >= leastPage:
			p.size /= 2
			l.mem.limit, l.mem.until = p.size, l.f.now().Add(sizeTTL)
		case !p.thin:
			p.thin, p.size, l.mem.thin = true, maxPage, l.f.now().Add(sizeTTL)
		case len(p.bases)+len(p.groups) > 0:
			p.bases, p.groups, l.mem.bare = nil, nil, l.f.now().Add(sizeTTL)
		default:
			return reply{}, transient(wordPage, err)
		}
		l.f.repos.put(keyOf(l.repo), l.mem)
	}
}

// take keeps what a page says and gives the next page's cursor, "" after the last.
func (l *look) take(ctx context.Context, p page, r reply) (string, error) {
	var repo rawRepo
	if err := r.into(&repo); err != nil {
		return "", err
	}
	l.cost += r.cost
	pulls := repo.PullRequests
	if pulls != nil && !p.thin && slices.ContainsFunc(pulls.Nodes, (*rawPull).unusable) {
		return "", errThinly
	}
	if p.after == "" {
		if err := l.takeOnce(ctx, p, repo, r); err != nil {
			return "", err
		}
		if p.numbers != nil {
			return "", l.takeNumbers(p)
		}
	}
	if pulls == nil {
		return "", transient(wordEmpty, nil)
	}
	for i, raw := range pulls.Nodes {
		if raw.unusable() {
			return "", transient(wordUnreadable, nil)
		}
		raw.thin = p.thin || r.holes[entry(i)] != nil
		if err := l.takePull(raw); err != nil {
			return "", err
		}
	}
	if !pulls.PageInfo.HasNextPage {
		return "", nil
	}
	if pulls.PageInfo.EndCursor == "" || pulls.PageInfo.EndCursor == p.after {
		return "", transient(wordUnreadable, nil) // a cursor that does not move would be read for ever
	}
	return pulls.PageInfo.EndCursor, nil
}

// errThinly says that an entry of a page is not shown at all: a thin page may tell which pull request it is.
var errThinly = errors.New("an entry is not shown")

// unusable reports whether an entry of a page does not tell what pull request it is.
func (raw *rawPull) unusable() bool {
	return raw == nil || raw.HeadRefOid == "" || raw.BaseRefName == ""
}

// takeOnce keeps what the first page says of the repository and of what was asked for by alias.
func (l *look) takeOnce(ctx context.Context, p page, repo rawRepo, r reply) error {
	if len(p.bases)+len(p.groups)+len(p.numbers)+len(p.merged) > 0 || !p.asked.empty() { // else nothing has an alias, and the answer is long
		var err error
		if l.named, err = r.aliases(); err != nil {
			return err
		}
		delete(l.named.raw, "pullRequests") // read already
	}
	l.once, l.skew = repo, r.skew()
	l.once.PullRequests = nil
	if repo.DefaultBranchRef != nil {
		if err := l.takeBase(repo.DefaultBranchRef); err != nil {
			return err
		}
	}
	if err := l.takeBases(ctx, l.named, p.bases); err != nil {
		return err
	}
	for i, n := range p.merged {
		l.takeClosed(l.named, fmt.Sprintf("m%d", i), n)
	}
	heads := make([]plan.SHA, len(p.groups))
	for i, g := range p.groups {
		heads[i] = g.Head
	}
	if err := l.takeHeads(ctx, l.named, heads); err != nil {
		return err
	}
	return l.takeAsked(ctx, l.named, p.asked)
}

// takeNumbers keeps the pull requests that were asked for by number. One that GitHub does not show, or that is not open, is left out.
func (l *look) takeNumbers(p page) error {
	for i := range p.numbers {
		raw, err := find[rawPull](l.named, fmt.Sprintf("p%d", i))
		if err != nil || raw.unusable() || raw.State != "OPEN" {
			continue
		}
		raw.thin = p.thin
		if err := l.takePull(raw); err != nil {
			return err
		}
	}
	return nil
}

// takePull keeps a pull request whose base still is there, and holds its base's tip against what other pages saw.
func (l *look) takePull(raw *rawPull) error {
	if raw.BaseRef == nil || raw.BaseRef.Target == nil || l.once.IsArchived {
		return nil // fail closed: nothing is decided for a pull request whose base is gone; GitHub closes it itself
	}
	if err := l.sawTip(plan.Branch(raw.BaseRefName), plan.SHA(raw.BaseRef.Target.Oid)); err != nil {
		return err
	}
	if l.raws[raw.Number] != nil {
		return errMoved // it stands on two pages
	}
	l.raws[raw.Number] = raw
	l.pulls = append(l.pulls, raw)
	return nil
}

// sawTip holds a tip against what was seen of the same branch before. Whoever may push to a branch can move it all the time: after
// the second try it is that branch that is unknown. The default branch is the repository's own.
func (l *look) sawTip(branch plan.Branch, tip plan.SHA) error {
	if before, ok := l.tips[branch]; ok && before != tip {
		if !l.final || l.once.DefaultBranchRef == nil || string(branch) == l.once.DefaultBranchRef.Name {
			return errMoved
		}
		l.lose(branch, plan.Unread{Reason: wordBaseMoved, Passing: true})
		l.askAgain(l.f.now().Add(partFirst))
	}
	l.tips[branch] = tip
	return nil
}

// lose notes that a base could not be read.
func (l *look) lose(branch plan.Branch, u plan.Unread) { l.lost[branch] = u }

// readNumbered reads by their numbers the pull requests that came thinly. One that is too heavy alone, or that GitHub does not show
// whole, is unknown.
func (l *look) readNumbered(ctx context.Context) error {
	var numbers []int
	for _, raw := range l.pulls {
		if !raw.thin {
			continue
		}
		if raw.unread = l.rests(l.headKey(raw.HeadRefOid, raw.BaseRefName)); !raw.unread.Is() {
			numbers = append(numbers, raw.Number)
		}
	}
	if err := inHalves(numbers, MaxPulls, func(some []int) error { return l.readSome(ctx, some) }); err != nil {
		return err
	}
	var heads []plan.SHA
	l.pulls = slices.DeleteFunc(l.pulls, func(raw *rawPull) bool {
		if raw.thin && raw.unread.Is() {
			heads = append(heads, plan.SHA(raw.HeadRefOid))
		}
		return raw.State != "OPEN"
	})
	return l.readHeads(ctx, heads) // a success of ours may stand there
}

// readSome reads some pull requests by their numbers.
func (l *look) readSome(ctx context.Context, some []int) error {
	r, err := l.c.askParts(ctx, pullsQuery(l.repo.Owner, l.repo.Name, some))
	if l.divides(ctx, err, len(some)) {
		return err
	}
	var named answers
	if err == nil {
		l.cost += r.cost
		named, err = r.aliases()
	}
	for i, n := range some {
		thin := l.raws[n]
		var full *rawPull
		bad := err
		if bad == nil {
			full, bad = find[rawPull](named, fmt.Sprintf("p%d", i))
		}
		if bad == nil && full.unusable() {
			bad = transient(wordEmpty, nil)
		}
		if bad != nil {
			var ends error
			if thin.unread, ends = l.failed(ctx, l.headKey(thin.HeadRefOid, thin.BaseRefName), whatPull, bad); ends != nil {
				return ends
			}
			continue
		}
		if *thin = *full; full.BaseRef == nil || full.BaseRef.Target == nil {
			thin.State = "" // as in takePull
			continue
		}
		if err := l.sawTip(plan.Branch(full.BaseRefName), plan.SHA(full.BaseRef.Target.Oid)); err != nil {
			return err
		}
	}
	return nil
}

// used are the bases of the pull requests and groups, and the default branch.
func (l *look) used() map[plan.Branch]bool {
	used := map[plan.Branch]bool{}
	if l.once.DefaultBranchRef != nil {
		used[plan.Branch(l.once.DefaultBranchRef.Name)] = true
	}
	for _, p := range l.pulls {
		used[plan.Branch(p.BaseRefName)] = true
	}
	for _, g := range l.ask.Groups {
		used[g.Base] = true
	}
	for _, name := range l.owing {
		used[name] = true
	}
	return used
}

// remember keeps for the next look what makes it cheaper.
func (l *look) remember(s plan.Snapshot) {
	m, _ := l.f.repos.get(keyOf(l.repo))
	m.cost, m.id, m.def, m.windowed = l.cost, l.once.ID, string(s.Default), l.windowed
	if l.ask.Pulls == nil {
		m.count, m.known, m.bases = len(s.Pulls), true, nil
		for name := range s.Bases {
			if name != s.Default && !l.lost[name].Is() {
				m.bases = append(m.bases, string(name))
			}
		}
	}
	l.f.repos.put(keyOf(l.repo), m)
}
