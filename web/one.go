package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// oneActs is how many acts the page of a pull request, or of a branch, has.
const oneActs = 20

// one is a pull request or a windowed branch on a page of its own: why it waits, until when, and what was done.
type one struct {
	frame
	In, Place string // its repository, and that one's page
	Way       string // its own page, from Root on
	Name      string // #7, or the branch
	Link      string // where GitHub shows it
	Looked    *moment
	Heading   string // the title of a pull request
	Author    string
	Age       *moment
	Base, SHA string
	New       string // where a branch goes next
	Kind      plan.Kind
	Reason    string
	Until     *moment
	Windows   []windowRow // those that it needs
	Others    []string    // what it needs that is no window
	At        string      // as it was asked for
	Then      string      // what its windows say at that instant
	Release   string      // the comment that releases it; "": none does
	Releases  string      // whose, and what
	File      string      // where the rules of its base stand
	Frees, On string      // the commit, and the pull request on which it is written; "": somebody has to choose one
	Facts     []stepRow   // of the whole
	Steps     []stepRow   // of a path, a Flux Kustomization, a commit
	Commits   []commit
	Unnamed   int // commits that wait beside them
	Oldest    *moment
	Branch    bool
	History   string
	Acts      []act
}

// stepRow is a step, and the line of the file that says so.
type stepRow struct{ About, Says, Link string }

// pull answers with the page of a pull request.
func (s *site) pull(c *gin.Context) {
	n, err := strconv.Atoi(c.Param("number"))
	if err != nil || n < 0 {
		n = 0 // there is none
	}
	s.oneOf(c, n, "", "../../../")
}

// branch answers with that of a windowed branch.
func (s *site) branch(c *gin.Context) {
	name := strings.TrimPrefix(c.Param("name"), "/")
	s.oneOf(c, 0, plan.Branch(name), strings.Repeat("../", 3+strings.Count(name, "/")))
}

func (s *site) oneOf(c *gin.Context, pull int, branch plan.Branch, root string) {
	in := plan.Repo{Owner: c.Param("owner"), Name: c.Param("repo")}
	o := one{In: plain(in.String()), Branch: branch != "", Name: plain(string(branch)), At: c.Query("at"), Place: root + PlaceOf(in, 0, ""), Way: PlaceOf(in, pull, branch)}
	if !o.Branch {
		o.Name = fmt.Sprintf("#%d", pull)
	}
	o.frame = s.frame(c, root, "sluice · "+o.In+" "+o.Name)
	sees, ok := s.admit(c, o.frame, in)
	if !ok {
		return
	}
	o.Person = s.personOf(c)
	var body []byte
	err := s.inTurn(c.Request.Context(), func(ctx context.Context) error {
		page, err := s.see(ctx, sees, in)
		if err == nil && pull == 0 && branch == "" {
			err = store.ErrUnknown
		}
		if err == nil {
			err = s.explain(ctx, &o, page, pull, branch)
		}
		if err == nil {
			body, err = s.drawn("one", o)
		}
		return err
	})
	s.reply(c, body, err, "one", func(wrong string) any { o.Wrong = wrong; return o })
}

// see is what is known of a repository, for who may see some.
func (s *site) see(ctx context.Context, sees store.Sight, in plan.Repo) (store.Page, error) {
	page, err := s.Source.Page(ctx, in.Owner, in.Name)
	if err == nil && sees != nil && !sees[page.Repo.ID] {
		return store.Page{}, store.ErrUnknown
	}
	return page, err
}

