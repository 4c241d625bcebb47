package config

import (
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/flux/giturl"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// wordIgnore says that a path is not managed by sluice.
const wordIgnore = "ignore"

// Regular expressions that Go and the schema share.
const (
	namePattern    = `^[A-Za-z0-9][A-Za-z0-9._-]*$`
	releasePattern = `^([A-Za-z0-9][A-Za-z0-9._-]*|\{[^{}/*]+\})$`
	granteePattern = `^(user:[A-Za-z0-9][A-Za-z0-9_-]*|team:[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9][A-Za-z0-9._-]*|permission:(admin|maintain|write))$`
)

// The same, compiled once.
var (
	nameForm    = regexp.MustCompile(namePattern)
	releaseForm = regexp.MustCompile(releasePattern)
	granteeForm = regexp.MustCompile(granteePattern)
)

// fileVersion is the only version of the file's format.
const fileVersion = 1

// version is the version of the file's format.
func version(into *int) kind {
	return kind{schema: schema{"const": fileVersion}, read: func(r *report, n *yaml.Node) {
		digits, ok := scalar(r, n, wantNumber, "!!int")
		switch {
		case !ok:
		case digits != "1":
			r.fail(of(n), unsupportedVersion(digits))
		default:
			*into = fileVersion
		}
	}}
}

// zone is the name of a time zone.
func zone(into **time.Location) kind {
	var name string
	k := text(&name)
	spell := k.read
	k.read = func(r *report, n *yaml.Node) {
		spell(r, n)
		if name == "" {
			return
		}
		location, err := r.zone(name)
		if err != nil {
			r.fail(of(n), badZone(err))
			return
		}
		*into = location
	}
	return k
}

// moment is an instant as people write it. YAML takes one with seconds and an offset for a timestamp of its own.
func moment(into *window.Moment) kind {
	s := schema{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?$`}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		if magic(n) {
			return
		}
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" {
			r.fail(of(n), wrongType(n, wantMoment))
			return
		}
		m, err := window.ParseMoment(n.Value)
		if err != nil {
			r.fail(of(n), badMoment(n.Value, err))
			return
		}
		*into = m
	}}
}

// release is what paths need: a name, several, or windowed branches.
func release(into *releaseText) kind {
	one := func(name *string) kind { return checked(name, releaseName).pattern(releasePattern) }
	several := list(&into.names, bounds{1, MaxReleases}, one)
	branches := section(key{"branches", true, list(&into.branches, bounds{1, MaxReleases}, branchGlob)})
	var name string
	single := one(&name)
	s := schema{"oneOf": []schema{single.schema, several.schema, branches.schema}}
	if len(into.names) > 0 {
		s["default"] = into.names[0]
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		into.names = nil
		switch {
		case n.Kind == yaml.SequenceNode:
			several.read(r, n)
		case n.Kind == yaml.MappingNode && !unquotedCapture(n):
			branches.read(r, n)
		case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
			single.read(r, n)
			if name != "" {
				into.names = []string{name}
			}
		case !magic(n):
			r.fail(of(n), wrongType(n, wantRelease))
		}
	}}
}

// unquotedCapture reports whether a node is a {cluster} that YAML has taken for a section.
func unquotedCapture(n *yaml.Node) bool {
	return n.Style&yaml.FlowStyle != 0 && len(n.Content) == 2 && n.Content[1].Tag == "!!null" && n.Content[1].Value == ""
}

// releaseName checks the form of a release; whether there is such a window is seen later.
func releaseName(name string) (says, bool) {
	if !releaseForm.MatchString(name) {
		return badRelease(name), false
	}
	return says{}, true
}

// branchGlob is a pattern over the names of windowed branches, as package layout reads it.
func branchGlob(into *string) kind {
	return checked(into, func(glob string) (says, bool) {
		_, err := layout.ParseGlob(glob)
		if err != nil {
			return badGlob(err), false
		}
		return says{}, true
	})
}

// plainGlob is a pattern without captures, as package layout reads it.
func plainGlob(into *string) kind {
	return checked(into, func(glob string) (says, bool) {
		_, err := layout.ParseGlob(directory(glob))
		if err != nil {
			return badGlob(err), false
		}
		return says{}, true
	})
}

// clusterName checks the form of a cluster's name, which is that of a window's.
func clusterName(name string) (says, bool) {
	return badCluster(name), nameForm.MatchString(name) && len(name) <= MaxName
}

// treePath checks that a path names a directory of the tree, as people write it for Flux: nothing leads out of it.
func treePath(path string) (says, bool) {
	bad := strings.ContainsAny(path, "\\\x00") || len(path) > MaxText
	for i, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/"), "/") {
		bad = bad || part == ".." || part == "." && path != "." || part == "" && (i > 0 || path != "./")
	}
	return badTreePath(path), !bad
}

// repositoryURL checks that a text names a repository that others can reach, without a password in it: the file is no place for one.
func repositoryURL(url string) (says, bool) {
	odd := func(c rune) bool { return c <= ' ' || c == 0x7f }
	return badURL(), len(url) <= MaxText && !strings.ContainsFunc(url, odd) && giturl.Is(url) && !giturl.HasSecret(url)
}

// granteeValue is somebody whom `override` names.
func granteeValue(into *Grantee) kind {
	var name string
	k := checked(&name, func(name string) (says, bool) { return badGrantee(name), granteeForm.MatchString(name) })
	spell := k.read
	k.read = func(r *report, n *yaml.Node) {
		spell(r, n)
		kind, who, _ := strings.Cut(name, ":")
		*into = Grantee{By: GranteeKind(kind), Name: who}
	}
	return k.pattern(granteePattern)
}

// branchName checks the name of a branch by git's rules (git check-ref-format --branch), and a few that GitHub adds.
func branchName(name string) (says, bool) {
	if strings.EqualFold(name, FreezeBranch) {
		return freezeIsNone(), false
	}
	bad := strings.HasPrefix(name, "-") || strings.HasPrefix(name, "refs/") || name == "@" || name == "HEAD" ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f })
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	return badBranch(name), !bad
}
