package graph

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/giturl"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Which URL is this repository's is never guessed from a stranger. What says it is, in this order, what the repository's file names for the cluster, else
// what the caller knows; and beside it the source of the root itself, as its own Kustomization or a FluxInstance names that: a fork or a mirror is
// called otherwise than what Flux reads. Where nothing in the tree says it, and the caller alone does, a repository of the same name may be this
// one, too; and where nobody says it, any may. A source that may be this repository counts as it where there is something in the tree for it to
// read, and [Cluster.Unconfirmed] names it.

// The kind of a source that is a repository, and what a bootstrap calls the one that a cluster is read from, and its namespace.
const (
	gitRepository = "GitRepository"
	fluxSystem    = "flux-system"
)

// identify finds the URLs of this repository in a cluster, the branch of a root of which nothing says it, and whether it is doubtful what the root was
// found by.
func (c *Cluster) identify(t *Tree) {
	own := c.ownSources()
	synced := c.kind != "" // by a sync that the root was found by
	c.Doubtful = c.Rival.File != "" || synced && !giturl.Same(c.URL, t.URL) && !c.reaches(c.Place.File)
	confirmed := func(s *Source) bool { return isGit(s) && (s.Name == fluxSystem || giturl.Same(s.URL, t.URL)) }
	c.urls, c.sure = []string{cmp.Or(c.Root.URL, giturl.Hosted(t.URL))}, c.Root.URL != "" || slices.ContainsFunc(own, confirmed)
	if synced {
		c.urls, c.sure = append(c.urls, c.URL), c.sure || !c.Doubtful && c.kind == gitRepository
	}
	for _, s := range own {
		c.urls = append(c.urls, s.URL)
		c.URL = cmp.Or(c.URL, s.URL)
	}
	if k := c.self; k != nil && k.Source != nil && !synced {
		c.urls = append(c.urls, k.Source.URL) // it is pointed at what is named
	}
	own = slices.DeleteFunc(own, func(s *Source) bool { return !confirmed(s) })
	if c.URL = cmp.Or(c.Root.URL, c.URL); c.Branch == "" && !synced && len(own) > 0 {
		c.Branch = own[0].Follows()
		if slices.ContainsFunc(own, func(s *Source) bool { return s.Follows() != c.Branch }) {
			c.Branch = "" // they contradict each other
		}
	}
}

func isGit(s *Source) bool { return s.Kind == gitRepository }

// ownSources is what the root itself is read from: the sources of Kustomizations that it holds for its own directory, and one that is called as a
// bootstrap calls it; where there is none of these, what all agree on that read a directory above their own definitions. What nothing confirms, neither that
// name nor the caller, may be a stranger's: it counts, and makes no stranger of others.
func (c *Cluster) ownSources() (out []*Source) {
	root := func(o Object) bool { return o.Entry == nil || o.Entry.Path == c.Path }
	for _, s := range c.Sources {
		if root(s.Object) && s.Name == fluxSystem && (s.Namespace == fluxSystem || s.Namespace == "") {
			out = append(out, s)
		}
	}
	var above []*Source
	for _, k := range c.Kustomizations {
		switch {
		case !root(k.Object) || k.Source == nil || k.Path == "." || k.KubeConfig != "":
		case k.Path == c.Path:
			out = append(out, k.Source)
		case within(k.Path, k.File) && within(k.Path, k.Source.File):
			above = append(above, k.Source)
		}
	}
	if len(out) == 0 && !slices.ContainsFunc(above, func(s *Source) bool { return !giturl.Same(s.URL, above[0].URL) }) {
		return above
	}
	return out
}

// within reports whether a file is in a directory or below.
func within(dir, file string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }

// reaches reports whether a definition of the root is among what is read from there of this repository.
func (c *Cluster) reaches(file string) bool {
	if _, reads := c.edges[file]; reads {
		return describes(c.Path, file)
	}
	return slices.ContainsFunc(c.Kustomizations, func(k *Kustomization) bool {
		_, reads := k.edges[file]
		return reads && (k.Source == nil || c.same(k.Source.URL))
	})
}

// describes reports whether a file that is read with a directory may be taken for what says that Flux reads it, and for no example. In the root
// of the repository is everything: there it stands where a bootstrap puts it.
func describes(dir, file string) bool {
	return dir != "." || path.Dir(file) == "." || path.Dir(file) == fluxSystem
}

// same reports whether a URL is known to be this repository's.
func (c *Cluster) same(url string) bool {
	return slices.ContainsFunc(c.urls, func(u string) bool { return giturl.Same(u, url) })
}

// here reports whether a Kustomization reads this repository, as far as is known. A source that stands in no file counts as it if its kind allows that, and
// the path is a directory that not every repository has.
func (c *Cluster) here(k *Kustomization) bool {
	switch {
	case k.Copied:
		return true
	case k.Source != nil:
		return c.mayBe(k.Source, k.Path)
	case c.handsOn(k.SourceRef, k.Object):
		return k.SourceRef.Kind == gitRepository || k.SourceRef.Kind == "" || c.stands(k.Path)
	}
	return k.from == nil && k.SourceRef.Kind != "Bucket" && k.Path != "." && c.stands(k.Path)
}

