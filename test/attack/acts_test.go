package attack

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// act is something that somebody may do, with how often it is drawn.
type act struct {
	weight int
	do     func(w *world)
}

// acts are what everybody may do on GitHub: root may bypass the rules, alice and eve may write, mallory has a fork.
var acts = []act{
	{14, (*world).open},
	{4, (*world).openAgain},
	{6, (*world).push},
	{4, (*world).closePull},
	{3, (*world).reopen},
	{3, (*world).reopenAndMerge},
	{4, (*world).retarget},
	{5, (*world).branch},
	{5, (*world).pushProtected},
	{5, (*world).mergeByHand},
	{2, (*world).arm},
	{4, (*world).forge},
	{4, (*world).report},
	{2, (*world).review},
	{2, (*world).hold},
	{1, (*world).dismiss},
	{1, (*world).deleteBranch},
	{2, (*world).freeze},
	{3, (*world).comment},
	{4, (*world).rule},
	{4, (*world).call},
	{3, (*world).pushByRoot},
	{9, (*world).fail},
	{2, (*world).loseHooks},
	{2, (*world).restart},
}

// step draws one act and does it.
func (w *world) step() {
	if w.queue && w.dice.IntN(3) == 0 {
		pick(w.dice, (*world).enqueue, (*world).enqueue, (*world).mergeGroup)(w)
		return
	}
	if w.repo.Tip(freezes) != "" && w.dice.IntN(3) == 0 {
		w.thaw("alice")
		return
	}
	if s := w.oracle.last; s != nil && s.override && w.dice.IntN(4) == 0 {
		w.comment()
		return
	}
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	n := w.dice.IntN(total)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			a.do(w)
			return
		}
	}
}

// pass lets time go by: often little, sometimes to just before or after an edge.
func (w *world) pass() {
	switch w.dice.IntN(8) {
	case 0, 1:
		w.sleep(time.Duration(w.dice.IntN(400)) * time.Millisecond)
	case 2, 3:
		w.sleep(time.Duration(1+w.dice.IntN(15)) * time.Second)
	case 4, 5:
		w.sleep(time.Duration(10+w.dice.IntN(80)) * time.Second)
	default:
		to := time.Until(w.nextEdge()) + time.Duration(w.dice.IntN(100)-20)*time.Second
		w.sleep(min(max(to, time.Second), 6*time.Minute))
	}
}

// nextEdge is when the next window opens or closes.
func (w *world) nextEdge() time.Time {
	next := w.start.Add(lastOpening)
	for _, at := range w.oracle.spec().edges() {
		if at.After(time.Now()) {
			next = earliest(next, at)
		}
	}
	return next
}

// tried tells in the story what was done and what GitHub said.
func (w *world) tried(err error, format string, args ...any) {
	if err != nil {
		format += ": " + strings.ReplaceAll(strings.ReplaceAll(err.Error(), "\n", " "), "%", "%%")
	}
	w.say(format, args...)
}

// freezes is the branch that freezes.
const freezes = "sluice/freeze"

// freeze has a writer freeze the repository, for a while or until somebody ends it.
func (w *world) freeze() {
	message := "incident"
	if w.dice.IntN(2) == 0 {
		message += "\n\nUntil: " + w.start.Add(lastClose).UTC().Format(time.RFC3339) // which no world waits for
	}
	_, err := w.repo.Commit(freezes, standin.Change{By: "alice", Message: message})
	w.tried(err, "alice freezes")
}

// thaw ends that.
func (w *world) thaw(by string) { w.tried(w.repo.Push(by, freezes, ""), by+" ends the freeze") }

// said is a comment, and when it ended because it was edited or deleted; zero: it was not.
type said struct {
	standin.Comment
	At, Ended time.Time
}

