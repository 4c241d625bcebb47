package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxPulls is how many pull requests a look reads. Beyond them a repository is not observed at all.
	maxPulls = 5000
	// maxKnownBases is how many bases a look asks for beforehand.
	maxKnownBases = 40
	// leastPage is how long a page is once GitHub found one too heavy, and leastTTL how long they stay so at most; leastFirst is how long after the first: it may have
	// been a minute's trouble at GitHub, which makes a repository's looks three times as dear.
	leastPage  = 30
	leastTTL   = time.Hour
	leastFirst = time.Minute
	// roomToGrow is how many pull requests more than last time the first page has room for: GitHub's price goes by the page, not by what
	// it holds.
	roomToGrow = 10
)

// lastLook is what of the last look at a repository makes the next one cheaper.
type lastLook struct {
	bases []string // that pull requests targeted, those of most first
	pulls []int    // open ones
	cost  int      // points of the last look
	def   string   // the default branch

	heavy form          // pages have this form, or a lighter one, since one was too heavy
	light time.Time     // until then
	lasts time.Duration // how long that was
}

// form is how much is asked for with a page.
type form int

// What a page has not with it is read apart.
const (
	wholePage form = iota // all that a look needs, as far as it is known beforehand
	smallPage             // few pull requests, without details, and of the rest the default branch alone
	barePage              // of each no more than which it is: what is too heavy of one is then found by its number, and is unknown by itself
)

// form is that of the pages of a look.
func (m lastLook) form(now time.Time) form {
	if now.Before(m.light) {
		return m.heavy
	}
	return wholePage
}

// page is one query for pull requests.
type page struct {
	owner, name string
	listed      bool   // all open ones are listed, so many of them after a cursor
	parts       string // of each listed one
	size        int
	after       string    // "": the first page
	pulls       []pullAsk // by number
	own         []plan.Branch
	bases       []string
	groups      []plan.Group
	merged      []int        // what became of them is asked with the first page
	forgotten   bool         // the latest that are not open are listed, too
	asked       branches.Ask // of windowed branches, with the first page
	form        form
}

// as is the page in a form. A pull request that was asked for by number stays, with its identity alone.
func (p page) as(f form) page {
	if p.form = f; f == wholePage {
		return p
	}
	p.forgotten, p.asked, p.bases, p.groups = false, branches.Ask{}, nil, nil
	if p.size, p.parts = leastPage, partThin; f == barePage {
		p.parts = partBare
	}
	if p.listed {
		p.pulls = nil
	}
	for i := range p.pulls {
		p.pulls[i].parts = partBare
	}
	return p
}

// wholePull is all that is asked of a pull request.
const wholePull = partThin + " " + partDetail + " " + partOwn

// firstPage is the page that a look begins with: a small one in full where that is all there is, else a large one without details.
func (l *observation) firstPage(now time.Time) page {
	p := page{
		owner: l.Repo.Owner, name: l.Repo.Name, listed: l.ask.Pulls == nil, parts: partThin, own: l.own, asked: l.asked,
		merged: l.ask.Merged[:min(len(l.ask.Merged), MaxPulls)], bases: l.knownBases(), groups: l.firstGroups(), forgotten: l.ask.Forgotten,
	}
	p.pulls, _ = l.wanted(l.ask.Pulls)
	for i := range p.pulls {
		p.pulls[i].parts = partThin + " " + p.pulls[i].parts
	}
	switch {
	case p.listed && l.expected() < fewPulls:
		p.parts, p.size = wholePull, fewPulls
	case p.listed:
		p.size = min(maxPage, max(leastPage, l.expected()+roomToGrow))
		p.pulls = l.ahead()
	}
	return p.as(l.last.form(now))
}

// expected is how many pull requests are open, as far as the last look and what is asked for in full show.
func (l *observation) expected() int {
	n := len(l.last.pulls)
	for _, asked := range unique(l.ask.Full, MaxPulls) {
		if !slices.Contains(l.last.pulls, asked) {
			n++
		}
	}
	return n
}

// readPages reads the pull requests, page by page.
func (l *observation) readPages(ctx context.Context) error {
	now := l.Now()
	if l.last.form(now) == wholePage {
		l.asked = l.FirstAsk()
	}
	for _, base := range unique(append([]string{l.last.def}, l.last.bases...), maxOwn) {
		if base != "" {
			l.own = append(l.own, plan.Branch(base))
		}
	}
	p := l.firstPage(now)
	for read := 0; read < maxPulls; {
		r, err := l.readPage(ctx, &p)
		if err != nil {
			return err
		}
		next, err := l.keepPage(ctx, p, r)
		if errors.Is(err, errThinly) {
			p = l.lighter(p)
			continue
		}
		if err != nil || next == "" {
			return err
		}
		read += p.size
		p.after, p.asked, p.pulls = next, branches.Ask{}, nil
		if p.parts == wholePull { // the others are new too: their details come with them, not after them
			if p.size = MaxPulls; l.total > read {
				p.size = min(MaxPulls, l.total-read)
			}
		} else {
			p.size = maxPage
		}
		p = p.as(p.form)
	}
	return client.NewTransient(wordTooMany, nil) // fail closed: who sees only some may merge what the rest forbids
}

