package promoter

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Where a branch may go depends on its source and on the checks it asks for. Many branches share both, so the newest commit of
// the line that will do is found once for all of them: a branch that it descends from goes there, and a branch that is further
// than that finds nothing newer that will do.

// silentAfter is of how many of a source's last commits none may carry a check before it is said that none ever will.
const silentAfter = 20

// line is what is known of a source.
type line struct {
	plan.Source
	name  plan.Branch
	known bool          // it was observed
	sound bool          // what was observed fits together
	shown []plan.Commit // as many as were asked for so far, fit to be read

	places map[plan.SHA]int // where its commits stand in it; nil until somebody asks
}

// place is where a commit stands in the line.
func (l *line) place(sha plan.SHA) (int, bool) {
	if l.places == nil {
		l.places = make(map[plan.SHA]int, len(l.Line))
		for i := range l.Line {
			l.places[l.Line[i].SHA] = i
		}
	}
	place, ok := l.places[sha]
	return place, ok && sha != ""
}

func (j *judge) line(name plan.Branch) *line {
	if l, ok := j.lines[name]; ok {
		return l
	}
	src, known := j.s.Sources[name]
	l := &line{Source: src, name: name, known: known}
	l.sound = known && len(src.Line) > 0 && src.Line[0].SHA == src.Tip && src.Tip != ""
	j.lines[name] = l
	return l
}

// show gives at most maxListed of the commits from newest up to end, with nothing in them but what a verdict shows.
func (l *line) show(newest, end int) []plan.Commit {
	end = min(end, newest+maxListed)
	for i := len(l.shown); i < end; i++ {
		c := l.Line[i]
		l.shown = append(l.shown, plan.Commit{SHA: c.SHA, At: c.At, Subject: subject(c.Subject)})
	}
	return slices.Clip(l.shown[newest:end])
}

// aim is what a goal depends on.
type aim struct {
	from   plan.Branch
	checks config.Checks
}

// goal is where on a line branches with one aim go.
type goal struct {
	place  int         // the newest commit that will do is Line[place]; len(Line): there is none
	marks  []mark      // of the commits before it
	steps  []plan.Step // of the first few of them: why the branches do not go there
	silent bool        // no check runs there, as far as can be seen
	unsure bool        // what the source requires is not known
}

func (j *judge) goal(l *line, checks config.Checks) *goal {
	key := aim{l.name, checks}
	if g, ok := j.goals[key]; ok {
		return g
	}
	g := &goal{place: len(l.Line)}
	j.goals[key] = g
	if checks == config.ChecksNone {
		g.place = 0
		return g
	}
	e := examiner{all: checks == config.ChecksAll, ignores: j.policy.PullRequests.IgnoresCheck}
	g.silent = e.all && e.silent(l.Line)
	if !l.Rules {
		g.unsure = true // fail closed: an unknown check may be required
		return g
	}
	for _, r := range l.Checks {
		if e.counts(r.Context) {
			e.required = append(e.required, r)
		}
	}
	if !e.all && len(e.required) == 0 {
		g.place = 0 // every commit passes, read or not
		return g
	}
	for i := range l.Line {
		m := e.mark(&l.Line[i])
		if m.state == passed {
			g.place = i
			break
		}
		if g.marks = append(g.marks, m); i < maxListed {
			g.steps = append(g.steps, saySkipped(l.Line[i].SHA, m))
		}
	}
	return g
}

// mark is how the checks of one commit stand, as far as they are asked for.
type mark struct {
	state markState
	about []string // the contexts that are why, sorted; hostile text
}

type markState int

// The states of a commit's checks, the worst first.
const (
	unread markState = iota // nobody looked, or not at all of it
	red
	running
	missing // required and not reported
	passed
)

// examiner looks at the checks of commits.
type examiner struct {
	required []plan.RequiredCheck
	all      bool                      // what is not required counts too
	ignores  func(context string) bool // those that never count
}

