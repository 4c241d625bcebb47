package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// roll is a list as it stands on the page: rows for as long as they find room, and how many did not.
type roll struct {
	out  bytes.Buffer
	room int
	Rows int
	Left int // out, the least urgent ones
}

// HTML is the rows. Each was escaped when it was drawn.
func (r *roll) HTML() template.HTML { return template.HTML(r.out.String()) } //nolint:gosec // html/template wrote it

// Total is how many rows there are.
func (r *roll) Total() int { return r.Rows + r.Left }

// Any reports whether there are any.
func (r *roll) Any() bool { return r.Total() > 0 }

// add draws a row at the end of a list.
func (s *site) add(r *roll, name string, row any) error {
	if r.Left > 0 {
		r.Left++
		return nil
	}
	before := r.out.Len()
	if err := s.page.ExecuteTemplate(&r.out, name, row); err != nil {
		return err
	}
	if r.out.Len() > r.room {
		r.out.Truncate(before)
		r.Left++
		return nil
	}
	r.Rows++
	return nil
}

// list draws n rows, the most urgent first, until one finds no room. More rows were left out before.
func (s *site) list(name string, n, more int, row func(int) any) (*roll, error) {
	r := &roll{room: listBytes}
	for i := range n {
		if err := s.add(r, name, row(i)); err != nil {
			return nil, err
		}
		if r.Left > 0 {
			r.Left = n - i
			break
		}
	}
	r.Left += more
	return r, nil
}

// rank is the order in which repositories find room: by urgency, the lowest first, and of equally urgent ones the one with less text, so
// that whoever fills one with pull requests puts that one off the page, not others.
type rank struct{ urgency, text int }

func (a rank) compare(b rank) int { return cmp.Or(a.urgency-b.urgency, a.text-b.text) }

// section is a repository that has something to say, drawn.
type section struct {
	rank
	place int // by name
	html  template.HTML
}

// drawing is a page of one instant. Nothing changes it: all who ask for it share its body, and have a head each.
type drawing struct {
	ended time.Time // drawn until then
	code  int
	body  []byte
	view
}

// view is all that the page shows.
type view struct {
	Now      moment
	Troubles *roll // of the service itself
	Counts   []count
	Sections []template.HTML
	More     int   // repositories that have something to say and are left out
	Quiet    *roll // without verdicts, warnings or recent actions
	Next     *next
	Empty    bool // no repository is known
	Refresh  int  // seconds; 0: not by itself
}

// sketch is a view while repositories come in.
type sketch struct {
	*site
	view
	now      time.Time
	pages    int
	sections []section
	bytes    int
	least    rank // of the first repository that found no room
	counts   map[plan.Kind]int
	wake     time.Time
	steps    int // changes of windows that may still be looked at
}

// view draws what a source gives, one repository after the other: none of their plans stays in memory.
func (s *site) view(ctx context.Context, now time.Time, troubles []string, source func(context.Context, func(store.Page) error) error) (view, error) {
	k := &sketch{site: s, now: now, least: rank{urgency: quietRank}, counts: map[plan.Kind]int{}, steps: pageSteps}
	k.Now, k.Quiet = momentOf(now, now), &roll{room: quietBytes}
	err := source(ctx, k.add)
	late := err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
	if late {
		troubles, err = append(troubles, fmt.Sprintf(saysSlow, k.pages)), nil
	}
	if err != nil {
		return view{}, err
	}
	k.Empty = k.pages == 0 && !late
	k.trim()
	slices.SortFunc(k.sections, func(a, b section) int { return a.place - b.place })
	for _, sec := range k.sections {
		k.Sections = append(k.Sections, sec.html)
	}
	for _, kind := range byUrgency {
		if k.counts[kind] > 0 {
			k.Counts = append(k.Counts, count{Kind: kind, N: k.counts[kind], Means: wordsOfKind[kind]})
		}
	}
	k.Troubles, err = s.list("line", len(troubles), 0, func(i int) any { return plain(troubles[i]) })
	return k.view, err
}