// handsOn reports whether a source that an object names is that which the root is read from, by what it is called. What a kubeConfig leads to has a Flux of its
// own, whose source is called so, too.
func (c *Cluster) handsOn(r manifest.Ref, from Object) bool {
	if from.Entry.target() != "" {
		return false
	}
	own := manifest.Ref{Namespace: fluxSystem, Name: fluxSystem}
	if c.self != nil && c.self.SourceRef.Name != "" {
		own = manifest.Ref{Namespace: cmp.Or(c.self.SourceRef.Namespace, c.self.Namespace, fluxSystem), Name: c.self.SourceRef.Name}
	}
	namespace := cmp.Or(r.Namespace, from.Namespace, own.Namespace)
	return r.Name == own.Name && namespace == own.Namespace
}

// mayBe reports whether a source may be this repository for somebody who reads a directory of it. An artifact may be made of a part of it, and has
// other directories then. That every repository has a root says nothing.
func (c *Cluster) mayBe(s *Source, dir string) bool {
	switch {
	case c.same(s.URL):
		return isGit(s) || c.stands(dir)
	case isGit(s) && manifest.Unfilled(s.URL) != "":
		return c.stands(dir) // a problem names the variable
	}
	return c.doubtful(s) && dir != "." && c.stands(dir)
}

// doubtful reports whether it is not known whether a source is this repository.
func (c *Cluster) doubtful(s *Source) bool {
	return s != nil && isGit(s) && manifest.Unfilled(s.URL) == "" && !c.same(s.URL) && !c.stranger(s.URL)
}

// stands reports whether a directory is one of the tree, or not known.
func (c *Cluster) stands(dir string) bool { return manifest.Unfilled(dir) != "" || c.tree.IsDir(dir) }

// stranger reports whether a URL is known to be another repository's: it is none of those that this one is known to have, and is not called as a mirror of
// it may be; nor as a fork, where the caller alone knows it.
func (c *Cluster) stranger(url string) bool {
	for _, own := range c.known() {
		if giturl.Same(own, url) || c.Root.URL == "" && (giturl.Mirrors(own, url) || !c.sure && giturl.Alike(own, url)) {
			return false
		}
	}
	return c.identified()
}

// known is the URLs that this repository is known to have.
func (c *Cluster) known() []string {
	return slices.DeleteFunc(append(slices.Clone(c.urls), giturl.Hosted(c.tree.URL)), func(url string) bool { return url == "" })
}

// identified reports whether anything says which repository this is.
func (c *Cluster) identified() bool { return c.sure || giturl.Hosted(c.tree.URL) != "" }

// begins finds what of a URL without its scheme is a repository's, where its name is known to end; doubled a host with more than one slash behind it.
var (
	begins  = regexp.MustCompile(`^(?:(?:[^/@]*@)?(?:(?:www|raw|codeload|ssh)\.)?github(?:usercontent)?\.com(?::\d+)?[/:][^/]+/[^/]+|.*?(?:\.git(?:/|$)|//))`)
	doubled = regexp.MustCompile(`^([^/]*)//+`)
)

// fetches reports whether a change of this repository may reach what kustomize fetches: it is not known to be of another one, nor at what never changes;
// and whether it is called as this one.
func (c *Cluster) fetches(text string) (may, named bool) {
	may, named = c.fetchesAt(text)
	whole := giturl.Unescaped(giturl.Unescaped(strings.ToLower(text)))
	inner := strings.Split(whole, "://")
	for i := 2; i < len(inner); i++ { // a proxy's, of another URL
		if i > maxInner {
			return true, named
		}
		m, n := c.fetchesAt("https://" + strings.Join(inner[i:], "://"))
		may, named = may || m, named || n
	}
	return may, named
}

// maxInner is how many URLs in another one are looked at.
const maxInner = 8

// fetchesAt is fetches for the URL itself.
func (c *Cluster) fetchesAt(text string) (may, named bool) {
	text, query, _ := strings.Cut(strings.TrimSpace(text), "?")
	text = strings.ToLower(text)
	if text = giturl.Unescaped(strings.TrimPrefix(text, "git::")); strings.HasPrefix(text, "gh:") {
		text = "github.com/" + text[len("gh:"):]
	}
	scheme, rest, found := strings.Cut(text, "://")
	if scheme += "://"; !found {
		scheme, rest = "", text
	}
	rest = doubled.ReplaceAllString(rest, "$1/") // the first of them ends no name
	first := begins.FindString(rest)
	if giturl.Pins(text, query, first != "") {
		return false, false
	}
	host, dir := giturl.Of(scheme + cmp.Or(first, rest))
	apart := first != "" && c.stranger("https://"+host+"/"+dir)
	_, all := giturl.Of(scheme + rest)
	for _, own := range c.known() {
		at, of := giturl.Of(own)
		named = named || host == at && (within(of, dir+"/") || within(of, all+"/")) || !apart && giturl.HasWords(dir, path.Base(of))
		may = may || !apart && strings.HasSuffix(host, at) && strings.Contains("/"+host+"/"+dir, "/api") // it may have a number for a name
		may = may || first == "" && giturl.Asks(query, of)
	}
	return may || named || first != "" && !apart || !c.identified(), named
}

// Reads reports whether a source is this repository, or counts as it.
func (c *Cluster) Reads(s *Source) bool {
	return c.read[s] || c.same(s.URL)
}

// Unconfirmed is the sources that may be this repository though nothing says that they are it, by place.
func (c *Cluster) Unconfirmed() []*Source {
	var out []*Source
	seen := map[*Source]bool{}
	for _, k := range c.Kustomizations {
		if s := k.Source; c.doubtful(s) && (k.Here || k.Path == ".") && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Source) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), manifest.Ref{Kind: a.URL, Namespace: a.Namespace, Name: a.Name}.Compare(manifest.Ref{Kind: b.URL, Namespace: b.Namespace, Name: b.Name}))
	})
	return out
}
