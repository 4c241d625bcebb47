package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Every word that a person reads about a file stands here. Codes are stable: people filter by them. docs/spec lists them
// all, and a test keeps it so.

// says is what a finding says: a code for machines, a message for people.
type says struct{ code, message string }

func say(code, format string, args ...any) says { return says{code, fmt.Sprintf(format, args...)} }

// The codes of findings of this package. Packages window and layout add theirs.
const (
	CodeMissingFile     = "missing-file"
	codeTooLarge        = "too-large"
	codeEncoding        = "encoding"
	codeControl         = "control-character"
	codeSyntax          = "syntax"
	codeEmpty           = "empty-file"
	codeSecondDocument  = "second-document"
	codeAlias           = "alias"
	codeAnchor          = "anchor"
	codeTag             = "tag"
	codeMergeKey        = "merge-key"
	codeTooDeep         = "too-deep"
	codeTooMany         = "too-many"
	codeTooFew          = "too-few"
	codeTooLong         = "too-long"
	codeMoreFindings    = "more-findings"
	codeDuplicateKey    = "duplicate-key"
	codeUnknownKey      = "unknown-key"
	codeMissingKey      = "missing-key"
	codeWrongType       = "wrong-type"
	codeEmptyText       = "empty-text"
	codeUnknownWord     = "unknown-word"
	codeOutOfRange      = "out-of-range"
	codeBadDuration     = "bad-duration"
	codeBadMoment       = "bad-moment"
	codeBadZone         = "bad-timezone"
	codeVersion         = "unsupported-version"
	codeApproveUnasked  = "approve-unasked"
	codeApproveUnread   = "approve-unread"
	codeBadGrantee      = "bad-grantee"
	codeBadRelease      = "bad-release"
	codeBadGlob         = "bad-glob"
	codeBadBranch       = "bad-branch"
	codeUnknownWindow   = "unknown-window"
	codeUnknownBranch   = "unknown-branch"
	codeNeverTogether   = "never-open-together"
	codeDuplicateBranch = "duplicate-branch"
	codeBranchIsSource  = "branch-is-source"
	codeBranchIsDefault = "branch-is-default"
	codeBranchElsewhere = "branch-from-elsewhere"
	codeTwoSides        = "two-sides"
	codeMixesIgnore     = "mixes-ignore"
	codeUnknownCapture  = "unknown-capture"
	codeBadCluster      = "bad-cluster"
	codeBadTreePath     = "bad-tree-path"
	codeBadURL          = "bad-url"
	codeDuplicateName   = "duplicate-cluster"
	codeNoSuchRoot      = "cluster-not-in-tree"
)

// What the file wants where something else stands.
const (
	wantText     = "text"
	wantNumber   = "a whole number"
	wantFlag     = "true or false"
	wantDuration = `a duration such as "10m" or "1h30m"`
	wantHours    = `a duration such as "8h" or "1h30m"`
	wantMoment   = "a date with a time such as 2026-12-05T22:00"
	wantList     = "a list"
	wantSection  = "a section with keys"
	wantRelease  = `a window, live, ignore, "{capture}", a list of windows, or {branches: [GLOB]}`
)

func tooLarge(size int) says {
	return say(codeTooLarge, "the file has %d bytes; at most %d are read", size, MaxBytes)
}

func byteOrderMark() says {
	return say(codeEncoding, "the file begins with a byte order mark; save it as UTF-8 without one")
}

func utf16() says {
	return say(codeEncoding, "the file is UTF-16; save it as UTF-8")
}

func manyDirectives() says {
	return say(codeSyntax, "more than %d lines begin with %%: a file needs none", maxDirectives)
}

func notUTF8(b byte) says {
	return say(codeEncoding, "byte 0x%02x is not UTF-8; save the file as UTF-8", b)
}

func controlCharacter(c rune) says {
	return say(codeControl, "character %U is invisible and not allowed; remove it", c)
}

