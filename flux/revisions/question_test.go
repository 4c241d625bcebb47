package revisions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// TestFindingsStay: what was found of a change stays when its base moves elsewhere, and no longer; and it is what somebody finds who reads all anew.
func TestFindingsStay(t *testing.T) {
	o := newOrigin(t, 6, 2)
	first := map[string]string{"apps/app002/p.yaml": deployment("app002", "d", "a:3")}
	for i := range 6 {
		app := fmt.Sprintf("app%03d%s", i, []string{"", "-rw"}[i%2])
		first["apps/"+app+"/o01.yaml"] = deployment(app, "d", "a:1")
	}
	before := o.commit("main", "main", first)
	m := meter.New(t.Context(), meter.Limits{meter.Time: -1})
	defer m.Close()
	newReader := func() *reader {
		return &reader{meter: m, nothing: func() {}, build: func(ctx context.Context, j build.Job) ([]build.Result, error) {
			j.Command = []string{os.Args[0], "build"}
			return j.Run(ctx)
		}}
	}
	of := place{Mirror: o.dir, Builds: filepath.Join(t.TempDir(), "builds"), URL: "file://" + o.dir, Branch: "main"}
	changes := map[string]map[string]string{
		"live":     {"apps/app000/o00.yaml": object("app000", 0, "y")},
		"windowed": {"apps/app001-rw/o00.yaml": object("app001-rw", 0, "y")},
		"patched":  {"apps/app002/kustomization.yaml": "resources: [../base, o00.yaml, o01.yaml]\npatches: [{path: p.yaml}]\n"},
		"copied":   {"apps/app004/kustomization.yaml": "resources: [../base, o00.yaml, o01.yaml, new.yaml]\n", "apps/app004/new.yaml": deployment("app003-rw", "e", "a:3")},
		"breaks":   {"apps/app000/kustomization.yaml": "resources: [none.yaml]\n"},
	}
	asked := map[string]question{}
	for name, files := range changes {
		q := question{place: of, Asked: plan.Asked{Rules: "f11e", Tip: before, Before: before, Head: o.commit(name, string(before), files)}}
		for path := range files {
			q.Files = append(q.Files, plan.File{Path: path, Kind: plan.Modified})
		}
		asked[name] = q
	}
	for name, c := range map[string]struct {
		files map[string]string
		stays []string
	}{
		"another entry point": {map[string]string{"apps/app002/o01.yaml": deployment("app002", "d", "a:2")}, []string{"live", "windowed", "breaks"}},
		"a windowed one":      {map[string]string{"apps/app005-rw/o01.yaml": deployment("app005-rw", "d", "a:2")}, []string{"live", "windowed", "patched"}}, // others may make what it makes
		"the same one":        {map[string]string{"apps/app000/o01.yaml": deployment("app000", "d", "a:2")}, []string{"windowed", "patched"}},
		"what is patched in":  {map[string]string{"apps/app002/p.yaml": deployment("app002", "d", "a:4")}, []string{"live", "windowed", "copied", "breaks"}},
		"what is made there":  {map[string]string{"apps/app003-rw/o01.yaml": deployment("app003-rw", "e", "a:2")}, []string{"live", "windowed", "patched"}},
		"a base":              {map[string]string{"apps/base/b.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"}, nil},
		"a new file":          {map[string]string{"apps/app005-rw/new.yaml": object("app005-rw", 3, "z")}, nil},
		"a definition":        {map[string]string{"clusters/one/app004.yaml": "# gone\n"}, nil},
	} {
		if !race.Some(2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tip := o.commit("next", string(before), c.files)
			r := newReader()
			for _, q := range asked {
				if _, err := r.answer(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			was, stays := r.found, map[string]bool{}
			for name, q := range asked {
				of := change{q.Asked.Rules, before, q.Asked.Head}
				found := was[of]
				q.Asked.Tip = tip
				got, err := r.answer(t.Context(), q)
				want, wrong := newReader().answer(t.Context(), q)
				if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v %v, want %v %v", name, got, err, want, wrong)
				}
				stays[name] = r.found[of] == found
			}
			for _, name := range c.stays {
				if !stays[name] {
					t.Errorf("%s: it is asked anew", name)
				}
				delete(stays, name)
			}
			for name, is := range stays {
				if is {
					t.Errorf("%s: it stays", name)
				}
			}
		})
	}
}

// TestFindingsBound: what is kept of changes is counted, whatever takes the place of what.
func TestFindingsBound(t *testing.T) {
	r := &reader{}
	for i := range 1000 {
		r.keep(change{head: plan.SHA(fmt.Sprint(i % 7))}, &finding{touches: make([]string, i*37)})
		if i%5 == 0 {
			r.drop(change{head: plan.SHA(fmt.Sprint(i % 3))})
		}
		names := 0
		for _, f := range r.found {
			names += len(f.touches)
		}
		if names != r.names || names > maxNames && len(r.found) > 1 {
			t.Fatalf("%d: %d names of %d changes, %d are counted", i, names, len(r.found), r.names)
		}
	}
}