// explain reads what is known of a pull request, or of a branch.
func (s *site) explain(ctx context.Context, o *one, page store.Page, pull int, branch plan.Branch) error {
	now, in := s.Now(), page.Repo
	o.In, o.Looked = plain(in.String()), optional(page.Looked, now)
	if s.Lag != nil {
		if late := s.Lag(in); late != "" {
			o.Late = append([]string{plain(late)}, o.Late...)
		}
	}
	if branch != "" {
		if i := slices.IndexFunc(page.Branches, func(v plan.BranchVerdict) bool { return v.Name == branch }); i >= 0 {
			s.ofBranch(o, page, page.Branches[i])
		}
	} else if i := slices.IndexFunc(page.Verdicts, func(v plan.Verdict) bool { return pull > 0 && v.Subject.Pull == pull }); i >= 0 {
		s.ofPull(o, page, page.Verdicts[i])
	}
	acts, err := s.Source.History(ctx, store.Asked{Owner: in.Owner, Name: in.Name, Sight: store.Only(in.ID), Pull: pull, Branch: branch, Statuses: true, Newest: true, Most: oneActs})
	if err != nil && !errors.Is(err, store.ErrUnknown) {
		return err
	}
	for _, a := range acts {
		o.Acts = append(o.Acts, s.act(in, a, now))
	}
	if o.Kind == "" && len(acts) == 0 {
		return store.ErrUnknown
	}
	if o.Kind == "" {
		o.Wrong = saysNone
	} else {
		o.Title += " · " + string(o.Kind)
	}
	o.History = o.Root + "history?" + historyQuery(o.In, pull, branch)
	return nil
}

func (s *site) ofPull(o *one, page store.Page, v plan.Verdict) {
	now, in := s.Now(), page.Repo
	o.Link = s.link(in, "pull", strconv.Itoa(v.Subject.Pull))
	o.Heading, o.Author, o.Age = plain(v.Title), plain(string(v.Author)), optional(v.Opened, now)
	o.Base, o.SHA, o.Kind, o.Reason = plain(string(v.Subject.Base)), v.SHA.Short(), v.Kind, plain(v.Text())
	for _, u := range page.Unpaid {
		if n, approves := u.Debt.Context.Approves(); u.Debt.SHA == v.SHA || approves && n == v.Subject.Pull {
			o.Unpaid = append(o.Unpaid, s.unpaid(in, u, now))
		}
	}
	s.needs(o, page, v.Releases)
	o.Until = optionalIn(v.Until, now, s.zone(in, entry{pull: &v}.windows(), v.Until))
	s.steps(o, in, v.Subject.Base, v.Why)
	o.Frees, o.On = o.SHA, strconv.Itoa(v.Subject.Pull)
}

func (s *site) ofBranch(o *one, page store.Page, v plan.BranchVerdict) {
	now, in := s.Now(), page.Repo
	o.Link = s.link(in, "tree", string(v.Name))
	o.Base, o.SHA, o.New, o.Kind, o.Reason = plain(string(v.From)), v.Old.Short(), v.New.Short(), v.Kind, plain(v.Text())
	s.needs(o, page, []layout.Release{layout.Release(v.Window)})
	o.Until = optionalIn(v.Until, now, s.zone(in, []string{string(v.Window)}, v.Until))
	s.steps(o, in, v.From, v.Why)
	o.Frees = o.New
	o.Unnamed, o.Oldest = max(0, v.Waiting-len(v.Commits)), optional(v.Oldest, now)
	for _, c := range v.Commits {
		shown := commit{SHA: c.SHA.Short(), Link: s.link(in, "commit", string(c.SHA)), Subject: plain(c.Subject), At: momentOf(c.At, now, time.UTC)}
		if c.Head != nil && c.Head.Pull > 0 {
			o.On = cmp.Or(o.On, strconv.Itoa(c.Head.Pull))
			shown.Pull, shown.Place = fmt.Sprintf("#%d", c.Head.Pull), s.link(in, "pull", strconv.Itoa(c.Head.Pull))
		}
		o.Commits = append(o.Commits, shown)
	}
}

// steps puts each step where it belongs.
func (s *site) steps(o *one, in plan.Repo, base plan.Branch, why []plan.Step) {
	o.File = s.link(in, "blob", string(base), config.File)
	for _, step := range why {
		row := stepRow{About: plain(step.About), Says: plain(step.Says)}
		if step.Line > 0 {
			if row.Link = o.File; row.Link != "" {
				row.Link += "#L" + strconv.Itoa(step.Line)
			}
		}
		switch {
		case o.Release == "" && strings.HasPrefix(step.About, plan.OrderPrefix+string(plan.ToRelease)) && strings.HasSuffix(step.About, " "+plan.AnyReason):
			o.Release, o.Releases = row.About, row.Says
		case step.Whole:
			o.Facts = append(o.Facts, row)
		default:
			o.Steps = append(o.Steps, row)
		}
	}
}

