package graph_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestRepository: which sources are this repository. The archives are as those of TestObjects; `origin` is what the caller knows, `named` has a line
// "NAME PATH BRANCH URL" for each cluster that the file names. Beside the words there:
//
//	here ENTRY BOOL                whether a Kustomization counts as one of this repository
//	unconfirmed CLUSTER SOURCE     what counts without being known
//	url CLUSTER URL
//	doubtful CLUSTER
//	rival CLUSTER FILE:LINE
//	target ENTRY CLUSTER CONFIG…   where an entry point applies its objects
//	leaf TEXT
func TestRepository(t *testing.T) {
	names, err := fs.Glob(objects, "testdata/repository/*.txtar")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(path.Base(name), ".txtar"), func(t *testing.T) {
			data, err := objects.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := fluxtrees.Parse(data)
			section := func(name string) (text string) {
				if tree[name] != nil {
					text = strings.TrimSpace(string(tree[name].Data))
					delete(tree, name)
				}
				return text
			}
			origin, want := section("origin"), strings.Split(section("want"), "\n")
			var named []graph.Root
			for line := range strings.Lines(section("named")) {
				words := strings.Fields(line)
				named = append(named, graph.Root{Name: words[0], Path: words[1], Branch: words[2], URL: words[3]})
			}
			g := read(t, tree)
			g.URL = origin
			wanted(t, repositoryFacts(g, g.Clusters(named)), want)
		})
	}
}

// wanted holds facts against lines, as TestObjects has it.
func wanted(t *testing.T, got, want []string) {
	t.Helper()
	for _, line := range got {
		word, _, _ := strings.Cut(line, " ")
		asked := func(w string) bool { return w == word+"!" || strings.HasPrefix(w, word+" ") }
		if slices.ContainsFunc(want, asked) && !slices.ContainsFunc(want, func(w string) bool { return says(line, w) }) {
			t.Errorf("not expected: %s", line)
		}
	}
	for _, line := range want {
		if !strings.HasSuffix(line, "!") && !slices.ContainsFunc(got, func(g string) bool { return says(g, line) }) {
			t.Errorf("not found: %s", line)
		}
	}
}

// says reports whether a fact is what is wanted. How a root was found is not written out to its end.
func says(got, want string) bool {
	return got == want || strings.HasPrefix(want, "root ") && strings.HasPrefix(got, want)
}

func repositoryFacts(g *graph.Tree, clusters []graph.Cluster) []string {
	out := facts(g, clusters)
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i := range clusters {
		c := &clusters[i]
		add("url %s %s", c.Name, c.URL)
		if c.Doubtful {
			add("doubtful %s", c.Name)
		}
		if c.Rival.File != "" {
			add("rival %s %s", c.Name, c.Rival)
		}
		for _, s := range c.Unconfirmed() {
			add("unconfirmed %s %s", c.Name, s.Name)
		}
		for _, k := range c.Kustomizations {
			add("here %s %t", k.Name, k.Here)
		}
		for _, e := range c.Entries() {
			name := "root"
			if e.Kustomization != nil {
				name = e.Kustomization.Name
			}
			add("target %s %s", name, strings.ReplaceAll(e.Target(), "\x00", " "))
		}
	}
	for _, l := range graph.Leaves(clusters) {
		add("leaf %s", l)
	}
	return out
}