// firstGroups are the merge groups that are asked for with the first page: those that were read the longest ago, or never.
func (l *observation) firstGroups() []plan.Group {
	order := look.InTurn(l.Look, partGroup, l.ask.Groups, func(g plan.Group) string { return string(g.Head) })
	return order[:min(len(order), maxGroups)]
}

// knownBases are the bases to ask for beforehand: those that windowed branches follow, those of the last look and of the groups.
func (l *observation) knownBases() []string {
	names := slices.Concat(l.asked.Others(), l.last.bases)
	for _, g := range l.ask.Groups {
		names = append(names, string(g.Base))
	}
	for _, name := range l.owing {
		if string(name) != l.last.def {
			names = append(names, string(name))
		}
	}
	return unique(names, maxKnownBases)
}

// unique gives the first n different ones.
func unique[T comparable](names []T, n int) []T {
	seen := map[T]bool{}
	var out []T
	for _, name := range names {
		if !seen[name] && len(out) < n {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// readPage reads one page, and asks for less each time that GitHub finds it too heavy.
func (l *observation) readPage(ctx context.Context, p *page) (client.Reply, error) {
	for {
		r, err := l.Client.AskParts(ctx, lookQuery(*p).Operation())
		switch {
		case err == nil || !errors.Is(err, client.ErrHeavy) || ctx.Err() != nil:
			return r, err
		case p.form == barePage || p.form == smallPage && !p.listed:
			return client.Reply{}, client.NewTransient(wordPage, err)
		}
		*p = l.lighter(*p)
	}
}

// lighter is a page in the next form. That is remembered, unless what comes once in a while may have been what was too heavy.
func (l *observation) lighter(p page) page {
	next := p.as(p.form + 1)
	if !p.forgotten && !p.asked.Seldom() {
		if now := l.Now(); now.Sub(l.last.light) < leastTTL {
			l.last.lasts = min(2*l.last.lasts, leastTTL)
		} else {
			l.last.lasts = leastFirst
		}
		l.last.heavy, l.last.light = next.form, l.Now().Add(l.last.lasts)
		keptLook.Put(l.Memory, struct{}{}, l.last)
	}
	l.asked = next.asked
	return next
}

// listName is what the list of pull requests is called.
const listName = "pullRequests"

// keepPage keeps what a page says and gives the next page's cursor, "" after the last.
func (l *observation) keepPage(ctx context.Context, p page, r client.Reply) (string, error) {
	var pulls *look.Connection[*rawPull]
	if p.listed {
		var err error
		if pulls, err = client.Find[look.Connection[*rawPull]](r.Aliases(), listName); err != nil {
			return "", err
		}
		delete(r.Repository, listName) // it is long, and decoded
	}
	var repo rawRepo
	if err := r.Into(&repo); err != nil {
		return "", err
	}
	l.Cost += r.Cost
	if pulls != nil && p.parts == wholePull && slices.ContainsFunc(pulls.Nodes, (*rawPull).unusable) {
		return "", errThinly
	}
	if p.after == "" {
		if err := l.keepOnce(ctx, p, repo, r); err != nil {
			return "", err
		}
		if err := l.keepNumbers(p); err != nil {
			return "", err
		}
	}
	if !p.listed {
		return "", nil
	}
	if pulls == nil {
		return "", client.Empty()
	}
	if p.after == "" {
		l.total = pulls.TotalCount
	}
	l.forgotten = nil // what is closed before the last page is read would be on neither list
	if ended, err := client.Find[look.Connection[rawClosure]](r.Aliases(), forgottenAlias); p.forgotten && err == nil {
		l.forgotten = ended
	}
	for i, raw := range pulls.Nodes {
		if raw.unusable() {
			return "", client.Unreadable(nil)
		}
		raw.holed = r.Holes[client.Entry(i)] != nil || p.parts == partBare
		if err := l.keepPull(raw, p.parts == wholePull && !raw.holed); err != nil {
			return "", err
		}
	}
	if !pulls.PageInfo.HasNextPage {
		return "", nil
	}
	if pulls.PageInfo.EndCursor == "" || pulls.PageInfo.EndCursor == p.after {
		return "", client.Unreadable(nil) // a cursor that does not move would be read for ever
	}
	return pulls.PageInfo.EndCursor, nil
}

// errThinly says that an entry of a page is not shown at all: a thin page may show which pull request it is.
var errThinly = errors.New("an entry is not shown")

// unusable reports whether an entry of a page does not show which pull request it is.
func (raw *rawPull) unusable() bool {
	return raw == nil || raw.HeadRefOid == "" || raw.BaseRefName == ""
}

// keepOnce keeps what the first page says of the repository and of what was asked for by alias.
func (l *observation) keepOnce(ctx context.Context, p page, repo rawRepo, r client.Reply) error {
	l.once, l.named, l.skew = repo, r.Aliases(), r.Skew()
	var err error
	if l.frozen, err = repo.frozen(); err != nil {
		return err
	}
	if repo.DefaultBranchRef != nil {
		l.Home = plan.Branch(repo.DefaultBranchRef.Name)
		if err := l.KeepBase(repo.DefaultBranchRef); err != nil {
			return err
		}
	}
	if err := look.EachFound(l.named, nil, "b", p.bases, l.KeepNamed(ctx)); err != nil {
		return err
	}
	for i, n := range p.merged {
		l.closedOf(l.named, fmt.Sprintf("m%d", i), n)
	}
	if err := look.EachFound(l.named, nil, "g", headsOf(p.groups), l.keepHead(ctx)); err != nil {
		return err
	}
	return l.KeepAsked(ctx, l.named, nil, p.asked)
}

// keepNumbers keeps the pull requests that were asked for by number: of those that are listed too, the details. One that GitHub does not
// show, or that is not open, is left out.
func (l *observation) keepNumbers(p page) error {
	for i, w := range p.pulls {
		raw, err := client.Find[rawPull](l.named, fmt.Sprintf("p%d", i))
		if err != nil || raw.unusable() || raw.State != "OPEN" || raw.Number != w.number {
			continue
		}
		if !p.listed {
			raw.holed = w.parts == partBare
			if err := l.keepPull(raw, w.parts == wholePull); err != nil {
				return err
			}
			continue
		}
		if raw.BaseRef == nil || raw.BaseRef.Target == nil {
			continue
		}
		if err := l.SawTip(plan.Branch(raw.BaseRefName), plan.SHA(raw.BaseRef.Target.Oid)); err != nil {
			return err
		}
		l.hasDetails(raw)
		l.full[raw.Number] = raw
	}
	return nil
}

// keepPull keeps a pull request whose base still is there, and holds its base's tip against what other pages saw.
func (l *observation) keepPull(raw *rawPull, detailed bool) error {
	if raw.BaseRef == nil || raw.BaseRef.Target == nil {
		return nil // fail closed: nothing is decided for a pull request whose base is gone; GitHub closes it itself
	}
	if err := l.SawTip(plan.Branch(raw.BaseRefName), plan.SHA(raw.BaseRef.Target.Oid)); err != nil {
		return err
	}
	if l.raws[raw.Number] != nil {
		return branches.ErrMoved // it stands on two pages
	}
	raw.named(l.own)
	raw.thin = true
	if detailed {
		l.hasDetails(raw)
	}
	l.raws[raw.Number] = raw
	l.pulls = append(l.pulls, raw)
	return nil
}

// used are the bases of the pull requests and groups, and the default branch.
func (l *observation) used() map[plan.Branch]bool {
	used := map[plan.Branch]bool{}
	if l.Home != "" {
		used[l.Home] = true
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

// rememberLook keeps for the next look what makes it cheaper.
func (l *observation) rememberLook(s plan.Snapshot) {
	l.Remember(l.once.ID)
	for _, n := range l.earlierRead {
		l.HasTurn(partEarlier, fmt.Sprint(n))
	}
	m, _ := keptLook.Get(l.Memory, struct{}{})
	m.cost, m.def = l.Cost, string(s.Default)
	if l.ask.Pulls == nil {
		m.pulls, m.bases = nil, nil
		targets := map[string]int{}
		for _, p := range s.Pulls {
			m.pulls = append(m.pulls, p.Number)
			targets[string(p.Base)]++
		}
		for name := range s.Bases {
			if name != s.Default && !l.Unread[name].Is() {
				m.bases = append(m.bases, string(name))
			}
		}
		slices.SortFunc(m.bases, func(a, b string) int { return cmp.Or(cmp.Compare(targets[b], targets[a]), cmp.Compare(a, b)) })
	}
	keptLook.Put(l.Memory, struct{}{}, m)
}

// LookCost is how many of GraphQL's points of an hour the last look at a repository cost; 1 before the first.
func (f *Forge) LookCost(repo plan.Repo) int {
	m, _ := keptLook.Get(f.memory.Of(repo), struct{}{})
	return max(m.cost, 1)
}