// comment has somebody say something to sluice, or change what was said: alice may release, eve may take back, mallory may nothing. They name heads
// that there are or were, of the pull request or another one, and commits of main for rw/a.
func (w *world) comment() {
	pulls := w.repo.Pulls()
	if len(pulls) == 0 {
		return
	}
	if len(w.said) > 0 && w.dice.IntN(5) == 0 {
		w.unsay(&w.said[w.dice.IntN(len(w.said))])
		return
	}
	if held := slices.DeleteFunc(slices.Clone(pulls), func(p standin.Pull) bool { return !strings.Contains(w.standing(p.HeadSHA), "/sluice release") }); len(held) > 0 && w.dice.IntN(3) > 0 {
		pulls = held
	}
	p := pulls[w.dice.IntN(len(pulls))]
	by, body := pick(w.dice, "alice", "alice", "alice", "alice", "eve", "mallory"), w.order(p)
	for range 1 + w.dice.IntN(2) {
		c, err := w.repo.Comment, "says"
		if w.dice.IntN(12) == 0 {
			c, err = func(n int, by standin.Actor, body string) (standin.Comment, error) {
				return w.repo.CommentVia(n, by, 99, body)
			}, "says by an App"
		}
		one, failed := c(p.Number, standin.Person(by), body)
		w.tried(failed, "%s %s on #%d: %s", by, err, p.Number, body)
		w.said = append(w.said, said{Comment: one, At: time.Now()})
	}
}

// order draws what somebody says on a pull request.
func (w *world) order(p standin.Pull) string {
	line, err := w.repo.Log("main")
	w.must(err)
	switch w.dice.IntN(9) {
	case 0:
		return "/sluice undo"
	case 1:
		return "/sluice recheck"
	case 2:
		return "/sluice release " + pick(w.dice, w.oracle.shas...)[:7] + " now"
	case 3:
		return "> /sluice release " + p.HeadSHA[:7] + " quoted"
	case 4, 5:
		return "/sluice release " + line[w.dice.IntN(min(3, len(line)))].SHA[:7] + " --branch rw/a now"
	}
	return "/sluice release " + p.HeadSHA[:7] + " now"
}

// unsay edits or deletes a comment.
func (w *world) unsay(c *said) {
	if !c.Ended.IsZero() {
		return
	}
	c.Ended = time.Now()
	if w.dice.IntN(2) == 0 {
		w.tried(w.repo.DeleteComment(c.Comment), "%q on #%d is deleted", c.Body, c.Pull)
		return
	}
	w.tried(w.repo.EditComment(c.Comment, c.Body+" edited"), "%q on #%d is edited", c.Body, c.Pull)
}

// change draws what a commit changes.
func (w *world) change(by string) *standin.Change {
	n := w.dice.IntN(1_000_000)
	text := func(path string) map[string]string {
		return map[string]string{path: fmt.Sprintf("%s by %s %d\n", path, by, n)}
	}
	c := &standin.Change{By: by, Message: fmt.Sprint("change ", n)}
	dir := pick(w.dice, "a", "b")
	file := pick(w.dice, "x", "y", fmt.Sprint("z", n))
	switch w.dice.IntN(16) {
	case 0, 1:
		c.Write = text(dir + "-rt/" + file)
	case 2:
		c.Write = text("br/" + file)
	case 3:
		c.Write = text("docs/" + file)
	case 4:
		c.Write = text(pick(w.dice, "infra/flux-system/x", "a-rw/flux-system/x", "infra/"+file))
	case 5:
		c.Move = map[string]string{dir + "-rt/x": dir + "-rw/" + file + "m"}
	case 6:
		c.Move = map[string]string{dir + "-rw/x": dir + "-rt/" + file + "m"}
	case 7:
		c.Write = map[string]string{rules: w.text()}
	case 8:
		c.Write = text(dir + "-rw/" + file)
		maps.Copy(c.Write, text("a-rt/"+file))
	default:
		c.Write = text(dir + "-rw/" + file)
	}
	return c
}

