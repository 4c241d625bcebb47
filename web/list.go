package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// list is the page of all repositories, or of one: what waits, the most urgent first, page by page.
type list struct {
	frame
	asked
	In, Link string // the one, and where GitHub shows it; "": all
	Looked   *moment
	Due      *moment
	Wake     *moment
	Green    int
	First    *moment // the end of the first of those
	Counts   []count
	Kinds    []plan.Kind
	Rows     []row
	Cut      bool // of some repository only the most urgent are shown
	Prev     string
	Next     string
	Windows  []windowRow
	Warnings []warning
	Repos    []repoRow
	Acts     []act
	Empty    bool // no repository is known
	MoreRepos, MoreWarnings, MoreWindows,
	Unkept int // verdicts that were not kept
}

// asked is what a request asks of a list.
type asked struct {
	Q, Repo, Verdict, Window string
	Page                     int // from 1
}

// readAsked reads it. A page that is no number is the first.
func readAsked(c *gin.Context) asked {
	a := asked{Q: text(c.Query("q")), Repo: text(c.Query("repo")), Verdict: text(c.Query("verdict")), Window: text(c.Query("window")), Page: 1}
	if n, err := strconv.Atoi(c.Query("page")); err == nil {
		a.Page = min(max(n, 1), maxPage)
	}
	return a
}

// text is what is asked for, as far as it is looked at.
func text(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxAsked)], "") }

// Filters reports whether anything is asked for but the first page of all.
func (a asked) Filters() bool { return a != asked{Page: a.Page} }

// with is the URL of another page, or of another verdict, of the same.
func (a asked) with(verdict string, page int) string {
	v := url.Values{}
	for key, value := range map[string]string{"q": a.Q, "repo": a.Repo, "verdict": verdict, "window": a.Window} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if page > 1 {
		v.Set("page", strconv.Itoa(page))
	}
	return "?" + v.Encode()
}

type count struct {
	Kind  plan.Kind
	N     int
	Means string
	URL   string
	Is    bool // it is what is asked for
}

type warning struct{ Repo, Place, Says string }

// repoRow is a repository in the list of all.
type repoRow struct {
	Name, Place string
	Counts      []count
	Looked      *moment
	Wake        *moment
	in          plan.Repo
	rank        int
}

// entry is a verdict with what it is ordered by. Its steps stay out.
type entry struct {
	in     plan.Repo
	pull   *plan.Verdict
	branch *plan.BranchVerdict
}

func (e entry) kind() plan.Kind {
	if e.pull != nil {
		return e.pull.Kind
	}
	return e.branch.Kind
}

func (e entry) until() time.Time {
	if e.pull != nil {
		return e.pull.Until
	}
	return e.branch.Until
}

// number is that of a pull request; branches come first.
func (e entry) number() int {
	if e.pull != nil {
		return e.pull.Subject.Pull
	}
	return -1
}

func (e entry) name() string {
	if e.pull != nil {
		return string(e.pull.Subject.Base)
	}
	return string(e.branch.Name)
}

// compare is the order of the list: what needs a person first, then what changes first.
func (e entry) compare(o entry) int {
	return cmp.Or(
		cmp.Compare(urgency(e.kind()), urgency(o.kind())), e.until().Compare(o.until()), e.in.Compare(o.in),
		cmp.Compare(e.number(), o.number()), strings.Compare(e.name(), o.name()),
	)
}

// answers reports whether an entry is asked for, whatever its verdict.
func (a asked) answers(e entry) bool {
	if a.Window != "" && !slices.Contains(e.windows(), a.Window) {
		return false
	}
	if a.Q == "" {
		return true
	}
	texts := []string{e.in.String(), e.name()}
	if v := e.pull; v != nil {
		texts = append(texts, "#"+strconv.Itoa(v.Subject.Pull), v.Title, string(v.Author), v.Text())
	} else {
		texts = append(texts, e.branch.Text())
	}
	q := strings.ToLower(a.Q)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), q) })
}

// names reports whether a repository is asked for.
func (a asked) names(in plan.Repo) bool {
	return a.Repo == "" || strings.Contains(strings.ToLower(in.String()), strings.ToLower(a.Repo))
}

