package standin

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testRepo(t testing.TB) *Repo {
	t.Helper()
	g, err := New(Options{Dir: t.TempDir(), AppID: 1, Now: time.Now, Notify: func(Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	r, err := g.CreateRepo("acme", "fleet", map[string]string{"x": "x"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refModel is what branches are, as the documentation of updateRefs has it, in the plainest words.
type refModel struct {
	tips    map[string]string          // by full name
	reaches map[string]map[string]bool // by commit: all that git lists behind it
}

// apply gives the branches after the updates, or nil if one is refused.
func (m refModel) apply(updates []RefUpdate) map[string]string {
	next, named := maps.Clone(m.tips), map[string]bool{}
	for _, u := range updates {
		name, after := string(u.Name), string(u.AfterOID)
		tip := m.tips[name]
		reach, known := m.reaches[after]
		compared := u.BeforeOID == nil || string(*u.BeforeOID) == orZero(tip)
		deletes := after == ZeroSHA
		switch {
		case named[name], !compared, !deletes && !known, !deletes && tip != "" && !u.Force && !reach[tip]:
			return nil
		case deletes && (name == "refs/heads/main" || tip == "" && u.BeforeOID == nil):
			return nil
		case deletes:
			delete(next, name)
		default:
			next[name] = after
		}
		named[name] = true
	}
	for name := range next { // a branch is a file or a directory of git's, not both; what goes in the same step is in the way, too
		for other := range maps.Keys(next) {
			if strings.HasPrefix(other, name+"/") {
				return nil
			}
		}
		for gone := range m.tips {
			if next[name] != m.tips[name] && (strings.HasPrefix(gone, name+"/") || strings.HasPrefix(name, gone+"/")) {
				return nil
			}
		}
	}
	return next
}

// random makes updates out of a few bytes each.
func (m refModel) random(data []byte, commits []string) []RefUpdate {
	names := []string{"refs/heads/main", "refs/heads/rw", "refs/heads/rw/a", "refs/heads/rw/b", "refs/heads/c"}
	values := append([]string{ZeroSHA, strings.Repeat("1", 40)}, commits...)
	var list []RefUpdate
	for ; len(data) >= 3; data = data[3:] {
		u := RefUpdate{Name: string(names[int(data[0])%len(names)]), AfterOID: string(values[int(data[1])%len(values)]), Force: data[0] > 200}
		before := string(orZero(m.tips[string(u.Name)])) // most updates know the value
		switch data[2] % 8 {
		case 0:
			before = string(values[int(data[2]/8)%len(values)])
			fallthrough
		case 1, 2, 3, 4:
			u.BeforeOID = &before
		}
		list = append(list, u)
	}
	return list
}

// Updates of refs are done all or none, only from the values that they name, and forward only unless forced: what git holds
// then is what the model says.
func FuzzUpdateRefs(f *testing.F) {
	f.Add([]byte{3, 2, 1}, []byte{4, 3, 1, 0, 9, 1})
	f.Add([]byte{2, 5, 1, 3, 5, 1, 4, 0, 1}, []byte{2, 6, 1, 3, 6, 8})
	f.Add([]byte{1, 2, 1}, []byte{2, 2, 1, 1, 0, 1})
	f.Add([]byte{2, 2, 1}, []byte{203, 4, 5, 2, 8, 7, 202, 3, 5})
	dice := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		steps := [2][]byte{make([]byte, 12), make([]byte, 9)}
		for _, s := range steps {
			for i := range s {
				s[i] = byte(dice.IntN(256))
			}
		}
		f.Add(steps[0], steps[1])
	}
	r := testRepo(f)
	commits := dag(f, r.git, rand.New(rand.NewPCG(1, 2)), 12)
	m := refModel{reaches: map[string]map[string]bool{}}
	for _, sha := range append([]string{r.Tip("main")}, commits...) {
		out, err := r.git.run("rev-list", sha)
		if err != nil {
			f.Fatal(err)
		}
		m.reaches[sha] = map[string]bool{}
		for _, behind := range strings.Fields(string(out)) {
			m.reaches[sha][behind] = true
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r.reset(t, commits[0])
		for _, step := range [][]byte{first, second} {
			m.tips = r.branchTips(t)
			updates := m.random(step[:min(len(step), 24)], commits)
			want := m.apply(updates)
			err := r.UpdateRefs(r.g.Bot(), updates)
			if (err == nil) != (want != nil) {
				t.Fatalf("%+v: %v, the model says %v", updates, err, want)
			}
			if want == nil {
				want = m.tips
			}
			if diff := cmp.Diff(want, r.branchTips(t)); diff != "" {
				t.Fatalf("%+v (-want +got):\n%s", updates, diff)
			}
		}
	})
}

// reset leaves nothing but main, at a commit.
func (r *Repo) reset(t testing.TB, sha string) {
	t.Helper()
	for name, tip := range r.branchTips(t) {
		to := ""
		if name == "refs/heads/main" {
			to = sha
		}
		if err := r.git.move(refMove{name, tip, to}); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *Repo) branchTips(t testing.TB) map[string]string {
	t.Helper()
	refs, err := r.git.Branches()
	if err != nil {
		t.Fatal(err)
	}
	tips := map[string]string{}
	for _, one := range refs {
		tips["refs/heads/"+one.Name] = one.SHA
	}
	return tips
}