// text draws a version of the file: valid, or not.
func (w *world) text() string {
	if w.dice.IntN(4) == 0 {
		return "version: 1\nbroken: " + fmt.Sprint(w.dice.IntN(1000)) + "\n"
	}
	return w.draw().text
}

// open opens a pull request from a new branch, of the repository or of a fork.
func (w *world) open() {
	by := pick(w.dice, "alice", "alice", "eve", "mallory")
	head := fmt.Sprintf("h%d", w.dice.IntN(1000))
	if by == "mallory" {
		head = by + ":" + head
	}
	base := "main"
	if w.dice.IntN(4) == 0 {
		base = w.someBranch()
	}
	c := w.change(by)
	if base != "main" && w.dice.IntN(2) == 0 {
		c = &standin.Change{By: by, Message: "live", Write: map[string]string{"a-rt/y": head + "\n"}}
	}
	c.From = pick(w.dice, "main", base)
	n, err := w.repo.OpenPull(standin.NewPull{By: by, Head: head, Base: base, Change: c, Draft: w.dice.IntN(20) == 0})
	w.tried(err, "%s opens #%d from %s (%.7s) into %s: %s", by, n, head, w.repo.Tip(head), base, shown(c))
	w.test(w.repo.Tip(head))
}

// openAgain opens a pull request from a head that is there already into another base.
func (w *world) openAgain() {
	p, ok := w.somePull(nil)
	if !ok {
		return
	}
	base := w.someBranch()
	head := p.Head
	if p.HeadOwner != "acme" {
		head = p.HeadOwner + ":" + p.Head
	}
	n, err := w.repo.OpenPull(standin.NewPull{By: "eve", Head: head, Base: base})
	w.tried(err, "eve opens #%d from %s (%.7s) into %s", n, head, w.repo.Tip(head), base)
}

// shown is a change for the story.
func shown(c *standin.Change) string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(c.Write)) {
		if path == rules {
			list = append(list, "writes "+path+":\n"+c.Write[path])
		} else {
			list = append(list, "writes "+path)
		}
	}
	for old, now := range c.Move {
		list = append(list, "moves "+old+" to "+now)
	}
	for _, path := range c.Delete {
		list = append(list, "deletes "+path)
	}
	return strings.Join(list, ", ")
}

// somePull draws a pull request that fits.
func (w *world) somePull(fits func(p standin.Pull) bool) (standin.Pull, bool) {
	list := w.repo.Pulls()
	if fits != nil {
		list = slices.DeleteFunc(list, func(p standin.Pull) bool { return !fits(p) })
	}
	if len(list) == 0 {
		return standin.Pull{}, false
	}
	return pick(w.dice, list...), true
}

func isOpen(p standin.Pull) bool { return p.Open }

// someBranch draws a branch of the repository.
func (w *world) someBranch() string {
	names := []string{"main", "rw/a", "rw/a"}
	for _, m := range w.repo.Moves() {
		if w.repo.Tip(m.Branch) != "" && !strings.HasPrefix(m.Branch, "gh-readonly-queue/") && !slices.Contains(names, m.Branch) {
			names = append(names, m.Branch)
		}
	}
	return pick(w.dice, names...)
}

// someSHA draws a commit, rather one that once had a success of ours.
func (w *world) someSHA() string {
	if greens := w.oracle.greens(); len(greens) > 0 && w.dice.IntN(4) > 0 {
		return pick(w.dice, greens...)
	}
	return pick(w.dice, w.oracle.shas...)
}

// push pushes to the head of a pull request: another change, or an old commit by force.
func (w *world) push() {
	p, ok := w.somePull(func(p standin.Pull) bool { return p.Open && p.Head != "main" && p.Head != "rw/a" })
	if !ok {
		return
	}
	head, by := p.Head, pick(w.dice, "alice", "eve")
	if p.HeadOwner != "acme" {
		head, by = p.HeadOwner+":"+p.Head, p.HeadOwner
	}
	if w.dice.IntN(4) == 0 {
		sha := w.someSHA()
		w.tried(w.repo.Push(by, head, sha), "%s forces %s to %.7s", by, head, sha)
		return
	}
	c := w.change(by)
	sha, err := w.repo.Commit(head, *c)
	w.tried(err, "%s pushes %.7s to %s: %s", by, sha, head, shown(c))
	w.test(sha)
}