// windows is what an entry needs, windows and others.
func (e entry) windows() (names []string) {
	if e.branch != nil {
		return []string{string(e.branch.Window)}
	}
	for _, r := range e.pull.Releases {
		names = append(names, string(r))
	}
	return names
}

// sketch is a list while repositories come in: no more than one plan of theirs is in memory, and of the rows those that may be shown.
type sketch struct {
	*site
	list
	now     time.Time
	one     bool // the page of one repository
	entries []entry
	counts  map[plan.Kind]int
	rows    int                       // that there are
	dues    map[plan.RepoKey]dueTimes // what is due when, by repository
	steps   int                       // changes of windows that may still be looked at
	bars    int                       // bytes of bars that may still be drawn
}

// add puts a repository into the list.
func (k *sketch) add(p store.Page) error {
	k.Empty = false
	if !k.names(p.Repo) {
		return nil
	}
	var mine []entry
	kinds := map[plan.Kind]int{}
	for _, v := range p.Verdicts {
		v.Why = nil
		mine = append(mine, entry{in: p.Repo, pull: &v})
	}
	for _, b := range p.Branches {
		b.Why, b.Commits = nil, nil
		mine = append(mine, entry{in: p.Repo, branch: &b})
	}
	if k.Calendar != nil {
		k.dues[p.Repo.Key()] = dueOf(mine, k.Calendar(p.Repo), k.now)
	}
	mine = slices.DeleteFunc(mine, func(e entry) bool { return !k.answers(e) })
	for _, e := range mine {
		k.counts[e.kind()]++
		kinds[e.kind()]++
	}
	k.about(p, kinds)
	mine = slices.DeleteFunc(mine, func(e entry) bool { return k.Verdict != "" && string(e.kind()) != k.Verdict })
	slices.SortFunc(mine, entry.compare)
	if !k.one && len(mine) > repoRows {
		mine, k.Cut = mine[:repoRows], true
	}
	k.rows += len(mine)
	k.entries = append(k.entries, mine...)
	if most := k.Page * listRows; len(k.entries) > 2*most {
		k.trim(most)
	}
	return nil
}

func (k *sketch) trim(most int) {
	slices.SortFunc(k.entries, entry.compare)
	if len(k.entries) > most {
		clear(k.entries[most:])
		k.entries = k.entries[:most]
	}
}

// about notes what is to be said of a repository itself.
func (k *sketch) about(p store.Page, kinds map[plan.Kind]int) {
	name, place := plain(p.Repo.String()), k.Root+PlaceOf(p.Repo, 0, "")
	if k.Lag != nil {
		if late := k.Lag(p.Repo); late != "" && len(k.Late) < maxTroubles {
			k.Late = append(k.Late, plain(p.Repo.String()+": "+late))
		}
	}
	for i, o := range p.Unpaid {
		if len(k.Unpaid) >= maxUnpaid {
			k.MoreUnpaid += len(p.Unpaid) - i
			break
		}
		k.Unpaid = append(k.Unpaid, k.unpaid(p.Repo, o, k.now))
	}
	k.MoreUnpaid += p.MoreUnpaid
	if !k.Filters() || k.one || k.Repo != "" {
		most := repoWarnings
		if k.one {
			most = maxWarnings
		}
		for i, says := range p.Warnings {
			if i >= most || len(k.Warnings) >= maxWarnings {
				k.MoreWarnings += len(p.Warnings) - i
				break
			}
			k.Warnings = append(k.Warnings, warning{name, place, plain(says)})
		}
	}
	k.Unkept += p.More + p.MoreBranches
	r := repoRow{in: p.Repo, Name: name, Place: place, Looked: optional(p.Looked, k.now), rank: len(byUrgency)}
	if p.Wake.After(k.now) {
		r.Wake = optional(p.Wake, k.now)
	}
	for i, kind := range byUrgency {
		if kinds[kind] > 0 {
			r.Counts = append(r.Counts, count{Kind: kind, N: kinds[kind]})
			r.rank = min(r.rank, i)
		}
	}
	if len(p.Warnings) > 0 {
		r.rank = min(r.rank, urgency(plan.Waiting))
	}
	if len(p.Unpaid) > 0 {
		r.rank = -1
	}
	k.Repos = append(k.Repos, r)
	if k.one {
		k.Link, k.Looked, k.Due, k.Wake = k.link(p.Repo), r.Looked, optional(p.Due, k.now), r.Wake
		k.Green, k.First = p.Green, optional(p.GreenUntil, k.now)
		for _, a := range p.Acts {
			k.Acts = append(k.Acts, k.act(p.Repo, a, k.now))
		}
	}
}