// needs shows the windows that something needs, and what they say at the instant that was asked for.
func (s *site) needs(o *one, in store.Page, releases []layout.Release) {
	var c *window.Calendar
	if s.Calendar != nil {
		c = s.Calendar(in.Repo)
	}
	names, steps := []window.Name{}, pageSteps
	for _, r := range releases {
		if c == nil || !c.Has(window.Name(r)) {
			o.Others = append(o.Others, plain(string(r)))
			continue
		}
		names = append(names, window.Name(r))
		w := windowOf(c, window.Name(r), s.Now(), &steps)
		w.Bar = barOf(c, window.Name(r), s.Now(), &steps)
		o.Windows = append(o.Windows, w)
	}
	if o.At == "" {
		return
	}
	zone := time.UTC
	if len(names) > 0 {
		zone = c.Zone(names[0])
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", o.At, zone)
	if err != nil {
		at, err = time.Parse(time.RFC3339, o.At)
	}
	switch {
	case err != nil:
		o.Then = fmt.Sprintf(saysNoInstant, plain(o.At))
	case c == nil:
		o.Then = saysNoCalendar
	default:
		o.Then = thenOf(c, names, at, zone)
	}
}

// thenOf is what windows say at an instant.
func thenOf(c *window.Calendar, names []window.Name, at time.Time, zone *time.Location) string {
	j := c.Joint(names, at)
	says := plan.Clock(at, zone) + ": its windows would release it"
	if !j.Releasable {
		says = plan.Clock(at, zone) + ": it would be held by " + plain(strings.Join(config.Strings(j.Closed), ", "))
	}
	if !j.Until.IsZero() {
		says += " until " + plan.Clock(j.Until, zone)
	}
	return says
}

// release writes the comment that releases a pull request, or lets a branch move, with the token of who is logged in: GitHub says whether they may, and whose it is.
func (s *site) release(c *gin.Context) {
	person := s.person(c)
	if person == nil { // before anything is read of it
		c.String(http.StatusForbidden, saysLogIn)
		return
	}
	in := plan.Repo{Owner: c.Param("owner"), Name: c.Param("repo")}
	sees, ok := s.admit(c, s.frame(c, "../../", ""), in)
	if !ok {
		return
	}
	pull, order, ok := orderOf(c.Request)
	if !ok {
		c.String(http.StatusBadRequest, saysNoOrder)
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), readWait)
	defer cancel()
	page, err := s.see(ctx, sees, in)
	switch {
	case errors.Is(err, store.ErrUnknown):
		c.String(http.StatusNotFound, saysUnknown+"\n")
		return
	case err != nil:
		s.Log.Error(logsUnread, "error", err)
		c.String(http.StatusServiceUnavailable, saysUnread+"\n")
		return
	}
	if err := person.Comment(ctx, page.Repo.Owner, page.Repo.Name, pull, order.Line()); err != nil {
		c.String(http.StatusBadGateway, saysUnwritten, plain(err.Error()))
		return
	}
	if order.Branch != "" {
		pull = 0
	}
	c.Header("Location", "../"+PlaceOf(page.Repo, pull, order.Branch)[len(url.PathEscape(page.Repo.Owner))+1:]) // of our own, whatever stands before our paths
	c.Status(http.StatusSeeOther)
}

// orderOf is what a form asks to be written, and on which pull request; false if it is none.
func orderOf(r *http.Request) (pull int, order plan.Order, ok bool) {
	if r.ParseForm() != nil { // no files
		return 0, order, false
	}
	f := r.PostForm
	order = plan.Order{Verb: plan.ToRelease, SHA: plan.SHA(strings.ToLower(f.Get("sha"))), Branch: plan.Branch(f.Get("branch")), Reason: plan.Clean(f.Get("reason"))}
	read, is := plan.OrderOf(order.Line())
	pull, err := strconv.Atoi(strings.TrimPrefix(f.Get("pull"), "#"))
	return pull, order, err == nil && pull > 0 && is && read == order && !strings.ContainsAny(f.Get("reason"), "\r\n")
}