func (w *world) closePull() {
	if p, ok := w.somePull(isOpen); ok {
		w.tried(w.repo.ClosePull(p.Number, "eve"), "eve closes #%d", p.Number)
	}
}

func closed(p standin.Pull) bool { return !p.Open && !p.Merged }

// reopens reports whether GitHub would open a pull request again.
func (w *world) reopens(p standin.Pull) bool {
	head := p.Head
	if p.HeadOwner != "acme" {
		head = p.HeadOwner + ":" + p.Head
	}
	duplicate := slices.ContainsFunc(w.repo.Pulls(), func(o standin.Pull) bool {
		return o.Open && o.Base == p.Base && o.Head == p.Head && o.HeadOwner == p.HeadOwner
	})
	return closed(p) && !duplicate && w.repo.Tip(head) == p.HeadSHA && w.repo.Tip(p.Base) != ""
}

func (w *world) reopen() {
	if p, ok := w.somePull(w.reopens); ok {
		w.tried(w.repo.Reopen(p.Number, "eve"), "eve reopens #%d", p.Number)
	}
}

// reopenAndMerge is faster than any look.
func (w *world) reopenAndMerge() {
	p, ok := w.somePull(w.reopens)
	if !ok {
		return
	}
	w.tried(w.repo.Reopen(p.Number, "eve"), "eve reopens #%d", p.Number)
	sha, err := w.repo.MergePull(p.Number, "eve", standin.Merge)
	w.tried(err, "eve merges #%d at once as %.7s", p.Number, sha)
}

func (w *world) retarget() {
	if p, ok := w.somePull(isOpen); ok {
		base := w.someBranch()
		w.tried(w.repo.Retarget(p.Number, "eve", base), "eve retargets #%d to %s", p.Number, base)
		if base != p.Base {
			w.based[p.Number] = time.Now()
		}
	}
}

// branch makes a branch whose name looks like another's, and whose file holds nothing.
func (w *world) branch() {
	name := pick(w.dice, "Main", "MAIN", "promote/rw/a", "Promote/RW/a", "promote", "rw/A", "rw/b", "topic")
	c := standin.Change{By: "eve", Message: "mine", From: pick(w.dice, "main", "rw/a")}
	switch w.dice.IntN(3) {
	case 0:
		c.Delete = []string{rules}
	case 1:
		c.Write = map[string]string{rules: "version: 1\nmode: observe\ntimezone: UTC\nlayout:\n  unmatched: live\n"}
	case 2:
		c.Write = map[string]string{rules: "version: 1\ntimezone: UTC\nlayout:\n  unmatched: live\npull_requests: {live: status}\n"}
	}
	sha, err := w.repo.Commit(name, c)
	w.tried(err, "eve pushes %.7s to the branch %s: %s", sha, name, shown(&c))
}

// pushProtected tries to bring a commit to a protected branch.
func (w *world) pushProtected() {
	name, sha := pick(w.dice, "main", "main", "rw/a"), w.someSHA()
	w.tried(w.repo.TryPush("eve", name, sha), "eve pushes %.7s to %s", sha, name)
}

func (w *world) mergeByHand() {
	if p, ok := w.somePull(isOpen); ok {
		sha, err := w.repo.MergePull(p.Number, "eve", pick(w.dice, standin.Merge, standin.Squash))
		w.tried(err, "eve merges #%d into %s as %.7s", p.Number, p.Base, sha)
	}
}