// done puts the list in order, and keeps the page that is asked for.
func (k *sketch) done() {
	k.Page = min(k.Page, max(1, (k.rows+listRows-1)/listRows))
	k.trim(k.Page * listRows)
	shown := k.entries[min((k.Page-1)*listRows, len(k.entries)):]
	var repos []plan.Repo // those of the rows first: their windows are what the rows wait for
	for _, e := range shown {
		k.Rows = append(k.Rows, k.row(e))
		repos = append(repos, e.in)
	}
	slices.SortStableFunc(k.Repos, func(a, b repoRow) int { return a.rank - b.rank })
	for _, r := range k.Repos[:min(len(k.Repos), maxRepos)] {
		repos = append(repos, r.in)
	}
	k.strip(repos)
	for _, kind := range byUrgency {
		k.Kinds = append(k.Kinds, kind)
		if is := string(kind) == k.Verdict; k.counts[kind] > 0 || is {
			other := string(kind)
			if is {
				other = ""
			}
			k.Counts = append(k.Counts, count{kind, k.counts[kind], wordsOfKind[kind], k.with(other, 1), is})
		}
	}
	if k.Page > 1 {
		k.Prev = k.with(k.Verdict, k.Page-1)
	}
	if k.rows > k.Page*listRows && k.Page < maxPage {
		k.Next = k.with(k.Verdict, k.Page+1)
	}
	if len(k.Repos) > maxRepos {
		k.MoreRepos, k.Repos = len(k.Repos)-maxRepos, k.Repos[:maxRepos]
	}
}

// strip is the windows of some repositories, as far as there is room: one that several have alike stands there once.
func (k *sketch) strip(repos []plan.Repo) {
	if k.Calendar == nil {
		return
	}
	done, at := map[plan.RepoKey]bool{}, map[windowRow]int{}
	for _, in := range repos {
		c := k.Calendar(in)
		if done[in.Key()] || c == nil {
			continue
		}
		done[in.Key()] = true
		for _, n := range namesOf(c, k.now) {
			if len(k.Windows) >= maxWindows || k.steps <= 0 {
				k.MoreWindows++
				continue
			}
			w, dues := windowOf(c, n, k.now, &k.steps), k.dues[in.Key()][n]
			i, is := at[w]
			if !is {
				i = len(k.Windows)
				at[w] = i
				k.Windows = append(k.Windows, w)
				if shown := &k.Windows[i]; k.bars > 0 {
					shown.Bar = barOf(c, n, k.now, &k.steps)
					k.bars -= shown.Bar.bytes()
				}
			}
			k.Windows[i].due(c.Zone(n), dues)
			if !k.one {
				k.Windows[i].in(plain(in.String()))
			}
		}
	}
}

// list draws what a source gives.
func (s *site) list(ctx context.Context, f frame, a asked, in *plan.Repo, sees store.Sight) (list, error) {
	now := s.Now()
	k := &sketch{
		site: s, list: list{frame: f, asked: a, Empty: true}, now: now, one: in != nil, counts: map[plan.Kind]int{}, dues: map[plan.RepoKey]dueTimes{}, steps: pageSteps, bars: barsBytes,
	}
	reading, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	var err error
	if in != nil {
		var p store.Page
		if p, err = s.see(reading, sees, *in); err != nil {
			return list{}, err
		}
		k.In = plain(p.Repo.String())
		_ = k.add(p) // it never fails
	} else if err = s.Source.Pages(reading, sees, k.add); err != nil && ctx.Err() == nil && errors.Is(reading.Err(), context.DeadlineExceeded) {
		k.Troubles, err = append(k.Troubles, fmt.Sprintf(saysSlow, len(k.Repos))), nil
		k.Empty = false
	}
	if err != nil {
		return list{}, err
	}
	k.done()
	return k.list, nil
}

