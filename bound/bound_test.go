package bound

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
)

// at is an instant of GitHub's clock, so many seconds after some other.
func at(seconds int) time.Time {
	return time.Date(2026, 11, 23, 12, 0, seconds, 0, time.UTC)
}

// state announces an open pull request.
func state(seconds int, head plan.SHA, labels ...string) plan.Bound {
	return plan.Bound{Pull: plan.PullState{Number: 7, UpdatedAt: at(seconds), Head: head, Base: "main", Open: true, Labels: plan.LabelSetOf(labels, "")}}
}

func closed(b plan.Bound) plan.Bound { b.Pull.Open = false; return b }

func push(before, after plan.SHA) plan.Bound {
	return plan.Bound{Push: plan.Push{Branch: "main", Before: before, After: after}}
}

func report(seconds int, state plan.CheckState) plan.Bound {
	return plan.Bound{Check: plan.CheckResult{SHA: "h1", Context: "ci", At: at(seconds), State: state}}
}

// shows is a read that shows the pull request.
func shows(seconds int, head plan.SHA, labels ...string) plan.Snapshot {
	return plan.Snapshot{Pulls: []plan.Pull{{Number: 7, UpdatedAt: at(seconds), Head: head, Base: "main", Labels: labels, ChecksAll: true}}}
}

func withPull(s plan.Snapshot, change func(*plan.Pull)) plan.Snapshot {
	change(&s.Pulls[0])
	return s
}

func tipAt(sha plan.SHA) plan.Snapshot {
	return plan.Snapshot{Bases: map[plan.Branch]plan.Base{"main": {Tip: sha}}}
}

func reported(checks ...plan.Check) plan.Snapshot {
	return withPull(shows(1, "h1"), func(p *plan.Pull) { p.Checks = checks })
}

func check(seconds int, state plan.CheckState) plan.Check {
	return plan.Check{Context: "ci", At: at(seconds), State: state}
}

// said is that comment 3 says something to sluice, or no more. told is a read that shows some.
func said(says bool) plan.Bound {
	return plan.Bound{Comment: plan.CommentState{ID: 3, Pull: 7, Says: says}}
}

func told(ids ...int64) plan.Snapshot {
	s := plan.Snapshot{Commands: []plan.Command{}}
	for _, id := range ids {
		s.Commands = append(s.Commands, plan.Command{ID: id, Pull: 7})
	}
	return s
}

