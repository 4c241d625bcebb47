package attack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// The oracle knows what must hold, from what stands on the stand-in alone:
//
//	(a) Nothing windowed comes to main, and rw/a does not move, while the window is closed, by an act of ours, or by a green of ours that
//	    should be gone. Who bypasses the rules does not count. Nor does sluice merge what people hold.
//	(b) What is due moves within a bounded time once faults end.
//	(c) Under enforce, while GitHub takes our writes, no success of ours whose releases are closed stands for longer than one write takes
//	    on a commit that was not merged into, or moved to, the branch that demands that context.
//	    Both hold while the branch that freezes is there, of what is live, too. What alice released counts as open as long as the file lets her, for
//	    the head or commit that she named, the branch that it was for, and until it is used, over or taken back.
//	(e) Nor does an approval of ours stand for longer, whatever its window, label, head or pull request became; and none is given but where the file says so, to
//	    what sluice manages whole, and beside the approvals by people that the file asks for, of which a fork always needs one.
//	(f) What the API writes is what its caller asked for and may write at GitHub, in the rules file alone; who may not read learns nothing there.
//	(d) Nothing panics, everything ends, and what is quiet writes nothing.
//
// A success of ours counts for the branch whose rules demand its context, by GitHub's own way to compare contexts, whatever it was meant
// for when it was set.
type oracle struct {
	w        *world
	moves    int       // of the repository that were judged
	tip      string    // main's
	now      *spec     // of main's tip; nil: none, or invalid
	file     bool      // main's tip has a file
	last     *spec     // the newest that was valid
	since    time.Time // when one of these changed
	frozen   time.Time // since when the branch that freezes is there; zero: it is not
	shas     []string
	known    map[string]bool
	line     map[string]bool // every commit that was on main's first-parent line
	seen     map[string]bool // values that rw/a had: it may be put back there
	moved    time.Time       // when we moved it last
	reported map[string]bool
	wiped    time.Time
	booted   time.Time
	down     bool
	wrong    map[int64]time.Time // since when an approval of ours stands that should not
	given    map[int64]bool      // that were judged as they were given
}

// How long what must be gone may stand: a write, after GitHub takes writes again its back-off too, and a whole look where the reason
// is not the clock but something that has to be seen.
const (
	aWrite   = 30 * time.Second
	aBackoff = time.Minute
	aLook    = 7 * time.Minute
)

// contexts are what branches demand of us.
var contexts = map[string]string{"main": "sluice/main", "rw/a": "sluice/promote/rw/a"}

func (o *oracle) begin(w *world) {
	*o = oracle{w: w, known: map[string]bool{}, line: map[string]bool{}, seen: map[string]bool{}, reported: map[string]bool{}, booted: time.Now(), wrong: map[int64]time.Time{}, given: map[int64]bool{}}
	o.look(w)
}

// spec is the file that counts on main, or did last.
func (o *oracle) spec() *spec { return o.last }

// look judges everything that happened since it last looked.
func (o *oracle) look(w *world) {
	moves := w.repo.Moves()
	for _, m := range moves[o.moves:] {
		o.learn(m.After)
		switch m.Branch {
		case "main":
			o.onMain(m)
			o.follow(m)
		case "rw/a":
			o.onBranch(m)
			if o.seen[m.After] = true; ours(m.By) {
				o.moved = m.At
			}
		case freezes:
			o.freezes(m)
		}
	}
	if o.moves = len(moves); o.tip == "" {
		o.follow(standin.Moved{At: w.start, After: w.repo.Tip("main")})
	}
	for _, p := range w.repo.Pulls() {
		o.learn(p.HeadSHA)
	}
	for _, g := range w.groups {
		o.learn(g.Head)
	}
	o.debts()
	o.approvals()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.errors {
		o.once("d", "panic: "+text)
	}
}

func (o *oracle) learn(sha string) {
	if sha != "" && !o.known[sha] {
		o.known[sha] = true
		o.shas = append(o.shas, sha)
	}
}

// follow reads main's file at a new tip.
func (o *oracle) follow(m standin.Moved) {
	o.tip = m.After
	o.learn(m.After)
	list, err := o.w.repo.Log("main")
	o.w.must(err)
	for _, one := range list {
		o.line[one.SHA] = true
	}
	files, err := o.w.repo.Files(m.After)
	o.w.must(err)
	text, file := files[rules]
	s := o.w.specs[text]
	if s != o.now || file != o.file {
		o.since = m.At
	}
	if o.now, o.file = s, file; s != nil {
		o.last = s
	}
}