// row is a line of the list.
type row struct {
	Repo, RepoPlace     string // on the page of all
	Name, Place         string
	Title, Author, Base string
	Age                 *moment
	SHA, New            string
	Kind                plan.Kind
	Reason              string
	Until               *moment
	Needs               string
	Waiting             int
	Oldest              *moment
}

func (k *sketch) row(e entry) row {
	zone := k.zone(e.in, e.windows(), e.until())
	r := row{Kind: e.kind(), Until: optionalIn(e.until(), k.now, zone)}
	if !k.one {
		r.Repo, r.RepoPlace = plain(e.in.String()), k.Root+PlaceOf(e.in, 0, "")
	}
	names := make([]string, 0, 2)
	for _, n := range e.windows() {
		names = append(names, plain(n))
	}
	r.Needs = strings.Join(names, ", ")
	if b := e.branch; b != nil {
		r.Name, r.Place, r.Base, r.Reason = plain(string(b.Name)), k.Root+PlaceOf(e.in, 0, b.Name), "from "+plain(string(b.From)), plain(b.Text())
		r.SHA, r.New, r.Waiting, r.Oldest = b.Old.Short(), b.New.Short(), b.Waiting, optional(b.Oldest, k.now)
		return r
	}
	v := e.pull
	r.Name, r.Title, r.Author, r.Age = saysTip, plain(v.Title), plain(string(v.Author)), optional(v.Opened, k.now)
	r.Base, r.SHA, r.Reason = plain(string(v.Subject.Base)), v.SHA.Short(), plain(v.Text())
	if n := v.Subject.Pull; n != 0 {
		r.Name, r.Place = fmt.Sprintf("#%d", n), k.Root+PlaceOf(e.in, n, "")
	}
	return r
}

// zone is that of the window of some names that opens at an instant, else of the first; UTC if none is known.
func (s *site) zone(in plan.Repo, names []string, at time.Time) *time.Location {
	var c *window.Calendar
	if s.Calendar != nil {
		c = s.Calendar(in)
	}
	if c == nil {
		return time.UTC
	}
	known := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !c.Has(window.Name(n)) })
	if len(known) == 0 {
		return time.UTC
	}
	i := slices.IndexFunc(known, func(n string) bool { return !c.At(window.Name(n), at.Add(-time.Second)).Releasable })
	return c.Zone(window.Name(known[max(i, 0)]))
}

// index answers with the list of all.
func (s *site) index(c *gin.Context) {
	a := readAsked(c)
	s.lists(c, a, nil)
}

// repository answers with that of one.
func (s *site) repository(c *gin.Context) {
	a := readAsked(c)
	a.Repo = ""
	s.lists(c, a, &plan.Repo{Owner: c.Param("owner"), Name: c.Param("repo")})
}

func (s *site) lists(c *gin.Context, a asked, in *plan.Repo) {
	root, title := "./", "sluice"
	if in != nil {
		root, title = "../", "sluice · "+plain(in.String())
	}
	f := s.frame(c, root, title)
	var some []plan.Repo
	if in != nil {
		some = []plan.Repo{*in}
	}
	sees, ok := s.admit(c, f, some...)
	if !ok {
		return
	}
	f.Person = s.personOf(c)
	whole := in == nil && !a.Filters() && a.Page == 1 && sees == nil // what everybody asks for, and gets alike
	var body []byte
	err := s.inTurn(c.Request.Context(), func(ctx context.Context) error {
		if whole && s.last != nil && s.Now().Sub(s.lastAt).Abs() < drawnFor {
			body = s.last
			return nil
		}
		l, err := s.list(ctx, f, a, in, sees)
		if err != nil {
			return err
		}
		for _, n := range l.Counts {
			l.Title += fmt.Sprintf(" · %d %s", n.N, n.Kind)
		}
		if body, err = s.drawn("list", l); err == nil && whole {
			s.last, s.lastAt = body, s.Now()
		}
		return err
	})
	s.reply(c, body, err, "list", func(wrong string) any { f.Wrong = wrong; return list{frame: f, asked: a} })
}
