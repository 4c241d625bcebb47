package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/plan"
)

const (
	// maxPages is how many pages of pull requests a look reads. Beyond them a repository is not observed at all.
	maxPages = 50
	// maxKnownBases is how many bases a look asks for beforehand.
	maxKnownBases = 40
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
	bases       []string
	groups      []plan.Group
	asked       asked // of windowed branches, with the first page
}

// readPages reads the pull requests, page by page.
func (l *look) readPages(ctx context.Context) error {
	if l.f.now().After(l.mem.apart) {
		l.asked = l.mem.windowed.asked(l.f.now())
		l.asked.ruled = l.rulesDue(l.mem.windowed.entries)
	}
	p := page{
		owner: l.repo.Owner, name: l.repo.Name, size: l.mem.size(l.f.now()),
		numbers: l.ask.Pulls, bases: l.knownBases(), groups: l.ask.Groups, asked: l.asked,
	}
	for range maxPages {
		r, err := l.readPage(ctx, &p)
		if err != nil {
			return err
		}
		next, err := l.take(p, r)
		if err != nil || next == "" {
			return err
		}
		p.after, p.asked = next, asked{}
	}
	return transient(wordTooMany, nil) // fail closed: who sees only some may merge what the rest forbids
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
	for _, d := range l.ask.Debts {
		if d.For != plan.ForMove && string(d.Subject.Base) != l.mem.def {
			names = append(names, string(d.Subject.Base))
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
		r, err := l.c.ask(ctx, lookQuery(*p))
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
			p.asked, p.bases = l.asked, l.knownBases()
		case p.size <= 1 || p.numbers != nil:
			return reply{}, transient(wordPage, err)
		default:
			p.size /= 2
			l.mem.limit, l.mem.until = p.size, l.f.now().Add(sizeTTL)
		}
		l.f.repos.put(keyOf(l.repo), l.mem)
	}
}

// take keeps what a page says and gives the next page's cursor, "" after the last.
func (l *look) take(p page, r reply) (string, error) {
	var repo rawRepo
	if err := r.into(&repo); err != nil {
		return "", err
	}
	l.cost += r.cost
	pulls := repo.PullRequests
	if p.after == "" {
		if err := l.takeOnce(repo, r); err != nil {
			return "", err
		}
		if p.numbers != nil {
			return "", l.takeNumbers(p.numbers)
		}
	}
	if pulls == nil {
		return "", transient(wordEmpty, nil)
	}
	for _, raw := range pulls.Nodes {
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

// takeOnce keeps what the first page says of the repository and of what was asked for by alias.
func (l *look) takeOnce(repo rawRepo, r reply) error {
	if len(l.knownBases())+len(l.ask.Groups)+len(l.ask.Pulls) > 0 || !l.asked.empty() { // else nothing has an alias, and the answer is long
		if err := r.into(&l.named); err != nil {
			return err
		}
		delete(l.named, "pullRequests") // read already
	}
	l.once, l.skew = repo, r.skew()
	l.once.PullRequests = nil
	if repo.DefaultBranchRef != nil {
		if err := l.takeBase(repo.DefaultBranchRef); err != nil {
			return err
		}
	}
	if err := l.takeBases(l.named, l.knownBases()); err != nil {
		return err
	}
	return l.takeAsked(l.named, l.asked)
}

// takeNumbers keeps the pull requests that were asked for by number.
func (l *look) takeNumbers(numbers []int) error {
	for i := range numbers {
		var raw *rawPull
		if err := json.Unmarshal(l.named[fmt.Sprintf("p%d", i)], &raw); err != nil {
			return transient(wordUnreadable, err)
		}
		if raw == nil || raw.State != "OPEN" {
			continue
		}
		if err := l.takePull(raw); err != nil {
			return err
		}
	}
	return nil
}

// takePull keeps a pull request whose base still is there, and holds its base's tip against what other pages saw.
func (l *look) takePull(raw *rawPull) error {
	if raw == nil || raw.HeadRefOid == "" || raw.BaseRefName == "" {
		return transient(wordUnreadable, nil)
	}
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

// sawTip holds a tip against what was seen of the same branch before.
func (l *look) sawTip(branch plan.Branch, tip plan.SHA) error {
	if before, ok := l.tips[branch]; ok && before != tip {
		return errMoved
	}
	l.tips[branch] = tip
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
	for _, d := range l.ask.Debts {
		used[d.Subject.Base] = used[d.Subject.Base] || d.For != plan.ForMove
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
			if name != s.Default {
				m.bases = append(m.bases, string(name))
			}
		}
	}
	l.f.repos.put(keyOf(l.repo), m)
}