// freezes notes that the branch that freezes came, or went. Whoever follows it has to see it as a file.
func (o *oracle) freezes(m standin.Moved) {
	switch {
	case m.After == "":
		o.frozen = time.Time{}
	case o.frozen.IsZero():
		o.frozen = m.At
	}
	o.since = m.At
}

// isOpen reports whether a window of a file is open, and nothing frozen.
func (o *oracle) isOpen(s *spec, window string, at time.Time) bool {
	return o.frozen.IsZero() && s.isOpen(window, at)
}

// shutSince tells since when a window of a file releases nothing; zero while it does.
func (o *oracle) shutSince(s *spec, window string, at time.Time) time.Time {
	since := s.shutSince(window, at)
	if o.frozen.IsZero() || !since.IsZero() && since.Before(o.frozen) {
		return since
	}
	return o.frozen
}

// once keeps a breach if it is news.
func (o *oracle) once(rule, text string) {
	if !o.reported[rule+text] && checked(rule) && !known(text) {
		o.reported[rule+text] = true
		o.w.breach(rule, "%s", text)
	}
}

func ours(a standin.Actor) bool { return a.App == app }

// excused reports whether what people bring past us at that instant is nothing that a green could have been withdrawn for.
func (o *oracle) excused(at time.Time) bool {
	writes, reads := o.w.troubled()
	return o.down || at.Before(o.booted.Add(2*time.Minute)) || at.Before(writes.Add(aBackoff)) || at.Before(o.fileSeen(reads)) ||
		!o.wiped.IsZero() && at.Before(latest(o.wiped, reads).Add(aLook))
}

// fileSeen is when the file on main must have been seen.
func (o *oracle) fileSeen(reads time.Time) time.Time {
	if o.since.Equal(o.w.start) {
		return time.Time{}
	}
	if reads.After(o.since) {
		return reads.Add(aLook)
	}
	return o.since.Add(aLook)
}

// onMain judges a move of main.
func (o *oracle) onMain(m standin.Moved) {
	if m.By.Login == "root" || m.Before == "" {
		return
	}
	_, reads := o.w.troubled()
	switch {
	case o.now == nil:
		if ours(m.By) && m.At.After(o.since.Add(aWrite)) {
			o.once("a", "sluice merged "+m.After[:7]+" into main, which has no valid file")
		}
		return
	case o.now.observe:
		return
	case m.At.Before(o.since.Add(aWrite)), !ours(m.By) && (o.excused(m.At) || m.At.Before(o.fileSeen(reads))):
		return
	}
	if ours(m.By) {
		o.unheld(m)
	}
	if !m.At.After(o.releasedMerge(m.After).Add(aWrite)) {
		return
	}
	if ours(m.By) && !o.frozen.IsZero() {
		o.once("a", "sluice merged "+m.After[:7]+" into main, which is frozen")
		return
	}
	before, err := o.w.repo.Files(m.Before)
	o.w.must(err)
	after, err := o.w.repo.Files(m.After)
	o.w.must(err)
	for _, path := range slices.Sorted(maps.Keys(both(before, after))) {
		if before[path] != after[path] && windowed(path) && !o.isOpen(o.now, "w", m.At) {
			o.once("a", "main moved to "+m.After[:7]+" by "+m.By.Login+" with "+path+" while w is closed")
			return
		}
	}
}

// unheld demands that people did not hold what sluice merged. A head that main had before is merged, for GitHub, by whatever main becomes next.
func (o *oracle) unheld(m standin.Moved) {
	for _, p := range o.w.repo.Pulls() {
		if h, is := o.w.holds[p.Number]; is && p.Base == "main" && p.Merged && p.MergeSHA == m.After && !o.w.repo.Contains(m.Before, p.HeadSHA) && m.At.After(h.since.Add(aLook)) && m.At.Before(h.until) {
			o.once("a", fmt.Sprintf("sluice merged #%d, which people hold", p.Number))
		}
	}
}