func emptyFile() says {
	return say(codeEmpty, "the file is empty; it must have at least: version: 1")
}

func secondDocument() says {
	return say(codeSecondDocument, "a second YAML document begins here; the file holds one")
}

func badYAML(problem string) says {
	return say(codeSyntax, "not valid YAML: %s", clip(problem))
}

func quoteIt(value string) says {
	return say(codeSyntax, "a value that begins with %s must be in quotes: %s", quote(value[:1]), quote(strings.TrimSpace(value)))
}

func tabIndent() says {
	return say(codeSyntax, "a tab indents this line; YAML takes only spaces")
}

func aliasUsed(name string) says {
	return say(codeAlias, "aliases are not allowed: write the value out instead of *%s, or put it in quotes if it is text", clip(name))
}

func anchorUsed(name string) says {
	return say(codeAnchor, "anchors are not allowed: remove &%s, or put it in quotes if it is text", clip(name))
}

func tagUsed(tag string) says {
	return say(codeTag, "explicit types are not allowed: remove %s, or put the value in quotes if it is text", clip(tag))
}

func mergeKey() says {
	return say(codeMergeKey, "merge keys are not allowed: write the keys out instead of <<")
}

func tooDeep() says {
	return say(codeTooDeep, "nested more than %d levels deep", MaxDepth)
}

func tooMany(got, limit int) says {
	return say(codeTooMany, "%d entries; at most %d are allowed", got, limit)
}

func tooFew() says {
	return say(codeTooFew, "the list is empty; give it an entry or remove the key")
}

func tooLong() says {
	return say(codeTooLong, "longer than %d bytes", MaxText)
}

func moreFindings(n int) says {
	return say(codeMoreFindings, "%d more findings are not shown", n)
}

func duplicateKey(name string, line int) says {
	return say(codeDuplicateKey, "key %s is given twice; the first is on line %d", quote(name), line)
}

func keyNotText(n *yaml.Node) says {
	if n.Kind != yaml.ScalarNode {
		return say(codeWrongType, "a key must be text, not %s", describe(n))
	}
	return say(codeWrongType, "a key must be text, not %s; put it in quotes: %s", describe(n), quote(n.Value))
}

func unknownKey(name string, keys []key) says {
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = k.name
	}
	if near := Nearest(name, words); near != "" {
		return say(codeUnknownKey, "unknown key %s; did you mean %s?", quote(name), near)
	}
	return say(codeUnknownKey, "unknown key %s; known here: %s", quote(name), strings.Join(words, ", "))
}

func missingKey(name string) says {
	if name == "version" {
		return say(codeMissingKey, "version is missing; begin the file with version: 1")
	}
	return say(codeMissingKey, "%s is missing", name)
}

func wrongType(n *yaml.Node, want string) says {
	found := describe(n)
	switch {
	case n.Tag == "!!null":
		return say(codeWrongType, "must be %s, but is empty; give it a value or remove the key", want)
	case n.Kind == yaml.MappingNode && unquotedCapture(n):
		capture := quote("{" + n.Content[0].Value + "}")
		return say(codeWrongType, "must be %s, not %s; if it is a capture, put it in quotes: %s", want, found, capture)
	case n.Kind == yaml.ScalarNode && want == wantList:
		return say(codeWrongType, "must be a list, not %s; write: [%s]", found, clip(n.Value))
	case n.Kind == yaml.ScalarNode && (want == wantDuration || want == wantHours) && n.Tag == "!!int":
		return say(codeWrongType, "must be %s, not %s; add the unit: %s", want, found, withUnit(n.Value, want))
	case n.Kind == yaml.ScalarNode && n.Tag != "!!str" && (want == wantText || want == wantRelease):
		return say(codeWrongType, "must be %s, not %s; put it in quotes: %s", want, found, quote(n.Value))
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return say(codeWrongType, "must be %s, not text; without quotes it may be one", want)
	}
	return say(codeWrongType, "must be %s, not %s", want, found)
}

