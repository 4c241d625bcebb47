package gitremote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
)

var now = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// push is moves that are made now.
func push(moves ...plan.Move) Push { return Push{Moves: moves, Now: func() time.Time { return now }} }

func TestLook(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		w.commit(map[string]string{file: "version: 1\n", "a/b/c": "deep", "top": "x", ".github/other": "y"})
		tip := w.commit(map[string]string{"top": "z"})
		w.git("tag", "main", string(w.commitTree("tagged", tip))) // a tag of the default branch's name
		l := look(t, open())
		if l.Default != "main" || l.Tip != tip || string(l.Data) != "version: 1\n" || l.File != plan.SHA(w.git("rev-parse", "HEAD:"+file)) {
			t.Errorf("look is %+v", l)
		}
		if want := time.Unix(1_767_225_600+86_400*2, 0); !l.TipAt.Equal(want) {
			t.Errorf("committed at %v, want %v", l.TipAt, want)
		}
	})
}

func TestLookFinds(t *testing.T) {
	long := strings.Repeat("x", maxFile+1)
	for name, c := range map[string]struct {
		files map[string]string
		bare  bool
		want  error
		none  bool
	}{
		"nothing there":        {files: map[string]string{"x": "y"}, none: true},
		"a directory above":    {files: map[string]string{".github/x": "y"}, none: true},
		"a file above":         {files: map[string]string{".github": "y"}, none: true},
		"a directory":          {files: map[string]string{file + "/x": "y"}, want: ErrNotAFile},
		"more than is read":    {files: map[string]string{file: long}, want: errTooLargeOrMissing},
		"an empty file":        {files: map[string]string{file: "#"}},
		"a file with brothers": {files: map[string]string{file: "#", ".github/a": "a", ".github/z": "z"}},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, w *world, open func() site) {
				w.commit(c.files)
				l, err := open().Overview(t.Context(), file)
				switch {
				case errors.Is(c.want, errTooLargeOrMissing):
					if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrIncomplete) {
						t.Errorf("error is %v", err)
					}
				case !errors.Is(err, c.want):
					t.Errorf("error is %v, want %v", err, c.want)
				case err == nil && c.none != (l.Data == nil) || c.none != (l.File == "") && err == nil:
					t.Errorf("look is %+v", l)
				}
			})
		})
	}
}

var errTooLargeOrMissing = errors.New("one of two")

// TestStandings: every relation that git can show.
func TestStandings(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		line := []plan.SHA{w.commit(map[string]string{file: "#"})}
		for i := range 5 {
			line = append(line, w.commit(map[string]string{"x": fmt.Sprint(i)}))
		}
		// A merge: its side commit is green somewhere, and lacks what stands beside it on main.
		side := w.commitTree("side", line[2])
		merge := w.commitTree("merge side\n\nbody", line[5], side)
		tip := w.commitTree("after the merge", merge)
		w.branch("main", tip)
		w.branch("level", tip)
		w.branch("behind", line[3])
		w.branch("root", line[0])
		w.branch("side", side)
		w.branch("beyond", w.commitTree("further", tip))
		w.branch("diverged", w.commitTree("elsewhere", line[4]))
		w.branch("unrelated", plan.SHA(w.git("commit-tree", "HEAD^{tree}", "-m", "an orphan")))
		w.branch("Behind", line[2])
		w.git("tag", "tagged", string(line[1]))
		w.git("update-ref", "refs/notes/noted", string(line[1]))
		got, main := track(t, open(), "level", "behind", "root", "side", "beyond", "diverged", "unrelated", "tagged", "noted", "absent")
		for i, want := range []struct {
			r     plan.Relation
			reach int
			tip   plan.SHA
		}{
			{plan.Level, 0, tip}, {plan.Behind, 4, line[3]}, {plan.Behind, 7, line[0]}, {plan.Behind, 2, side}, {plan.Beyond, 0, w.at("beyond")},
			{plan.Diverged, 0, w.at("diverged")}, {plan.Diverged, 0, w.at("unrelated")}, {plan.Absent, 0, ""}, {plan.Absent, 0, ""}, {plan.Absent, 0, ""},
		} {
			is(t, got[i], want.r, want.reach)
			if got[i].Tip != want.tip {
				t.Errorf("%s is at %s, want %s", got[i].Name, got[i].Tip, want.tip)
			}
		}
		if got[1].CaseConflict != "Behind" || got[0].CaseConflict != "" {
			t.Errorf("twins are %q and %q", got[1].CaseConflict, got[0].CaseConflict)
		}
		var shas, subjects []string
		for _, c := range main.Line {
			shas, subjects = append(shas, string(c.SHA)), append(subjects, c.Subject)
		}
		want := strings.Fields(w.git("rev-list", "--first-parent", "main"))
		if !slices.Equal(shas, want) || main.Tip != tip || !main.NoChecks || main.Rules {
			t.Errorf("the line is %v, want %v; %+v", shas, want, main)
		}
		if subjects[1] != "merge side" || main.Line[7].At.Unix() != 1_767_225_600+86_400 {
			t.Errorf("subjects are %q, the first of %v", subjects, main.Line[7].At)
		}
	})
}

// TestForcedBack: main was moved back, so the branch is ahead of it.
func TestForcedBack(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		w.commit(map[string]string{file: "#"})
		old := w.commit(nil)
		w.branch("rw/a", w.commit(nil))
		w.branch("main", old)
		got, _ := track(t, open(), "rw/a")
		is(t, got[0], plan.Beyond, 0)
	})
}