func both(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// onBranch judges a move of rw/a.
func (o *oracle) onBranch(m standin.Moved) {
	if m.By.Login == "root" || m.After == "" || m.Before == "" && o.seen[m.After] || o.last == nil || !o.last.branches {
		return
	}
	_, reads := o.w.troubled()
	if !ours(m.By) && !o.w.lock {
		return // writers may move what requires nothing
	}
	if m.At.Before(o.since.Add(aWrite)) || !ours(m.By) && (o.excused(m.At) || m.At.Before(o.fileSeen(reads))) {
		return
	}
	if m.Before != "" && o.sameFiles(m.Before, m.After) {
		return // a merge of what it holds already
	}
	if m.By.Login == "eve" && m.Before == "" {
		return // nobody keeps writers from making a branch that is not there
	}
	where := "rw/a moved to " + m.After[:7] + " by " + m.By.Login
	switch {
	case !o.last.observe && !o.isOpen(o.last, "v", m.At) && m.At.After(o.released("rw/a", m.After).Add(aWrite)):
		o.once("a", where+" while v is closed")
	case !o.line[m.After]:
		o.once("a", where+", which is not on main")
	case m.Before != "" && !o.w.repo.Contains(m.After, m.Before):
		o.once("a", where+", which does not go forward")
	case ours(m.By) && o.w.ci && o.last.branchChecks == "required" && !o.tested(m.After):
		o.once("a", where+", which ci never passed")
	}
}

// sameFiles reports whether two commits hold the same files.
func (o *oracle) sameFiles(a, b string) bool {
	before, err := o.w.repo.Files(a)
	o.w.must(err)
	after, err := o.w.repo.Files(b)
	o.w.must(err)
	return maps.Equal(before, after)
}

// tested reports whether CI's own App passed a commit, or the head that became it.
func (o *oracle) tested(sha string) bool {
	heads := []string{sha}
	for _, p := range o.w.repo.Pulls() {
		if p.MergeSHA == sha || p.Merged && o.w.repo.Contains(sha, p.HeadSHA) {
			heads = append(heads, p.HeadSHA)
		}
	}
	for _, head := range heads {
		for _, s := range o.w.repo.Statuses(head) {
			if s.By.App == ciApp && s.State == "success" {
				return true
			}
		}
	}
	return false
}

// standing is our success that counts for a branch on a commit, if it is the newest there under that branch's context.
func (o *oracle) standing(branch, sha string) (standin.Status, bool) {
	for _, s := range o.w.repo.Statuses(sha) { // newest first
		if strings.EqualFold(s.Context, contexts[branch]) {
			return s, ours(s.By) && s.State == "success"
		}
	}
	return standin.Status{}, false
}

// greens are the commits on which a success of ours stands for main or rw/a, by the order in which they were seen.
func (o *oracle) greens() []string {
	return slices.DeleteFunc(slices.Clone(o.shas), func(sha string) bool {
		_, main := o.standing("main", sha)
		_, branch := o.standing("rw/a", sha)
		return !main && !branch
	})
}

// debts judges every success of ours that stands.
func (o *oracle) debts() {
	if o.now == nil && o.last == nil || o.down {
		return
	}
	now := time.Now()
	for _, branch := range []string{"main", "rw/a"} {
		for _, sha := range o.shas {
			s, ok := o.standing(branch, sha)
			if !ok || o.arrived(branch, sha) {
				continue
			}
			if closed := o.closed(branch, sha, now); !closed.IsZero() && now.After(o.due(s, closed).Add(aWrite)) {
				o.once("c", "the success under "+s.Context+" on "+sha[:7]+", "+o.role(sha)+", stands for "+branch+", closed since "+o.w.since(closed)+
					", set at "+o.w.since(s.At)+": "+s.Description)
			}
		}
	}
}

func (w *world) since(t time.Time) string { return t.Sub(w.start).Round(time.Second).String() }

// arrived reports whether a commit was merged into a branch or moved to it.
func (o *oracle) arrived(branch, sha string) bool {
	if branch == "rw/a" && o.seen[sha] || o.w.repo.Contains(o.w.repo.Tip(branch), sha) {
		return true
	}
	for _, p := range o.w.repo.Pulls() {
		if p.Merged && p.Base == branch && p.HeadSHA == sha {
			return true
		}
	}
	return false
}

// role is what a commit is, for the story.
func (o *oracle) role(sha string) string {
	for _, g := range o.w.groups {
		if g.Head == sha {
			return "a merge group"
		}
	}
	was := "nobody's head"
	for _, p := range o.w.repo.Pulls() {
		if p.HeadSHA == sha && p.Open {
			return fmt.Sprintf("the head of #%d into %s", p.Number, p.Base)
		} else if p.HeadSHA == sha {
			was = fmt.Sprintf("the head of #%d, closed", p.Number)
		}
	}
	return was
}

// closed tells since when bringing a commit to a branch is not allowed; zero where it is.
func (o *oracle) closed(branch, sha string, at time.Time) time.Time {
	if branch == "rw/a" {
		if !o.w.lock || o.last == nil || !o.last.branches || o.last.observe {
			return time.Time{}
		}
		return o.unreleased(branch, sha, o.shutSince(o.last, "v", at), at)
	}
	if o.now == nil || o.now.observe {
		return time.Time{}
	}
	if !slices.ContainsFunc(o.w.changed(o.tip, sha), windowed) {
		return time.Time{}
	}
	return o.unreleased(branch, sha, o.shutSince(o.now, "w", at), at)
}

// unreleased tells since when what is shut is so although alice may have released it; zero: she has.
func (o *oracle) unreleased(branch, sha string, shut, at time.Time) time.Time {
	switch until := o.released(branch, sha); {
	case shut.IsZero() || until.After(at):
		return time.Time{}
	case until.After(shut):
		return until
	}
	return shut
}

// noticed is when the service must have seen what somebody did, the time of the write aside.
func (o *oracle) noticed(at time.Time) time.Time {
	if _, reads := o.w.troubled(); reads.After(at) {
		return latest(at, reads).Add(aLook)
	}
	return latest(at, o.booted)
}

// releasedMerge is until when alice released what became a commit of main.
func (o *oracle) releasedMerge(sha string) (until time.Time) {
	for _, p := range o.w.repo.Pulls() {
		if p.Merged && p.MergeSHA == sha || p.HeadSHA == sha {
			until = latest(until, o.released("main", p.HeadSHA))
		}
	}
	return until
}

// released is until when alice released a commit for a branch; zero: she did not. For rw/a it takes two lines, written since it moved.
func (o *oracle) released(branch, sha string) time.Time {
	file := o.now
	if branch == "rw/a" {
		file = o.last
	}
	if file == nil || !file.override {
		return time.Time{}
	}
	var ends []time.Time
	for _, r := range o.w.said {
		rest, is := strings.CutPrefix(r.Body, "/sluice release ")
		ofBranch := strings.Contains(rest, " --branch rw/a ")
		if !is || r.By.Login != "alice" || r.Via != 0 || ofBranch != (branch == "rw/a") || !strings.HasPrefix(sha, rest[:7]) ||
			ofBranch && o.wiped.IsZero() && r.At.Before(o.moved) {
			continue
		}
		end := r.CreatedAt.Add(overrideFor)
		if !r.Ended.IsZero() {
			end = earliest(end, o.noticed(r.Ended))
		}
		if at := o.w.based[r.Pull]; !ofBranch && at.After(r.At) {
			end = earliest(end, o.noticed(at))
		}
		for _, u := range o.w.said {
			if u.Body == "/sluice undo" && u.By.Login != "mallory" && u.Via == 0 && u.Pull == r.Pull && u.At.After(r.At) && (u.Ended.IsZero() || u.Ended.Sub(u.At) > aWrite && o.wiped.IsZero()) {
				end = earliest(end, o.noticed(u.At))
			}
		}
		ends = append(ends, end)
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	switch {
	case branch == "rw/a" && len(ends) > 1:
		return ends[1]
	case branch == "main" && len(ends) > 0:
		return ends[0]
	}
	return time.Time{}
}

// due is when a success must be paid back, the time of the write aside: at once when it is closed, later where GitHub took no writes, the
// service was down, or something had to be seen first.
func (o *oracle) due(s standin.Status, closed time.Time) time.Time {
	writes, reads := o.w.troubled()
	due := latest(closed, s.At, o.booted)
	if writes.Add(aBackoff).After(due) && !writes.IsZero() && writes.After(s.At) {
		due = writes.Add(aBackoff)
	}
	if !o.wiped.IsZero() && s.At.Before(o.wiped) {
		due = latest(due, latest(o.wiped, reads).Add(aLook))
		if !o.listed(s.SHA) {
			due = due.Add(lastClose) // nobody can know
		}
	}
	if !o.since.Equal(o.w.start) && s.At.Before(o.since.Add(aWrite)) {
		due = latest(due, o.fileSeen(reads))
	}
	return due
}

// listed reports whether a commit is the head of an open pull request, or of one that was closed unmerged.
func (o *oracle) listed(sha string) bool {
	return slices.ContainsFunc(o.w.repo.Pulls(), func(p standin.Pull) bool { return p.HeadSHA == sha && !p.Merged })
}