// enqueue puts a pull request into the merge queue, where there is one.
func (w *world) enqueue() {
	p, ok := w.somePull(func(p standin.Pull) bool { return p.Open && p.Base == "main" && !p.Draft })
	queued := func(g standin.Group) bool { return g.Pull == p.Number }
	if !ok || !w.queue || len(w.groups) > 3 || slices.ContainsFunc(w.groups, queued) {
		return
	}
	g, err := w.repo.Enqueue(p.Number, "eve")
	w.tried(err, "eve enqueues #%d: the group is %.7s on %.7s", p.Number, g.Head, g.BaseSHA)
	w.requeued()
}

// mergeGroup is the queue's turn: it merges what is green, and drops what failed or no longer fits.
func (w *world) mergeGroup() {
	if len(w.groups) == 0 {
		return
	}
	w.tried(w.repo.Turn("main"), "the queue has its turn")
	w.requeued()
}

// requeued takes in what the queue is now.
func (w *world) requeued() {
	before := w.groups
	w.groups = w.repo.Queue("main")
	for _, g := range w.groups {
		if w.ci && !slices.Contains(before, g) {
			w.tried(w.ciSays(g.Head, "success"), "ci/test on %.7s, a group on %.7s: success", g.Head, g.BaseSHA)
		}
	}
}

// arm makes GitHub merge a pull request by itself as soon as it may.
func (w *world) arm() {
	if p, ok := w.somePull(isOpen); ok {
		w.mu.Lock()
		w.armed[p.Number] = pick(w.dice, standin.Merge, standin.Squash)
		w.mu.Unlock()
		w.say("eve arms auto-merge of #%d", p.Number)
	}
}

// autoMerge merges what is armed and may be merged.
func (w *world) autoMerge() {
	w.mu.Lock()
	armed := maps.Clone(w.armed)
	w.mu.Unlock()
	for n, method := range armed {
		if p, err := w.repo.Pull(n); err == nil && p.Open {
			_, _ = w.repo.MergePull(n, "eve", method) // refused: it stays armed
		}
	}
}

// forge sets a status under somebody's name.
func (w *world) forge() {
	sha := w.someSHA()
	if p, ok := w.somePull(isOpen); ok && w.dice.IntN(2) == 0 {
		sha = p.HeadSHA
	}
	s := standin.Status{
		SHA: sha, By: standin.Actor{Login: "eve"}, State: pick(w.dice, "success", "success", "failure", "pending"),
		Context: pick(w.dice, "sluice/main", "Sluice/Main", "sluice/promote/rw/a", "ci/test", "ci/test", "other"),
	}
	w.tried(w.repo.SetStatus(s), "eve sets %s %s on %.7s", s.Context, s.State, sha)
}

// test is CI's word on what was just pushed, most of the time.
func (w *world) test(sha string) {
	if sha != "" && w.ci && w.dice.IntN(4) > 0 {
		w.tried(w.ciSays(sha, "success"), "ci/test on %.7s: success", sha)
	}
}

// report is CI's word on a head, or on main.
func (w *world) report() {
	sha := w.repo.Tip("main")
	if p, ok := w.somePull(isOpen); ok && w.dice.IntN(4) > 0 {
		sha = p.HeadSHA
	}
	state := pick(w.dice, "success", "success", "success", "failure")
	w.tried(w.ciSays(sha, state), "ci/test on %.7s: %s", sha, state)
}

func (w *world) ciSays(sha, state string) error {
	return w.repo.SetStatus(standin.Status{SHA: sha, By: standin.Actor{Login: "ci", App: ciApp}, State: state, Context: "ci/test"})
}

func (w *world) review() {
	if p, ok := w.somePull(isOpen); ok {
		by := pick(w.dice, "alice", "eve", "mallory")
		state := pick(w.dice, standin.Approved, standin.Approved, standin.Commented, standin.ChangesRequested)
		w.tried(w.repo.Review(p.Number, by, state), "%s reviews #%d: %s", by, p.Number, state)
	}
}

// held is since when, and until when, people hold a pull request.
type held struct{ since, until time.Time }

