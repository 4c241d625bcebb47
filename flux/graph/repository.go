package graph

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

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
	c.Doubtful = c.Rival.File != "" || synced && !SameURL(c.URL, t.URL) && !c.reaches(c.Place.File)
	confirmed := func(s *Source) bool { return isGit(s) && (s.Name == fluxSystem || SameURL(s.URL, t.URL)) }
	c.urls, c.sure = []string{cmp.Or(c.Root.URL, hosted(t.URL))}, c.Root.URL != "" || slices.ContainsFunc(own, confirmed)
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
	if len(out) == 0 && !slices.ContainsFunc(above, func(s *Source) bool { return !SameURL(s.URL, above[0].URL) }) {
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
	return slices.ContainsFunc(c.urls, func(u string) bool { return SameURL(u, url) })
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
	case k.SourceRef.Kind == gitRepository || k.SourceRef.Kind == "":
		return k.Path != "."
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
		if SameURL(own, url) || c.Root.URL == "" && (mirrors(own, url) || !c.sure && alike(own, url)) {
			return false
		}
	}
	return c.identified()
}

// known is the URLs that this repository is known to have.
func (c *Cluster) known() []string {
	return slices.DeleteFunc(append(slices.Clone(c.urls), hosted(c.tree.URL)), func(url string) bool { return url == "" })
}

// identified reports whether anything says which repository this is.
func (c *Cluster) identified() bool { return c.sure || hosted(c.tree.URL) != "" }

// mirrors reports whether one of two URLs may name a mirror of the other: its name has that of the other in it, on the same host with its owner's.
func mirrors(a, b string) bool {
	host, x := repository(a)
	other, y := repository(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	name, in := path.Base(x), path.Base(y)
	return has(in, name) && (host != other || name != in && has(in, path.Base(path.Dir(x))))
}

// has reports whether a name has another one in it, as words.
func has(name, in string) bool {
	words := func(s string) string {
		return "-" + odd.ReplaceAllString(strings.NewReplacer(".", "-", "_", "-").Replace(s), "-") + "-"
	}
	return strings.Contains(words(name), words(in))
}

// begins finds what of a URL without its scheme is a repository's, where its name is known to end; pinned and pinnedFile what is fetched at
// a commit, or at a tag that cannot be a branch: by a ref, and of a forge as a file or an archive. No change reaches that.
var (
	begins = regexp.MustCompile(`^(?:(?:[^/@]*@)?(?:(?:www|raw|codeload|ssh)\.)?github(?:usercontent)?\.com(?::\d+)?[/:][^/]+/[^/]+|.*?(?:\.git(?:/|$)|//))`)
	pinned = regexp.MustCompile(`^(?:[0-9a-f]{40}|refs/tags/.*)$`)
	// doubled is a host with more than one slash behind it; home is what stands for somebody's directory there, as ssh has it.
	doubled    = regexp.MustCompile(`^([^/]*)//+`)
	home       = regexp.MustCompile(`^~/`)
	pinnedFile = regexp.MustCompile(`^\w+://(?:raw\.githubusercontent\.com/[^/]+/[^/]+|[^/]+(?:/[^/]+)+/(?:raw|blob|archive|tree|zip|tar\.gz))/(?:[0-9a-f]{40}[/.]|refs/tags/)`)
)

// fetches reports whether a change of this repository may reach what kustomize fetches: it is not known to be of another one, nor at what never changes;
// and whether it is called as this one.
func (c *Cluster) fetches(text string) (may, named bool) {
	may, named = c.fetchesAt(text)
	whole := unescaped(unescaped(strings.ToLower(text)))
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
	if text = unescaped(strings.TrimPrefix(text, "git::")); strings.HasPrefix(text, "gh:") {
		text = "github.com/" + text[len("gh:"):]
	}
	scheme, rest, found := strings.Cut(text, "://")
	if scheme += "://"; !found {
		scheme, rest = "", text
	}
	rest = doubled.ReplaceAllString(rest, "$1/") // the first of them ends no name
	first := begins.FindString(rest)
	if pins(text, query, first != "") {
		return false, false
	}
	host, dir := repository(scheme + cmp.Or(first, rest))
	apart := first != "" && c.stranger("https://"+host+"/"+dir)
	_, all := repository(scheme + rest)
	for _, own := range c.known() {
		at, of := repository(own)
		named = named || host == at && (within(of, dir+"/") || within(of, all+"/")) || !apart && has(dir, path.Base(of))
		may = may || !apart && strings.HasSuffix(host, at) && strings.Contains("/"+host+"/"+dir, "/api") // it may have a number for a name
		may = may || first == "" && asks(query, of)
	}
	return may || named || first != "" && !apart || !c.identified(), named
}

// pins reports whether what is fetched is at a commit, or at a tag that cannot be a branch, as its path says or its query, of what is a repository. kustomize asks for
// any file as it stands, takes the query's keys as they are written, and none of a query that is no query.
func pins(text, query string, repository bool) bool {
	fixed := pinnedFile.MatchString(text) && !strings.Contains(text, ".git/") && !strings.Contains(text, "/../")
	file := strings.HasPrefix(text, "http") && rawFile.MatchString(text)
	for part := range strings.SplitSeq(query, "&") {
		key, ref, _ := strings.Cut(part, "=")
		if strings.Contains(part, ";") || strings.Contains(percent.ReplaceAllString(part, ""), "%") {
			return false
		}
		if key = unescaped(key); key == "ref" || key == "version" {
			at := pinned.MatchString(unescaped(ref))
			if fixed = at && (fixed || repository && !file); !fixed {
				return false
			}
		}
	}
	return fixed
}

// ofRepository finds what a query asks for as a repository.
var ofRepository = regexp.MustCompile(`(?:^|[&;?])(?:repo|repository|project)=([^&;]*)`)

// rawFile is a URL of a file, and of no repository.
var rawFile = regexp.MustCompile(`\.(?:ya?ml|json)/*$|/raw/|://raw\.`)

// asks reports whether a query has the name of a repository in it, and its owner's, or asks for one of that name of whoever it is.
func asks(query, of string) bool {
	query = unescaped(unescaped(unescaped(strings.ToLower(query))))
	if m := ofRepository.FindStringSubmatch(query); m != nil && strings.TrimSuffix(m[1], ".git") == path.Base(of) {
		return true
	}
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) }) {
		words[strings.TrimSuffix(word, ".git")] = true
	}
	return words[path.Base(of)] && words[path.Base(path.Dir(of))]
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