// describe says what stands at a node.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a section"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
	default:
		return "this"
	}
	words := map[string]string{
		"!!int": "a number", "!!float": "a decimal number", "!!bool": "true or false", "!!null": "empty",
		"!!timestamp": "a date", "!!str": "text",
	}
	if word, ok := words[n.Tag]; ok {
		return word
	}
	return "this"
}

func emptyText() says {
	return say(codeEmptyText, "the text is empty; give it a value or remove the key")
}

func oneOf[T ~string](word string, words []T) (says, bool) {
	for _, w := range words {
		if word == string(w) {
			return says{}, true
		}
	}
	known := Strings(words)
	if near := Nearest(word, known); near != "" {
		return say(codeUnknownWord, "%s is not one of: %s; did you mean %s?", quote(word), strings.Join(known, ", "), near), false
	}
	return say(codeUnknownWord, "%s is not one of: %s", quote(word), strings.Join(known, ", ")), false
}

func outOfRange(digits string, from, to int) says {
	return say(codeOutOfRange, "%s is not a whole number from %d to %d", clip(digits), from, to)
}

// withUnit is a number with the unit that is most likely meant.
func withUnit(digits, want string) string {
	if want == wantHours {
		return clip(digits) + "h for hours"
	}
	return clip(digits) + "s or " + clip(digits) + "m"
}

func badDuration(word, want string) says {
	if strings.Trim(word, "0123456789") == "" {
		return say(codeBadDuration, "%s has no unit; write %s", quote(word), withUnit(word, want))
	}
	if strings.ContainsAny(word, "dw") {
		return say(codeBadDuration, "%s is not a duration; days and weeks are not supported, write hours: 48h", quote(word))
	}
	return say(codeBadDuration, "%s is not a duration; write one such as 10m, 81h or 1h30m", quote(word))
}

func durationRange(word string, from, to time.Duration) says {
	return say(codeOutOfRange, "%s is not from %s to %s", clip(word), short(from), short(to))
}

func badMoment(word string, err error) says {
	return say(codeBadMoment, "%s cannot be read: %v", quote(word), err)
}

func badZone(err error) says {
	return say(codeBadZone, "%v", err)
}

func unsupportedVersion(digits string) says {
	return say(codeVersion, "%s is not supported; this sluice reads version: %d", clip(digits), fileVersion)
}

func approvesUnasked() says {
	return say(codeApproveUnasked, "approve needs an approval by people, too: set approvals to 1 or more, or write approvals: 0")
}

func approvesUnread() says {
	return say(codeApproveUnread, "sluice approves what no person has read: with auto-merge it may be merged unread; set approvals to 1 or more")
}

func badGrantee(name string) says {
	return say(codeBadGrantee, "%s names nobody; write user:LOGIN, team:OWNER/TEAM, permission:admin, permission:maintain or permission:write", quote(name))
}

func tooFewPeople(approvals int) says {
	return say(codeBadGrantee, "fewer than %d people are named: nobody could release anything", approvals)
}

func badRelease(name string) says {
	return say(codeBadRelease, `%s is not a release; write a window's name, live, ignore or "{capture}"`, quote(name))
}

func ignoreInList() says {
	return say(codeBadRelease, "ignore stands alone: a path is either ignored or needs releases")
}

func ignoredEntryPoint() says {
	return say(codeMixesIgnore, "an entry point cannot be ignored: give it live, a window, several, or branches; a rule can ignore paths")
}

func captureOfEntryPoint(name string) says {
	return say(codeUnknownCapture, "there is no capture %s here: a rule's paths have captures, an entry point has none", quote(name))
}

func badGlob(err error) says {
	return say(codeBadGlob, "%v", err)
}

func badBranch(name string) says {
	return say(codeBadBranch, "%s is not the name of a branch; write it without refs/heads/ and as git allows it", quote(name))
}

func freezeIsNone() says {
	return say(codeBadBranch, "%s freezes the repository while it is there: it is neither windowed nor a source", quote(FreezeBranch))
}

