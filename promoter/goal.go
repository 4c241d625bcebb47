package promoter

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Where a branch may go depends on its source, on the checks it asks for, and on whether what tracks it can be built. Many branches share these, so the newest
// commit of the line that will do is found once for all of them: a branch that it descends from goes there, and a branch that is further
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
		shown := plan.Commit{SHA: c.SHA, At: c.At, Subject: subject(c.Subject)}
		if c.Head != nil {
			shown.Head = &plan.Head{Pull: c.Head.Pull}
		}
		l.shown = append(l.shown, shown)
	}
	return slices.Clip(l.shown[newest:end])
}

// aim is what a goal depends on.
type aim struct {
	from   plan.Branch
	checks config.Checks
	alone  plan.Branch // a branch of which some commit says what others do not: what tracks it cannot be built there; "": of none
}

// goal is where on a line branches with one aim go.
type goal struct {
	place  int             // the newest commit that will do is Line[place]; len(Line): there is none
	before []plan.Standing // of the commits before it
	steps  []plan.Step     // of the first few of them: why the branches do not go there
	silent bool            // no check runs there, as far as can be seen
	unsure bool            // what the source requires is not known
}

func (j *judge) goal(l *line, checks config.Checks, of plan.Branch) *goal {
	key := aim{l.name, checks, ""}
	if j.builds(l) && l.breaks(of) {
		key.alone = of
	}
	if g, ok := j.goals[key]; ok {
		return g
	}
	g := &goal{place: len(l.Line)}
	j.goals[key] = g
	e, known := j.examiner(l, checks)
	g.silent = e.all && e.silent(l.Line)
	if !known {
		g.unsure = true
		return g
	}
	for i := range l.Line {
		now := j.examine(&e, l, key.alone, i)
		if now.State == plan.ChecksPassed {
			g.place = i
			break
		}
		if g.before = append(g.before, now); i < maxListed {
			g.steps = append(g.steps, saySkipped(l.Line[i].SHA, now))
		}
	}
	return g
}

// examiner is who looks at the checks of a line; false if it is not known which are required: fail closed.
func (j *judge) examiner(l *line, checks config.Checks) (examiner, bool) {
	e := examiner{none: checks == config.ChecksNone, all: checks == config.ChecksAll, ignores: j.policy.PullRequests.IgnoresCheck}
	if !e.none && !l.Rules {
		return e, false
	}
	for _, r := range l.Checks {
		if e.counts(r.Context) {
			e.required = append(e.required, r)
		}
	}
	e.none = e.none || !e.all && len(e.required) == 0 // every commit passes, read or not
	return e, true
}

// examine looks at the checks of one commit, and at what is built of it for a branch.
func (j *judge) examine(e *examiner, l *line, of plan.Branch, place int) plan.Standing {
	now := e.standing(&l.Line[place])
	if now.State == plan.ChecksPassed && j.builds(l) {
		now = l.built(place, of)
	}
	return now
}

// builds reports whether a commit must build. Git alone builds nothing.
func (j *judge) builds(l *line) bool {
	return j.policy.Flux && j.policy.Consistency.Builds == config.LevelHold && !l.NoChecks
}

// breaks reports whether what tracks a branch cannot be built at some commit.
func (l *line) breaks(of plan.Branch) bool {
	for _, b := range l.Builds {
		if b.Of[of].Broken != "" {
			return true
		}
	}
	return false
}

// built is how a commit stands by what is built of it: what tracks one branch, which is the same for all of which none is broken.
func (l *line) built(place int, of plan.Branch) plan.Standing {
	b, known := l.Builds[l.Line[place].SHA]
	switch broken := b.Of[of].Broken; {
	case place >= plan.BuiltBack:
		return plan.Standing{State: plan.BuildFailed, About: []string{wordTooFarBack}}
	case !known || b.Unread.Is():
		return plan.Standing{State: plan.BuildAwaited, About: []string{cmp.Or(b.Unread.Reason, wordNotBuilt)}}
	case broken != "":
		return plan.Standing{State: plan.BuildFailed, About: []string{broken}}
	}
	return plan.Standing{State: plan.ChecksPassed}
}

// examiner looks at the checks of commits.
type examiner struct {
	required []plan.RequiredCheck
	none     bool                      // no check counts
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
	return slices.DeleteFunc(slices.Clone(all), func(c plan.Check) bool { return !e.counts(c.Context) })
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

// standing looks at one commit, and at the head of the pull request that became it.
func (e *examiner) standing(c *plan.Commit) plan.Standing {
	if e.none {
		return plan.Standing{State: plan.ChecksPassed}
	}
	if !readable(c) {
		return plan.Standing{State: plan.ChecksUnread}
	}
	own := e.counted(c.Checks)
	var head []plan.Check
	if c.Head != nil {
		head = e.counted(c.Head.Checks)
	}
	var list plan.Checklist
	for _, r := range e.required {
		list.Require(r, own, head)
	}
	if e.all {
		list.Count(own, head)
		if len(own)+len(head)+len(e.required) == 0 {
			list.Lack(wordAnyCheck) // they may not have begun
		}
	}
	return list.Standing()
}