// SameURL reports whether two URLs name one repository: whatever the scheme, the user, the port, the case, and a .git at the end. A host without a dot
// is a name of somebody's own, as ssh and git let people set, and may be any.
func SameURL(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	host, dir := repository(a)
	other, at := repository(b)
	return dir == at && (host == other || dir != "" && (private(host) || private(other)))
}

// alike reports whether two URLs name repositories of one name, as forks have.
func alike(a, b string) bool {
	_, x := repository(a)
	_, y := repository(b)
	return path.Base(x) == path.Base(y)
}

func private(host string) bool { return !strings.Contains(host, ".") }

// hosted is a URL by which others may know a repository; "" for a directory.
func hosted(url string) string {
	scheme, _, found := strings.Cut(url, "://")
	if found && !strings.EqualFold(scheme, "file") || !found && scp.MatchString(url) {
		return url
	}
	return ""
}

// IsURL reports whether a text is a URL by which others may know a repository: with a host, and a path there.
func IsURL(text string) bool {
	host, dir := repository(text)
	return hosted(text) != "" && host != "" && dir != ""
}

// HasSecret reports whether a URL has a password, or over HTTP who reads it, which is a token there.
func HasSecret(url string) bool {
	scheme, rest, found := strings.Cut(url, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	return found && at >= 0 && (strings.HasPrefix(strings.ToLower(scheme), "http") || strings.Contains(authority[:at], ":"))
}

// scp is how ssh names a repository without a scheme.
var scp = regexp.MustCompile(`^(?:[^@/:]+@)?([^/:]+):([^/].*)$`)

// otherHosts is further names of forges, such as those that answer ssh on the port of https.
var otherHosts = map[string]string{
	"www.github.com": "github.com", "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
	"raw.githubusercontent.com": "github.com", "codeload.github.com": "github.com", "ssh.dev.azure.com": "dev.azure.com", "vs-ssh.visualstudio.com": "dev.azure.com",
}

// repository is the host and the path of a URL, as one repository has them in all spellings. Forges do not tell names apart by case.
func repository(of string) (host, dir string) {
	of = strings.ToLower(strings.TrimSpace(of))
	_, rest, found := strings.Cut(of, "://")
	if !found {
		rest = of
		if m := scp.FindStringSubmatch(of); m != nil {
			rest = m[1] + "/" + m[2]
		}
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, dir, _ = strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, port, _ := strings.Cut(host, ":")
	if strings.Trim(port, "0123456789") != "" {
		dir = port + "/" + dir // as ssh has it without a scheme
	}
	host = strings.TrimSuffix(host, ".")
	dir = strings.ToLower(unescaped(dir))
	dir = home.ReplaceAllString(strings.Trim(path.Clean("/"+dir), "/"), "")
	dir = strings.TrimSuffix(strings.TrimSuffix(dir, ".git"), "/")
	return spelling(cmp.Or(otherHosts[host], host), dir)
}

// spelling is a host and a path without what Azure DevOps and Bitbucket Server have of them in one protocol and not in another one.
func spelling(host, dir string) (string, string) {
	const azure = "dev.azure.com"
	if organization, found := strings.CutSuffix(host, ".visualstudio.com"); found {
		host, dir = azure, organization+"/"+strings.TrimPrefix(dir, "defaultcollection/")
	}
	if host == azure {
		dir = strings.TrimPrefix(dir, "v3/")
	}
	if project, name, found := strings.Cut(dir, "/_git/"); found {
		if host == azure && !strings.Contains(project, "/") {
			project += "/" + name // the project is called as the repository
		}
		dir = project + "/" + name
	}
	if _, name, found := strings.Cut("/"+dir, "/scm/"); found && strings.Count(name, "/") == 1 {
		dir = name
	}
	return host, dir
}