func TestSourceMissing(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		tip := w.commit(map[string]string{file: "#"})
		w.branch("rw/a", tip)
		w.git("tag", "gone", string(tip))
		s := open()
		look(t, s)
		got, sources, err := s.Track(t.Context(), []Follower{{"rw/a", "gone"}, {"rw/b", "main"}})
		if err != nil || got[0].Relation != plan.RelationUnknown || got[0].Tip != tip || sources["gone"].Tip != "" || !sources["gone"].NoChecks {
			t.Errorf("%+v %+v %v", got, sources, err)
		}
	})
}

// long makes a history of n commits by git fast-import, and gives those of main, the oldest first.
func (w *world) long(n int) []plan.SHA {
	w.t.Helper()
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter c <c@example.com> %d +0000\ndata <<E\ncommit %d\nE\n", i+1, 1_700_000_000+60*i, i)
		if i == 0 {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata 2\n#\n\n", file)
		}
		fmt.Fprintf(&in, "M 100644 inline apps/%d\ndata <<E\n%d\nE\n\n", i%50, i)
	}
	w.feed(in.String())
	var out []plan.SHA
	for _, s := range slices.Backward(strings.Fields(w.git("rev-list", "--first-parent", "main"))) {
		out = append(out, plan.SHA(s))
	}
	return out
}

// TestDeep: branches that are further behind than a line is long, and such as left the line before it begins.
func TestDeep(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		line := w.long(race.Or(420, 700))
		tip := line[len(line)-1]
		w.branch("far", line[100])
		w.branch("edge", line[len(line)-1-250])
		w.branch("near", line[len(line)-1-249])
		w.branch("astray", w.commitTree("elsewhere", line[50]))
		got, main := track(t, open(), "far", "edge", "near", "astray")
		is(t, got[0], plan.Behind, 250)
		is(t, got[1], plan.Behind, 250)
		is(t, got[2], plan.Behind, 249)
		is(t, got[3], plan.Diverged, 0)
		if len(main.Line) != 250 || main.Line[0].SHA != tip {
			t.Errorf("the line has %d commits", len(main.Line))
		}
	})
}

// TestManyDeep: more of them than are asked for apart.
func TestManyDeep(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		line := w.long(race.Or(420, 600))
		var names []plan.Branch
		var in strings.Builder
		for i := range 2 * maxApart {
			names = append(names, plan.Branch(fmt.Sprintf("rw/%02d", i)), plan.Branch(fmt.Sprintf("no/%02d", i)))
			fmt.Fprintf(&in, "reset refs/heads/%s\nfrom %s\n\n", names[2*i], line[10*i])
			fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter c <c@example.com> 1700000000 +0000\ndata 9\nelsewhere\nfrom %s\n\n", names[2*i+1], line[10*i])
		}
		w.feed(in.String())
		got, _ := track(t, open(), names...)
		for i, b := range got {
			if i%2 == 0 {
				is(t, b, plan.Behind, 250)
			} else {
				is(t, b, plan.Diverged, 0)
			}
		}
	})
}

// pack writes packed-refs, of lines with a ref and where it is: a thousand refs one by one take git seconds.
func (w *world) pack(refs []string) {
	w.t.Helper()
	slices.Sort(refs)
	text := "# pack-refs with: peeled fully-peeled sorted \n"
	for _, line := range refs {
		ref, sha, _ := strings.Cut(line, " ")
		text += sha + " " + ref + "\n"
	}
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "packed-refs"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// TestThousand: a thousand branches beside a thousand others cost no more requests than one.
func TestThousand(t *testing.T) {
	for _, filters := range []string{"true", "false"} {
		t.Run("filters "+filters, func(t *testing.T) {
			w := newWorld(t)
			w.git("config", "uploadpack.allowFilter", filters)
			line := w.long(60)
			var names []plan.Branch
			var packed []string
			many := race.Or(200, 1000)
			for i := range many {
				names = append(names, plan.Branch(fmt.Sprintf("rw/cluster-%04d", i)))
				packed = append(packed, fmt.Sprintf("refs/heads/%s %s", names[i], line[i%40+15]), fmt.Sprintf("refs/heads/other/%d %s", i, line[0]))
			}
			w.pack(packed)
			web := serve(t, w.dir)
			r := dial(t, Options{URL: web.URL + "/.git"})
			start := time.Now()
			got, main := track(t, r, names...)
			t.Logf("read in %v", time.Since(start))
			var moves []plan.Move
			for i, b := range got {
				is(t, b, plan.Behind, 60-1-(i%40+15))
				moves = append(moves, plan.Move{Branch: b.Name, Old: b.Tip, New: main.Tip})
			}
			start = time.Now()
			refused, err := r.Move(t.Context(), push(moves...))
			if err != nil || len(refused) > 0 {
				t.Fatal(refused, err)
			}
			t.Logf("moved in %v", time.Since(start))
			at := strings.Fields(w.git("for-each-ref", "--format=%(objectname)", "refs/heads/rw"))
			if len(at) != many || slices.ContainsFunc(at, func(s string) bool { return s != string(main.Tip) }) {
				t.Error("not all were moved")
			}
			if n := len(web.asked()); n > 5 {
				t.Errorf("%d requests: %q", n, web.asked())
			}
		})
	}
}