func TestWhichReadsAreOlder(t *testing.T) {
	pull := plan.Mention{Pull: 7, SHA: "h1", Target: "main"}
	moved := plan.Mention{Branch: "main"}
	head := plan.Mention{Pull: 7, SHA: "h1"}
	nothing := plan.Mention{SHA: "none"}
	for name, tt := range map[string]struct {
		announced []plan.Bound
		read      plan.Snapshot
		pulls     []int
		want      plan.Mention
	}{
		"nothing was announced":                     {nil, shows(1, "h1"), nil, nothing},
		"it shows a time before":                    {[]plan.Bound{state(2, "h1")}, shows(1, "h1"), nil, pull},
		"it shows a later time":                     {[]plan.Bound{state(2, "h1", "hold")}, shows(3, "h2"), nil, nothing},
		"the same second, and all the same":         {[]plan.Bound{state(2, "h1", "a", "hold")}, shows(2, "h1", "hold", "a"), nil, nothing},
		"the same second in another zone":           {[]plan.Bound{state(2, "h1")}, withPull(shows(2, "h1"), func(p *plan.Pull) { p.UpdatedAt = p.UpdatedAt.In(time.FixedZone("", 3600)) }), nil, nothing},
		"the same second, another head":             {[]plan.Bound{state(2, "h1")}, shows(2, "h0"), nil, pull},
		"the same second, no label":                 {[]plan.Bound{state(2, "h1", "hold")}, shows(2, "h1"), nil, pull},
		"the same second, a label more":             {[]plan.Bound{state(2, "h1")}, shows(2, "h1", "hold"), nil, pull},
		"the same second, labels not all shown":     {[]plan.Bound{state(2, "h1", "hold")}, withPull(shows(2, "h1"), func(p *plan.Pull) { p.ChecksAll = false }), nil, nothing},
		"the same second, a draft":                  {[]plan.Bound{state(2, "h1")}, withPull(shows(2, "h1"), func(p *plan.Pull) { p.Draft = true }), nil, pull},
		"the same second, another base":             {[]plan.Bound{state(2, "h1")}, withPull(shows(2, "h1"), func(p *plan.Pull) { p.Base = "old" }), nil, pull},
		"two events of a second, of which one":      {[]plan.Bound{state(2, "h1"), state(2, "h1", "hold")}, shows(2, "h1"), nil, pull},
		"two events out of order, and the later":    {[]plan.Bound{state(3, "h1", "hold"), state(2, "h1")}, shows(3, "h1", "hold"), nil, nothing},
		"two events out of order, and the earlier":  {[]plan.Bound{state(3, "h1", "hold"), state(2, "h1")}, shows(2, "h1"), nil, pull},
		"it does not show what was opened":          {[]plan.Bound{state(2, "h1")}, plan.Snapshot{}, nil, pull},
		"it does not show what was closed":          {[]plan.Bound{state(2, "h1"), closed(state(3, "h1"))}, plan.Snapshot{}, nil, nothing},
		"it shows what was closed":                  {[]plan.Bound{closed(state(3, "h1"))}, shows(2, "h1"), nil, pull},
		"it shows what was closed in the second":    {[]plan.Bound{closed(state(3, "h1"))}, shows(3, "h1"), nil, pull},
		"it shows what was opened again":            {[]plan.Bound{closed(state(3, "h1")), state(4, "h1")}, shows(4, "h1"), nil, nothing},
		"it is of other pull requests":              {[]plan.Bound{state(2, "h1")}, plan.Snapshot{}, []int{3}, nothing},
		"it is of branches alone":                   {[]plan.Bound{state(2, "h1")}, plan.Snapshot{}, []int{}, nothing},
		"it is of this one, and shows none":         {[]plan.Bound{state(2, "h1")}, plan.Snapshot{}, []int{7}, pull},
		"it could not read it":                      {[]plan.Bound{state(2, "h1")}, withPull(shows(1, "h1"), func(p *plan.Pull) { p.Unread.Reason = "?" }), nil, nothing},
		"it does not say when":                      {[]plan.Bound{state(2, "h1")}, withPull(shows(1, "h1"), func(p *plan.Pull) { p.UpdatedAt = time.Time{} }), nil, nothing},
		"an event of long ago again":                {[]plan.Bound{state(-9999, "h0", "hold")}, shows(1, "h1"), nil, nothing},
		"the tip before a push":                     {[]plan.Bound{push("a", "b")}, tipAt("a"), nil, moved},
		"the tip after it":                          {[]plan.Bound{push("a", "b")}, tipAt("b"), nil, nothing},
		"the branch that freezes is not there yet":  {[]plan.Bound{{Push: plan.Push{Branch: plan.FreezeBranch, After: "f"}}}, plan.Snapshot{}, nil, plan.Mention{Branch: plan.FreezeBranch}},
		"it is there":                               {[]plan.Bound{{Push: plan.Push{Branch: plan.FreezeBranch, After: "f"}}}, plan.Snapshot{Frozen: plan.Freeze{Tip: "f"}}, nil, nothing},
		"it is there still":                         {[]plan.Bound{{Push: plan.Push{Branch: plan.FreezeBranch, Before: "f"}}}, plan.Snapshot{Frozen: plan.Freeze{Tip: "f"}}, nil, plan.Mention{Branch: plan.FreezeBranch}},
		"a tip that no push names":                  {[]plan.Bound{push("a", "b")}, tipAt("c"), nil, nothing},
		"between two pushes":                        {[]plan.Bound{push("a", "b"), push("b", "c")}, tipAt("b"), nil, moved},
		"after two pushes out of order":             {[]plan.Bound{push("b", "c"), push("a", "b")}, tipAt("c"), nil, nothing},
		"between two pushes out of order":           {[]plan.Bound{push("b", "c"), push("a", "b")}, tipAt("b"), nil, moved},
		"back to an older commit":                   {[]plan.Bound{push("a", "b"), push("b", "a")}, tipAt("a"), nil, nothing},
		"not yet back to an older commit":           {[]plan.Bound{push("a", "b"), push("b", "a")}, tipAt("b"), nil, moved},
		"back, and on":                              {[]plan.Bound{push("a", "b"), push("b", "a"), push("a", "d")}, tipAt("a"), nil, moved},
		"back to one of them":                       {[]plan.Bound{push("a", "b"), push("b", "c"), push("c", "b")}, tipAt("b"), nil, nothing},
		"a push is missing":                         {[]plan.Bound{push("a", "b"), push("c", "d")}, tipAt("b"), nil, moved},
		"a base that could not be read":             {[]plan.Bound{push("a", "b")}, plan.Snapshot{Bases: map[plan.Branch]plan.Base{"main": {Unread: plan.Unread{Reason: "?"}}}}, nil, nothing},
		"a branch of which nothing is read":         {[]plan.Bound{push("a", "b")}, plan.Snapshot{}, nil, nothing},
		"a source that was deleted and still shown": {[]plan.Bound{push("a", "")}, plan.Snapshot{Sources: map[plan.Branch]plan.Source{"main": {Tip: "a"}}}, nil, moved},
		"a source that was made and is not shown":   {[]plan.Bound{push("", "a")}, plan.Snapshot{Sources: map[plan.Branch]plan.Source{"main": {}}}, nil, moved},
		"a windowed branch that somebody moved":     {[]plan.Bound{push("a", "b")}, plan.Snapshot{Branches: []plan.WindowedBranch{{Name: "main", Tip: "a"}}}, nil, moved},
		"one that could not be read":                {[]plan.Bound{push("a", "b")}, plan.Snapshot{Branches: []plan.WindowedBranch{{Name: "main", Unread: plan.Unread{Reason: "?"}}}}, nil, nothing},
		"a comment that is not there yet":           {[]plan.Bound{said(true)}, told(), nil, plan.Mention{Pull: 7, Bound: new(said(true))}},
		"it is there now":                           {[]plan.Bound{said(true)}, told(3), nil, nothing},
		"one that was taken away and is there yet":  {[]plan.Bound{said(true), said(false)}, told(3), nil, plan.Mention{Pull: 7, Bound: new(said(false))}},
		"it is gone":                                {[]plan.Bound{said(true), said(false)}, told(2), nil, nothing},
		"comments were not read":                    {[]plan.Bound{said(true)}, plan.Snapshot{}, nil, nothing},
		"no report":                                 {[]plan.Bound{report(2, plan.CheckRed)}, reported(), nil, head},
		"an older report":                           {[]plan.Bound{report(2, plan.CheckRed)}, reported(check(1, plan.CheckGreen)), nil, head},
		"the report":                                {[]plan.Bound{report(2, plan.CheckRed)}, reported(check(2, plan.CheckRed)), nil, nothing},
		"a later report":                            {[]plan.Bound{report(2, plan.CheckRed)}, reported(check(3, plan.CheckPending)), nil, nothing},
		"of the same second, before it":             {[]plan.Bound{report(2, plan.CheckRed)}, reported(check(2, plan.CheckPending)), nil, head},
		"of the same second, after it":              {[]plan.Bound{report(2, plan.CheckPending)}, reported(check(2, plan.CheckRed)), nil, nothing},
		"one run of two":                            {[]plan.Bound{report(2, plan.CheckRed)}, reported(check(1, plan.CheckGreen), check(2, plan.CheckRed)), nil, nothing},
		"a report on what nobody reads":             {[]plan.Bound{report(2, plan.CheckRed)}, shows(1, "h2"), nil, nothing},
		"a list of reports that is cut":             {[]plan.Bound{report(2, plan.CheckRed)}, withPull(reported(), func(p *plan.Pull) { p.ChecksAll = false }), nil, nothing},
		"a status under our name that somebody set": {
			[]plan.Bound{{Check: plan.CheckResult{SHA: "h1", Context: "Sluice/main", At: at(2), State: plan.CheckGreen}}},
			withPull(reported(), func(p *plan.Pull) {
				p.Ours = []plan.Status{{Context: "sluice/main", State: plan.Pending, At: at(1)}}
			}), nil, head,
		},
		"on a source's line": {
			[]plan.Bound{report(2, plan.CheckGreen)},
			plan.Snapshot{Sources: map[plan.Branch]plan.Source{"main": {Tip: "x", Line: []plan.Commit{{SHA: "h1", Read: true, ChecksAll: true}}}}}, nil, plan.Mention{SHA: "h1"},
		},
	} {
		var b Book
		for _, x := range tt.announced {
			b.Add(x, 0)
		}
		got := b.Compare(Read{Snapshot: tt.read, Pulls: tt.pulls, Known: b.Known()}, 0)
		want := []plan.Mention{tt.want}
		if tt.want == nothing {
			want = nil
		}
		if d := cmp.Diff(want, got); d != "" || b.Older() != (want != nil) {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// What comes while a read is under way says nothing of it.
func TestWhatWasKnownWhenAReadBegan(t *testing.T) {
	var b Book
	b.Add(push("a", "b"), 0)
	known := b.Known()
	b.Add(push("b", "c"), 0)
	b.Add(state(5, "h1"), 0)
	if got := b.Compare(Read{Snapshot: tipAt("b"), Known: known}, 0); got != nil {
		t.Errorf("%v", got)
	}
	if got := b.Compare(Read{Snapshot: tipAt("b"), Known: b.Known()}, 0); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// A read is asked for after half a second, doubling, for a minute; then REST is asked, twice.
func TestADoubtEnds(t *testing.T) {
	doubt := state(2, "h1")
	for name, tt := range map[string]struct {
		announced, truth plan.Bound
		read             plan.Snapshot
		ends             bool
		reads            int
	}{
		"hidden":                     {doubt, plan.Bound{Pull: plan.PullState{Number: 7}}, plan.Snapshot{}, true, 9},
		"shown by REST alone":        {doubt, doubt, plan.Snapshot{}, true, 9},
		"closed meanwhile":           {doubt, closed(state(9, "h1")), plan.Snapshot{}, true, 9},
		"denied":                     {doubt, state(1, "h1"), shows(1, "h1"), true, 9},
		"confirmed":                  {state(2, "h1", "hold"), state(2, "h1", "hold"), shows(1, "h1"), false, 22},
		"confirmed but for the time": {doubt, doubt, shows(1, "h1"), true, 8},
		"a push that is denied":      {push("a", "b"), push("", "a"), tipAt("a"), true, 9},
		"a push that is confirmed":   {push("a", "b"), push("", "b"), tipAt("a"), false, 22},
		"a branch that is gone":      {push("a", "b"), push("", ""), tipAt("a"), true, 9},
		"a check":                    {report(2, plan.CheckRed), plan.Bound{}, reported(), true, 8},
	} {
		var b Book
		b.Add(tt.announced, 0)
		now, reads, asked := time.Duration(0), 0, 0
		var when []time.Duration
		for now < 15*time.Minute {
			for _, d := range b.Doubts(now) {
				asked++
				b.Answer(d, tt.truth, now)
			}
			b.Compare(Read{Snapshot: tt.read, Known: b.Known()}, now)
			reads++
			when = append(when, now)
			next, again := b.Again()
			if !again {
				break
			}
			if next <= now {
				t.Fatalf("%s: reads without end at %s", name, now)
			}
			now = next
		}
		if ended := !b.Older(); ended != tt.ends || reads > tt.reads || asked > reads {
			t.Errorf("%s: ended %v after %d reads, asked %d times: %v", name, ended, reads, asked, when)
		}
		if d := cmp.Diff([]time.Duration{0, first, 3 * first, 7 * first, 15 * first, 31 * first, 63 * first, patience}, when[:8]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// What REST says is the truth from then on, also where it is another one than was announced: GraphQL may bear older times for good.
func TestTheTruthTakesThePlaceOfWhatWasAnnounced(t *testing.T) {
	var b Book
	b.Add(state(2, "h1", "hold"), 0)
	truth := state(9, "h1")
	now := time.Duration(0)
	for reads := 0; ; reads++ {
		for _, d := range b.Doubts(now) {
			b.Answer(d, truth, now)
		}
		b.Compare(Read{Snapshot: shows(1, "h1"), Known: b.Known()}, now)
		next, again := b.Again()
		if !again {
			break
		}
		if reads > 10 {
			t.Fatalf("%d reads in %s", reads, now)
		}
		now = next
	}
	if got := b.Compare(Read{Snapshot: shows(1, "h1", "hold"), Known: b.Known()}, now); got == nil {
		t.Error("a read that shows what was before is not older than the truth")
	}
}

// One whom GitHub hides announces what is his own again and again: that costs no more than once.
func TestOneWhoIsHiddenAnnouncesWithoutEnd(t *testing.T) {
	var b Book
	now, reads, asked, older := time.Duration(0), 0, 0, 0
	for n := range 100 { // twenty seconds apart
		b.Add(state(20*n, "h1"), now)
		for end := now + 20*time.Second; now < end; {
			for _, d := range b.Doubts(now) {
				asked++
				b.Answer(d, plan.Bound{Pull: plan.PullState{Number: 7}}, now)
			}
			if b.Compare(Read{Known: b.Known()}, now) != nil {
				older++
			}
			reads++
			next, again := b.Again()
			if !again {
				next = end
			}
			now = min(next, end)
		}
	}
	if older > 40 || asked > 3 {
		t.Errorf("%d reads, of which %d are older, and %d requests in %s", reads, older, asked, now)
	}
}

// One whose changes follow each other, and whose time GraphQL shows too early for good, is known once REST has said how it stands.
func TestOneThatChangesWithoutEnd(t *testing.T) {
	var b Book
	now, asked, met := time.Duration(0), 0, 0
	for n := range 30 { // twenty seconds apart
		b.Add(state(10+20*n, "h1"), now)
		for end := now + 20*time.Second; now < end; {
			for _, d := range b.Doubts(now) {
				asked++
				b.Answer(d, state(10+20*n, "h1"), now)
			}
			if b.Compare(Read{Snapshot: shows(1, "h1"), Known: b.Known()}, now) == nil {
				met++
			}
			next, again := b.Again()
			if !again {
				next = end
			}
			now = min(next, end)
		}
	}
	if met < 5 || asked > 15 {
		t.Errorf("%d reads were good, and REST was asked %d times in %s", met, asked, now)
	}
}

// REST may be behind, too: what was announced just now is not denied, however long reads have been older than what was before.
func TestWhatCameJustNowIsNotDenied(t *testing.T) {
	var b Book
	b.Add(state(10, "h1"), 0)
	b.Compare(Read{Snapshot: shows(1, "h1"), Known: b.Known()}, 0)
	b.Add(state(70, "h1", "hold"), patience)
	now := patience
	for range 4 {
		for _, d := range b.Doubts(now) {
			b.Answer(d, state(1, "h1"), now)
		}
		if b.Compare(Read{Snapshot: shows(1, "h1"), Known: b.Known()}, now) == nil {
			t.Errorf("it is denied %s after it was announced", now-patience)
		}
		now += apart
	}
}

// What was shown once is known for as long: the next read may come from a server that is behind.
func TestAReadMayFallBack(t *testing.T) {
	var b Book
	b.Add(push("a", "b"), 0)
	for _, tt := range []struct {
		now  time.Duration
		tip  plan.SHA
		want bool
	}{{0, "b", false}, {time.Second, "a", true}, {2 * time.Second, "b", false}, {patience, "a", false}} {
		if got := b.Compare(Read{Snapshot: tipAt(tt.tip), Known: b.Known()}, tt.now); (got != nil) != tt.want {
			t.Errorf("%s: %v", tt.now, got)
		}
	}
}

// One who announces without end what is his own fills no book, and too much at once is unknown until it was read twice.
func TestABookIsBounded(t *testing.T) {
	var b Book
	for n := range 3 * most {
		b.Add(state(n, plan.SHA(fmt.Sprint(n))), 0)
		b.Add(report(n, plan.CheckGreen), 0)
	}
	if b.size != 3 {
		t.Errorf("%d are kept", b.size)
	}
	for n := range most {
		x := state(1, "h1")
		x.Pull.Number = 100 + n
		b.Add(x, 0)
	}
	if b.size > most || !b.Older() {
		t.Errorf("%d are kept", b.size)
	}
	whole := []plan.Mention{{}}
	for i, r := range []Read{{Known: b.Known()}, {Known: b.Known(), Pulls: []int{1}}} {
		if d := cmp.Diff(whole, b.Compare(r, 0)); d != "" {
			t.Errorf("read %d: %s", i, d)
		}
	}
	if at, wanted := b.Again(); at != first || !wanted {
		t.Errorf("again at %s", at)
	}
	if d := cmp.Diff(whole, b.Compare(Read{Known: b.Known()}, first)); d == "" {
		t.Error("still all is unknown")
	}
}

// A contributor's push with thousands of checks drives out no label that reads do not show yet.
func TestChecksDriveOutNothingElse(t *testing.T) {
	var b Book
	b.Add(state(2, "h1", "hold"), 0)
	for n := range 2 * most {
		x := report(1, plan.CheckPending)
		x.Check.SHA = plan.SHA(fmt.Sprint("x", n))
		b.Add(x, 0)
	}
	if b.size > most || !b.Older() {
		t.Errorf("%d are kept", b.size)
	}
	for range 3 {
		if b.Compare(Read{Snapshot: shows(1, "h1"), Known: b.Known()}, first) == nil {
			t.Error("a read without the label counts")
		}
	}
	if got := b.Compare(Read{Snapshot: shows(2, "h1", "hold"), Known: b.Known()}, first); got != nil {
		t.Errorf("%v", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	var book Book
	for n := range most - 1 {
		x := report(1, plan.CheckGreen)
		x.Check.Context = plan.Context(fmt.Sprintf("ci/some/check/of/%d", n))
		book.Add(x, 0)
	}
	n := 0
	for b.Loop() {
		n++
		x := report(n, plan.CheckGreen)
		book.Add(x, 0)
	}
}