// TestSpellings: what Azure DevOps and Bitbucket Server have for each protocol is one repository, and what has a word of it in its name is not.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://dev.azure.com/acme/web/_git/fleet", "git@ssh.dev.azure.com:v3/acme/web/fleet", true},
		{"https://acme@dev.azure.com/acme/web/_git/fleet", "ssh://git@ssh.dev.azure.com/v3/acme/web/fleet", true},
		{"https://acme.visualstudio.com/DefaultCollection/web/_git/fleet", "acme@vs-ssh.visualstudio.com:v3/acme/web/fleet", true},
		{"https://acme.visualstudio.com/web/_git/fleet", "https://dev.azure.com/acme/web/_git/fleet", true},
		{"https://dev.azure.com/acme/_git/fleet", "git@ssh.dev.azure.com:v3/acme/fleet/fleet", true},
		{"https://dev.azure.com/acme/web/_git/fleet", "https://dev.azure.com/acme/api/_git/fleet", false},
		{"https://tfs.example.com/tfs/main/web/_git/fleet", "ssh://tfs.example.com:22/tfs/main/web/_git/fleet", true},
		{"https://bitbucket.example.com/scm/ops/fleet.git", "ssh://git@bitbucket.example.com:7999/ops/fleet.git", true},
		{"https://example.com/bitbucket/scm/~me/fleet.git", "ssh://git@example.com:7999/~me/fleet.git", true},
		{"https://gitlab.com/scm/fleet", "https://gitlab.com/fleet", false},
		{"https://gitlab.com/v3/ops/fleet", "https://gitlab.com/ops/fleet", false},
	} {
		if graph.SameURL(c.a, c.b) != c.same || graph.SameURL(c.b, c.a) != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, !c.same)
		}
	}
}

// TestSameURL: the spellings of one repository are one, and others are others.
func TestSameURL(t *testing.T) {
	const fleet = "https://github.com/acme/fleet"
	for _, url := range []string{
		fleet, fleet + "/", fleet + ".git", fleet + ".git/", "http://github.com/acme/fleet", "HTTPS://GitHub.com:443/Acme/Fleet.git",
		"ssh://git@github.com/acme/fleet", "ssh://git@github.com:22/acme/fleet.git", "ssh://git@ssh.github.com:443/acme/fleet", "ssh://git@ssh.github.com:443/ACME/FLEET.git",
		"git@github.com:acme/fleet.git", "github.com:acme/fleet", "git@github.com:/acme/fleet", "ssh://git@github.com:acme/fleet.git", "git@ssh.github.com:acme/fleet",
		"git://github.com/acme/fleet", "git+ssh://git@github.com/acme/fleet", "https://www.github.com/acme/fleet", "https://github.com./acme/fleet", "github.com/acme/fleet",
		"https://user:token@github.com/acme/fleet", "https://x-access-token:a@b@github.com/acme/fleet.git", "https://github.com/%61cme/fleet", "https://github.com/acme%2Ffleet",
		"https://github.com//acme/./fleet", "https://github.com/acme/fleet?x=y#z", " https://github.com/acme/fleet\n", "git@github-work:acme/fleet.git", "gh:acme/fleet",
	} {
		if !graph.SameURL(url, fleet) || !graph.SameURL(fleet, url) {
			t.Errorf("%q is another repository than %s", url, fleet)
		}
	}
	for _, url := range []string{
		"", "https://github.com/acme/fleet2", "https://github.com/other/fleet", "https://github.com/acme", "https://github.com", "https://ghe.example.com/acme/fleet",
		"https://github.com.example.com/acme/fleet", "https://example.com/github.com/acme/fleet", "https://example.com/?github.com/acme/fleet", "git@github-work:other/fleet.git",
		"https://github.com@example.com/acme/fleet", "oci://ghcr.io/acme/fleet", "oci://github.com/acme", "https://gitlab.com/acme/fleet", "fleet", "/srv/acme/fleet", "file:///srv/acme/fleet", "https://github.com/acme/fleet/tree/main",
	} {
		if graph.SameURL(url, fleet) || graph.SameURL(fleet, url) {
			t.Errorf("%q is %s", url, fleet)
		}
	}
	for _, c := range [][2]string{
		{"ssh://git@ghe.example.com:122/acme/fleet.git", "https://ghe.example.com/acme/fleet"}, {"ssh://git@git.example.com:7999/acme/fleet", "git@git.example.com:acme/fleet"},
		{"ssh://git@altssh.gitlab.com:443/acme/a/fleet.git", "https://gitlab.com/acme/a/fleet"}, {"git@acme.ghe.com:acme/fleet.git", "https://acme.ghe.com/acme/fleet"},
		{"https://git.example.com/acme/fleet/.git", "https://git.example.com/acme/fleet"}, {"ssh://git@git.example.com/~/acme/fleet.git", "git@git.example.com:acme/fleet"},
	} {
		if !graph.SameURL(c[0], c[1]) {
			t.Errorf("%q is another repository than %q", c[0], c[1])
		}
	}
}
