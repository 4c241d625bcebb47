// Package giturl says which repository a URL names, in whichever spelling: it knows forges, and neither Flux nor files.
package giturl

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Same reports whether two URLs name one repository: whatever the scheme, the user, the port, the case, and a .git at the end. A host without a dot
// is a name of somebody's own, as ssh and git let people set, and may be any.
func Same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	host, dir := Of(a)
	other, at := Of(b)
	return dir == at && (host == other || dir != "" && (private(host) || private(other)))
}

// Alike reports whether two URLs name repositories of one name, as forks have.
func Alike(a, b string) bool {
	_, x := Of(a)
	_, y := Of(b)
	return path.Base(x) == path.Base(y)
}

func private(host string) bool { return !strings.Contains(host, ".") }

// Hosted is a URL by which others may know a repository; "" for a directory.
func Hosted(url string) string {
	scheme, _, found := strings.Cut(url, "://")
	if found && !strings.EqualFold(scheme, "file") || !found && scp.MatchString(url) {
		return url
	}
	return ""
}

// Is reports whether a text is a URL by which others may know a repository: with a host, and a path there.
func Is(text string) bool {
	host, dir := Of(text)
	return Hosted(text) != "" && host != "" && dir != ""
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

// Of is the host and the path of a URL, as one repository has them in all spellings. Forges do not tell names apart by case.
func Of(of string) (host, dir string) {
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
	dir = strings.ToLower(Unescaped(dir))
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

// Mirrors reports whether one of two URLs may name a mirror of the other: its name has that of the other in it, on the same host with its owner's.
func Mirrors(a, b string) bool {
	host, x := Of(a)
	other, y := Of(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	name, in := path.Base(x), path.Base(y)
	return HasWords(in, name) && (host != other || name != in && HasWords(in, path.Base(path.Dir(x))))
}

// HasWords reports whether a name has another one in it, as words.
func HasWords(name, in string) bool {
	words := func(s string) string { return "-" + breaks.ReplaceAllString(s, "-") + "-" }
	return strings.Contains(words(name), words(in))
}

// breaks is what stands between words of a name.
var breaks = regexp.MustCompile(`[^A-Za-z0-9]`)

// pinned and pinnedFile find what is fetched at a commit, or at a tag that cannot be a branch: by a ref, and of a forge as a file or an archive. No change reaches that.
var (
	pinned     = regexp.MustCompile(`^(?:[0-9a-f]{40}|refs/tags/.*)$`)
	pinnedFile = regexp.MustCompile(`^\w+://(?:raw\.githubusercontent\.com/[^/]+/[^/]+|[^/]+(?:/[^/]+)+/(?:raw|blob|archive|tree|zip|tar\.gz))/(?:[0-9a-f]{40}[/.]|refs/tags/)`)
	// home is what stands for somebody's directory on a host, as ssh has it.
	home = regexp.MustCompile(`^~/`)
)

// Pins reports whether what is fetched is at a commit, or at a tag that cannot be a branch, as its path says or its query, of what is a repository. kustomize asks for
// any file as it stands, takes the query's keys as they are written, and none of a query that is no query.
func Pins(text, query string, repository bool) bool {
	fixed := pinnedFile.MatchString(text) && !strings.Contains(text, ".git/") && !strings.Contains(text, "/../")
	file := strings.HasPrefix(text, "http") && rawFile.MatchString(text)
	for part := range strings.SplitSeq(query, "&") {
		key, ref, _ := strings.Cut(part, "=")
		if strings.Contains(part, ";") || strings.Contains(percent.ReplaceAllString(part, ""), "%") {
			return false
		}
		if key = Unescaped(key); key == "ref" || key == "version" {
			at := pinned.MatchString(Unescaped(ref))
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

// Asks reports whether a query has the name of a repository in it, and its owner's, or asks for one of that name of whoever it is.
func Asks(query, of string) bool {
	query = Unescaped(Unescaped(Unescaped(strings.ToLower(query))))
	if m := ofRepository.FindStringSubmatch(query); m != nil && strings.TrimSuffix(m[1], ".git") == path.Base(of) {
		return true
	}
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) }) {
		words[strings.TrimSuffix(word, ".git")] = true
	}
	return words[path.Base(of)] && words[path.Base(path.Dir(of))]
}

// percent is a byte in a URL.
var percent = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// Unescaped is a path of a URL with its bytes as they are.
func Unescaped(p string) string {
	return percent.ReplaceAllStringFunc(p, func(s string) string {
		c, _ := strconv.ParseUint(s[1:], 16, 8)
		return string([]byte{byte(c)})
	})
}