// hold puts a label on a pull request, or says in its description when it may be merged, or takes that back. The two do not stand together.
func (w *world) hold() {
	p, ok := w.somePull(isOpen)
	if !ok {
		return
	}
	n, now, day := p.Number, time.Now().UTC(), 24*time.Hour
	switch {
	case slices.Contains(p.Labels, "hold"):
		w.tried(w.repo.Unlabel(n, "alice", "hold"), "alice takes the label hold off #%d", n)
		delete(w.holds, n)
	case p.Body != "":
		w.tried(w.repo.Describe(n, "alice", ""), "alice takes back what the description of #%d says", n)
		delete(w.holds, n)
	case w.dice.IntN(3) == 0:
		w.tried(w.repo.Label(n, "alice", "hold"), "alice puts the label hold on #%d", n)
		w.holds[n] = held{now, now.Add(day)}
	default:
		until := now.Add(time.Duration(5+w.dice.IntN(60)) * time.Minute).Truncate(time.Second)
		text := "Not-before: " + until.Format(time.RFC3339)
		if w.dice.IntN(4) == 0 {
			until, text = now.Add(day), "Not-before: later"
		}
		w.tried(w.repo.Describe(n, "alice", text), "alice describes #%d: %s", n, text)
		w.holds[n] = held{now, until}
	}
}

func (w *world) deleteBranch() {
	if name := w.someBranch(); name != "main" {
		w.tried(w.repo.Push("eve", name, ""), "eve deletes %s", name)
	}
}

// rule is root's: another file on main.
func (w *world) rule() {
	c := standin.Change{By: "root", Message: "rules", Write: map[string]string{rules: w.text()}}
	if w.dice.IntN(4) == 0 {
		c = standin.Change{By: "root", Message: "no rules", Delete: []string{rules}}
	}
	sha, err := w.repo.Commit("main", c)
	w.tried(err, "root pushes %.7s to main: %s", sha, shown(&c))
}

// pushByRoot goes past all rules.
func (w *world) pushByRoot() {
	c := w.change("root")
	if c.Write[rules] != "" {
		return
	}
	sha, err := w.repo.Commit("main", *c)
	w.tried(err, "root pushes %.7s to main: %s", sha, shown(c))
}

// fail makes GitHub fail for a while.
func (w *world) fail() {
	f := w.drawFault()
	w.say("GitHub fails: %s, %d requests until %s: %v", f.name, f.times, f.until.Sub(w.start).Round(time.Second), f.how)
	w.mu.Lock()
	w.faults = append(w.faults, f) // it is the world's from now on
	w.mu.Unlock()
}

// loseHooks keeps webhooks away for a while.
func (w *world) loseHooks() {
	until := time.Now().Add(time.Duration(10+w.dice.IntN(200)) * time.Second)
	w.mu.Lock()
	w.mute = until
	w.mu.Unlock()
	w.say("webhooks are lost until %s", until.Sub(w.start).Round(time.Second))
}

// restart kills the service, sometimes with its database: it is empty then, or restored from a copy that was made at an earlier end.
func (w *world) restart() {
	kill, wipe := w.dice.IntN(2) == 0, w.dice.IntN(3) == 0
	down := time.Duration(w.dice.IntN(90)) * time.Second
	w.say("the service goes down for %s: killed %v, database lost %v", down, kill, wipe)
	w.stop(kill)
	w.oracle.down = true
	text, err := os.ReadFile(w.database())
	w.must(err)
	w.copies = append(w.copies, text)
	w.sleep(down)
	if wipe {
		w.boots++
		w.oracle.wiped = time.Now()
		if w.dice.IntN(2) == 0 {
			n := w.dice.IntN(len(w.copies))
			w.say("the database is restored from copy %d of %d", n+1, len(w.copies))
			w.must(os.WriteFile(w.database(), w.copies[n], 0o600))
		}
	}
	w.boot()
	w.oracle.down, w.oracle.booted = false, time.Now()
}
