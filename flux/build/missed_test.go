package build

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

// TestMissed: a file of the tree that a build asks for is said where the entry is not known to read it, whether it was sent, was built before, or the build fails for want of it.
// So it is of what stands in the tree of an entry that needs something from elsewhere.
func TestMissed(t *testing.T) {
	const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	const patched = "resources: [a.yaml]\npatches: [{path: p.yaml}]\n"
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	for name, c := range map[string]struct {
		list   string
		sent   []string // beside the list and a.yaml
		knows  []string
		want   string
		failed bool
	}{
		"what it reads":                       {patched, []string{"k/p.yaml"}, []string{"k/kustomization.yaml", "k/a.yaml", "k/p.yaml"}, "", false},
		"what another entry reads":            {patched, []string{"k/p.yaml"}, []string{"k/kustomization.yaml", "k/a.yaml"}, "k/p.yaml", false},
		"what nobody reads":                   {patched, nil, []string{"k/kustomization.yaml", "k/a.yaml"}, "k/p.yaml", true},
		"what is not there":                   {"resources: [a.yaml]\npatches: [{path: none.yaml}]\n", nil, []string{"k/kustomization.yaml", "k/a.yaml"}, "", true},
		"beside what comes from elsewhere":    {"resources: [a.yaml, \"https://example.com/x/y//z?ref=v1\"]\npatches: [{path: p.yaml}]\n", nil, []string{"k/kustomization.yaml", "k/a.yaml"}, "k/p.yaml", true},
		"an entry of which nothing is known":  {patched, []string{"k/p.yaml"}, nil, "", false},
		"what decides what the source leaves": {"resources: [a.yaml]\n", []string{"k/.sourceignore"}, []string{"k/kustomization.yaml", "k/a.yaml"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"k/kustomization.yaml": file(c.list), "k/a.yaml": file(cm), "k/p.yaml": file(cm + "data: {a: b}\n"), "k/.sourceignore": file("*.md\n")}
			entry := Entry{Path: "k"}
			if c.knows != nil {
				entry.Misses = func(name string) bool { return tree[name] != nil && !slices.Contains(c.knows, name) }
			}
			j := Job{Command: command(), Tree: tree, Files: append([]string{"k/kustomization.yaml", "k/a.yaml"}, c.sent...), Entries: []Entry{entry}, Cache: NewCache(filepath.Join(t.TempDir(), "c"), used)}
			defer j.Cache.Close()
			for range 2 { // the second is kept, if anything is
				results, err := j.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if r := results[0]; r.Missed != c.want || (r.Err != "") != c.failed {
					t.Errorf("misses %q, want %q; %s", r.Missed, c.want, r.Err)
				}
			}
		})
	}
}
