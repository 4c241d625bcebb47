package build

import "testing"

// TestLocal: of an entry that needs something from elsewhere the objects that stand in the tree are built, as deep as they are, and the error stays.
func TestLocal(t *testing.T) {
	const away = `"https://github.com/vendor/addons//config?ref=v1"`
	const want = "ConfigMap x/a < app/a.yaml\n"
	for name, c := range map[string]struct {
		tree, want string
		components []string
	}{
		"at the top":       {"-- app/kustomization.yaml --\nnamespace: x\nresources: [" + away + ", a.yaml]\n-- app/a.yaml --\n" + configMap, want, nil},
		"below":            {"-- app/kustomization.yaml --\nnamespace: x\nresources: [../base, a.yaml]\n-- base/kustomization.yaml --\nbases: [" + away + "]\n-- app/a.yaml --\n" + configMap, want, nil},
		"a component":      {"-- app/kustomization.yaml --\nnamespace: x\nresources: [a.yaml]\ncomponents: [git@github.com:acme/c.git]\n-- app/a.yaml --\n" + configMap, want, nil},
		"the entry's":      {"-- app/kustomization.yaml --\nnamespace: x\nresources: [a.yaml]\n-- app/a.yaml --\n" + configMap, want, []string{"https://example.com/c.git"}},
		"nothing is left":  {"-- app/kustomization.yaml --\nresources: [" + away + "]\n", "", nil},
		"a patch for it":   {"-- app/kustomization.yaml --\nresources: [" + away + ", a.yaml]\npatches: [{patch: '{kind: B, metadata: {name: b}}'}]\n-- app/a.yaml --\n" + configMap, "", nil},
		"a file elsewhere": {"-- app/kustomization.yaml --\nresources: [a.yaml]\ncrds: [" + away + "]\n-- app/a.yaml --\n" + configMap, "", nil},
	} {
		r := one(t, archive(c.tree), Entry{Path: "app", Components: c.components})
		got := lines(Result{Objects: r.Objects})
		if got != c.want || !r.Remote || r.Err == "" {
			t.Errorf("%s: %q, want %q; %s", name, got, c.want, r.Err)
		}
	}
}