func unknownWindow(name string, known []string) says {
	if near := Nearest(name, known); near != "" {
		return say(codeUnknownWindow, "there is no window %s; did you mean %s?", quote(name), near)
	}
	if len(known) == 0 {
		return say(codeUnknownWindow, "there is no window %s; windows has none", quote(name))
	}
	return say(codeUnknownWindow, "there is no window %s; windows has %s", quote(name), clip(strings.Join(known, ", ")))
}

func unknownBranch(glob string) says {
	return say(codeUnknownBranch, "%s matches no entry of branches", quote(glob))
}

func tooManyGlobs() says {
	return say(codeTooMany, "more than %d different patterns over branches; names that are written out do not count", MaxBranchGlobs)
}

func neverTogether(names []string) says {
	return say(codeNeverTogether, "%s, so nothing would ever be released; where each is a cluster's own, let windowed branches hold the paths, "+
		"each until its window: release: {branches: [...]}", neverOpen(names))
}

func duplicateBranch(name string, line int) says {
	return say(codeDuplicateBranch, "branch %s has an entry already, on line %d; branch names that differ only in case are not allowed", quote(name), line)
}

func branchIsSource(name string) says {
	return say(codeBranchIsSource, "branch %s is another entry's from; a windowed branch cannot be a source", quote(name))
}

func branchIsDefault(name string) says {
	return say(codeBranchIsDefault, "branch %s is the default branch; a windowed branch follows it and cannot be it", quote(name))
}

func branchFromElsewhere(glob, base string, other Branch) says {
	return say(codeBranchElsewhere, "%s matches no entry of branches that follows %s, the default branch (%s follows %s): what needs it would be held there forever",
		quote(glob), quote(base), quote(other.Name), quote(other.From))
}

func badCluster(name string) says {
	return say(codeBadCluster, "%s is not the name of a cluster: letters, digits, '.', '_' and '-', the first a letter or digit, at most %d", quote(name), MaxName)
}

func badTreePath(path string) says {
	return say(codeBadTreePath, "%s is not a directory of the repository; write it from the root, such as clusters/production", quote(path))
}

// badURL does not repeat the URL: it may have a password.
func badURL() says {
	return say(codeBadURL, "this is not the URL of a repository; write it as a GitRepository has it, without a password: https://github.com/acme/fleet")
}

func duplicateCluster(name string, line int) says {
	return say(codeDuplicateName, "cluster %s has an entry already, on line %d; cluster names that differ only in case are not allowed", quote(name), line)
}

func clusterNotInTree(path string) says {
	return say(codeNoSuchRoot, "the tree has no file below %s", quote(path))
}

func twoSides() says {
	return say(codeTwoSides, "window and branches are both given; the preset's windowed side takes one of them")
}

func neverOpen(names []string) string {
	return strings.Join(names, " and ") + " are never open at the same time"
}

func captureNamesNone(name, value string) string {
	return fmt.Sprintf("capture {%s}=%s names no window", clip(name), value)
}

// pathOf names what a finding is about: "layout.rules#3.paths: " for the third rule's. The words for a way of the file itself are none.
func pathOf(way []any) string {
	var b strings.Builder
	for i, step := range way {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "#%d", step+1)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(plain(step))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + ": "
}

// plain is a key as it stands if it can be a name, else quoted.
func plain(key string) string {
	if nameForm.MatchString(key) {
		return clip(key)
	}
	return quote(key)
}

// quote shows a text of the file within a message, on one line, clipped, with nothing that a terminal would obey.
func quote(s string) string { return strconv.Quote(clip(s)) }

// maxQuoted is how much of the file's text a message repeats, in characters.
const maxQuoted = 60

// clip shortens a text for a message and takes the line breaks out.
func clip(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	if utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	return string([]rune(s)[:maxQuoted-1]) + "…"
}

// short writes a duration without the zeros that Go adds: 10m, not 10m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