// counts reports whether a check may hold a commit: not what sluice itself writes, not Flux's reports on what it applied, not what
// the file ignores.
func (e *examiner) counts(c plan.Context) bool {
	_, flux := c.Kustomization()
	return !flux && !c.Ours() && !e.ignores(string(c))
}

func (e *examiner) counted(all []plan.Check) []plan.Check {
	out := make([]plan.Check, 0, len(all))
	for _, c := range all {
		if e.counts(c.Context) {
			out = append(out, c)
		}
	}
	return out
}

// silent reports whether no check was reported on any of the last commits, nor on what became them.
func (e *examiner) silent(commits []plan.Commit) bool {
	commits = commits[:min(len(commits), silentAfter)]
	for i := range commits {
		c := &commits[i]
		if !readable(c) || slices.ContainsFunc(c.Checks, func(v plan.Check) bool { return e.counts(v.Context) }) {
			return false
		}
		if c.Head != nil && slices.ContainsFunc(c.Head.Checks, func(v plan.Check) bool { return e.counts(v.Context) }) {
			return false
		}
	}
	return len(commits) > 0
}

// readable reports whether all statuses of the commit, and of the head that became it, are known.
func readable(c *plan.Commit) bool {
	return c.Read && c.ChecksAll && (c.Head == nil || c.Head.ChecksAll)
}

// mark looks at one commit. What did not report on it is taken from the head of the pull request that became it; red
// disqualifies wherever it stands.
func (e *examiner) mark(c *plan.Commit) mark {
	if !readable(c) {
		return mark{state: unread}
	}
	own := e.counted(c.Checks)
	var head []plan.Check
	if c.Head != nil {
		head = e.counted(c.Head.Checks)
	}
	var t tally
	for _, r := range e.required {
		state, name := standing(r, own, head), string(r.Context)
		if state == missing {
			name = r.String()
		}
		t.add(state, name)
	}
	if e.all {
		t.addAll(own, head)
		if len(own)+len(head)+len(e.required) == 0 {
			t.add(missing, wordAnyCheck) // they may not have begun
		}
	}
	return t.mark()
}

// standing is how a required check stands.
func standing(r plan.RequiredCheck, own, head []plan.Check) markState {
	here, reportedHere := r.Among(own)
	there, reportedThere := r.Among(head)
	switch {
	case here == plan.CheckRed || there == plan.CheckRed:
		return red
	case reportedHere:
		return asMark(here)
	case reportedThere:
		return asMark(there)
	}
	return missing
}

func asMark(s plan.CheckState) markState {
	switch s {
	case plan.CheckGreen:
		return passed
	case plan.CheckRed:
		return red
	case plan.CheckPending:
		return running
	}
	return running
}

// tally collects what keeps a commit from passing.
type tally struct{ red, running, missing []string }

func (t *tally) add(s markState, context string) {
	switch s {
	case red:
		t.red = append(t.red, context)
	case running:
		t.running = append(t.running, context)
	case missing:
		t.missing = append(t.missing, context)
	case passed, unread:
	}
}

// addAll adds what is reported, required or not.
func (t *tally) addAll(own, head []plan.Check) {
	here := make(map[string]bool, len(own))
	for _, c := range own {
		here[strings.ToLower(string(c.Context))] = true
		t.add(asMark(c.State), string(c.Context))
	}
	for _, c := range head {
		if c.State == plan.CheckRed || !here[strings.ToLower(string(c.Context))] {
			t.add(asMark(c.State), string(c.Context))
		}
	}
}

func (t *tally) mark() mark {
	switch {
	case len(t.red) > 0:
		return mark{red, tidy(t.red)}
	case len(t.running) > 0:
		return mark{running, tidy(t.running)}
	case len(t.missing) > 0:
		return mark{missing, tidy(t.missing)}
	}
	return mark{state: passed}
}

func tidy(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
