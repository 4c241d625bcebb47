package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/sluicegate/sluice/flux/kustomize"
)

// TestRemote: what kustomize would fetch is remote, whatever stands in the tree. Of what it would look for in the tree only what names a scheme, or a
// host with too few directories, is remote, too: nobody has such files.
func TestRemote(t *testing.T) {
	quiet(t)
	t.Setenv("PATH", "")
	for ref, want := range map[string]struct{ kustomize, graph bool }{
		"http://127.0.0.1:1/a.yaml": {true, true}, "HTTP://127.0.0.1:1/a.yaml": {true, true}, "http://127.0.0.1:1/a/b?ref=v1": {true, true}, "ssh://git@127.0.0.1/a/b": {true, true},
		"file:///a/b": {true, true}, "github.com/a/b": {true, true}, "GitHub.com/a/b/c?ref=v1": {true, true}, "github.com:a/b": {true, true}, "git@127.0.0.1:a/b": {true, true},
		"me-2@x/a/b.yaml": {true, true}, "git::github.com/a/b": {true, true}, "GIT::ssh://x/a.git": {true, true}, "a@b/c/_git/d": {true, true},
		"git://x/a/b": {false, true}, "s3::x://a/b": {false, true}, "github.com/a": {false, true}, "git::git::github.com/a/b": {false, true}, "git@x:a": {false, true},
		"a:b": {}, "a:b/c/d": {}, "a?ref=v1": {}, "a/b?ref=v1": {}, "a@b": {}, "2@x/a/b": {}, "x/a@b:c/d": {}, "mygithub.com/a/b": {}, "./github.com/a/b": {}, "git::a/b": {}, "/x:a@b": {},
		"gitlab.com/a/b": {}, "x.git": {}, "a/_git/b": {}, "a//b": {},
	} {
		fsys := filesys.MakeFsInMemory()
		if err := fsys.WriteFile("k/kustomization.yaml", fmt.Appendf(nil, "resources: [%q]\n", ref)); err != nil {
			t.Fatal(err)
		}
		_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, "k")
		fetched := strings.Contains(fmt.Sprint(err), "no 'git' program") || strings.Contains(fmt.Sprint(err), "connection refused")
		if err == nil || fetched != want.kustomize || kustomize.Remote(ref) != want.graph {
			t.Errorf("%s: kustomize fetches it: %t, graph: %t; want %+v\n%v", ref, fetched, kustomize.Remote(ref), want, err)
		}
	}
}