// add puts a repository where it belongs. Of those that have something to say, those stand on the page in which something is most
// urgent, in the order of names.
func (k *sketch) add(p store.Page) error {
	k.pages++
	for _, d := range p.Verdicts {
		k.counts[d.Kind]++
	}
	for _, b := range p.Branches {
		k.counts[b.Kind]++
	}
	if !p.Wake.IsZero() && p.Wake.After(k.now) && (k.wake.IsZero() || p.Wake.Before(k.wake)) {
		k.wake, k.Next = p.Wake, &next{Repo: plain(p.Repo.String()), At: momentOf(p.Wake, k.now)}
	}
	if k.Lag != nil {
		if late := k.Lag(p.Repo); late != "" {
			p.Warnings = append([]string{late}, p.Warnings...)
		}
	}
	at := rankOf(p, k.now)
	if at.urgency == quietRank {
		return k.site.add(k.Quiet, "name", repo{Name: plain(p.Repo.String()), Link: k.link(p.Repo), Looked: optional(p.Looked, k.now)})
	}
	if at.compare(k.least) >= 0 {
		k.More++
		return nil
	}
	r, err := k.repo(p, k.now, k.windows(p.Repo))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := k.page.ExecuteTemplate(&out, "section", r); err != nil {
		return err
	}
	k.sections = append(k.sections, section{rank: at, place: k.pages, html: template.HTML(out.String())}) //nolint:gosec // html/template wrote it
	if k.bytes += out.Len(); k.bytes > 2*sectionsBytes {
		k.trim()
	}
	return nil
}

// trim leaves out what finds no room.
func (k *sketch) trim() {
	slices.SortFunc(k.sections, func(a, b section) int { return cmp.Or(a.compare(b.rank), a.place-b.place) })
	k.bytes = 0
	for i, sec := range k.sections {
		if k.bytes+len(sec.html) > sectionsBytes {
			k.More += len(k.sections) - i
			k.least = sec.rank
			clear(k.sections[i:])
			k.sections = k.sections[:i]
			return
		}
		k.bytes += len(sec.html)
	}
}

// quietRank is the urgency of a repository without verdicts, warnings and recent actions.
const quietRank = 1 << 10

// rankOf is a repository's rank: first a success that stands too long, then what needs a person, then warnings with what waits, then the other
// verdicts, then recent actions. Warnings may stand for good, and of every repository: they put nothing that needs a person off the page.
func rankOf(p store.Page, now time.Time) rank {
	r := rank{urgency: quietRank}
	if len(p.Acts) > 0 && now.Sub(p.Acts[0].At) < freshFor {
		r.urgency = 1 + len(byUrgency)
	}
	row := func(k plan.Kind, reason string, why []plan.Step) {
		r.urgency = min(r.urgency, 1+urgency(k))
		r.text += len(reason)
		for _, step := range why {
			r.text += len(step.About) + len(step.Says)
		}
	}
	for _, d := range p.Verdicts {
		row(d.Kind, d.Text(), d.Why)
	}
	for _, b := range p.Branches {
		row(b.Kind, b.Text(), b.Why)
	}
	if len(p.Warnings) > 0 {
		r.urgency = min(r.urgency, 1+urgency(plan.Waiting))
	}
	if len(p.Unpaid) > 0 {
		r.urgency = 0
	}
	return r
}

// inTurn calls f once nobody else reads the store.
func (s *site) inTurn(ctx context.Context, f func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-waiting.Done():
		return waiting.Err()
	}
	return f(ctx)
}

// drawing is the page as it is now: drawn by whoever has the turn, or by another request a moment ago.
func (s *site) drawing(ctx context.Context) (d *drawing, err error) {
	err = s.inTurn(ctx, func(ctx context.Context) (err error) {
		if d = s.last; d != nil && s.Now().Sub(d.ended).Abs() < drawnFor {
			return nil
		}
		if d, err = s.draw(ctx); err == nil && d.code == http.StatusOK {
			s.last = d
		}
		return err
	})
	return d, err
}

// draw reads the store and draws the page. If the store cannot be read the page says that alone.
func (s *site) draw(ctx context.Context) (*drawing, error) {
	now := s.Now()
	d := &drawing{code: http.StatusOK}
	var troubles []string
	if s.Ready != nil {
		troubles = s.Ready()
	}
	reading, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	var err error
	if d.view, err = s.view(reading, now, troubles, s.Source.Pages); ctx.Err() != nil {
		return nil, ctx.Err() // who asked is gone
	}
	if err != nil {
		s.Log.Error(logsUnread, "error", err)
		d.code = http.StatusServiceUnavailable
		nothing := func(context.Context, func(store.Page) error) error { return nil }
		if d.view, err = s.view(reading, now, append(troubles, saysUnread), nothing); err != nil {
			return nil, err
		}
		d.Empty = false // nobody knows
	}
	var out bytes.Buffer
	err = s.page.ExecuteTemplate(&out, "body", d.view)
	d.body, d.ended = bytes.Clone(out.Bytes()), s.Now()
	d.Troubles, d.Sections, d.Quiet = nil, nil, nil // they are in the body
	return d, err
}
