package giturl

import "testing"

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
		if Same(c.a, c.b) != c.same || Same(c.b, c.a) != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, !c.same)
		}
	}
}

// TestSame: the spellings of one repository are one, and others are others.
func TestSame(t *testing.T) {
	const fleet = "https://github.com/acme/fleet"
	for _, url := range []string{
		fleet, fleet + "/", fleet + ".git", fleet + ".git/", "http://github.com/acme/fleet", "HTTPS://GitHub.com:443/Acme/Fleet.git",
		"ssh://git@github.com/acme/fleet", "ssh://git@github.com:22/acme/fleet.git", "ssh://git@ssh.github.com:443/acme/fleet", "ssh://git@ssh.github.com:443/ACME/FLEET.git",
		"git@github.com:acme/fleet.git", "github.com:acme/fleet", "git@github.com:/acme/fleet", "ssh://git@github.com:acme/fleet.git", "git@ssh.github.com:acme/fleet",
		"git://github.com/acme/fleet", "git+ssh://git@github.com/acme/fleet", "https://www.github.com/acme/fleet", "https://github.com./acme/fleet", "github.com/acme/fleet",
		"https://user:token@github.com/acme/fleet", "https://x-access-token:a@b@github.com/acme/fleet.git", "https://github.com/%61cme/fleet", "https://github.com/acme%2Ffleet",
		"https://github.com//acme/./fleet", "https://github.com/acme/fleet?x=y#z", " https://github.com/acme/fleet\n", "git@github-work:acme/fleet.git", "gh:acme/fleet",
	} {
		if !Same(url, fleet) || !Same(fleet, url) {
			t.Errorf("%q is another repository than %s", url, fleet)
		}
	}
	for _, url := range []string{
		"", "https://github.com/acme/fleet2", "https://github.com/other/fleet", "https://github.com/acme", "https://github.com", "https://ghe.example.com/acme/fleet",
		"https://github.com.example.com/acme/fleet", "https://example.com/github.com/acme/fleet", "https://example.com/?github.com/acme/fleet", "git@github-work:other/fleet.git",
		"https://github.com@example.com/acme/fleet", "oci://ghcr.io/acme/fleet", "oci://github.com/acme", "https://gitlab.com/acme/fleet", "fleet", "/srv/acme/fleet", "file:///srv/acme/fleet", "https://github.com/acme/fleet/tree/main",
	} {
		if Same(url, fleet) || Same(fleet, url) {
			t.Errorf("%q is %s", url, fleet)
		}
	}
	for _, c := range [][2]string{
		{"ssh://git@ghe.example.com:122/acme/fleet.git", "https://ghe.example.com/acme/fleet"}, {"ssh://git@git.example.com:7999/acme/fleet", "git@git.example.com:acme/fleet"},
		{"ssh://git@altssh.gitlab.com:443/acme/a/fleet.git", "https://gitlab.com/acme/a/fleet"}, {"git@acme.ghe.com:acme/fleet.git", "https://acme.ghe.com/acme/fleet"},
		{"https://git.example.com/acme/fleet/.git", "https://git.example.com/acme/fleet"}, {"ssh://git@git.example.com/~/acme/fleet.git", "git@git.example.com:acme/fleet"},
	} {
		if !Same(c[0], c[1]) {
			t.Errorf("%q is another repository than %q", c[0], c[1])
		}
	}
}
