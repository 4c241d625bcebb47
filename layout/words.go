package layout

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// All words that a user reads stand in this file.

// Codes of problems.
const (
	codeBadBranch       = "bad-branch-glob"
	codeBadGlob         = "bad-glob"
	codeEmptyGlob       = "empty-glob"
	codeAbsolute        = "absolute-glob"
	codeDotDot          = "dot-dot-glob"
	codeTooMany         = "too-many"
	codeNoPaths         = "no-paths"
	codeNoRelease       = "no-release"
	codeMixesIgnore     = "mixes-ignore"
	codeTwice           = "release-twice"
	codeUnknownCapture  = "unknown-capture"
	codeCaptureNotWhole = "capture-not-whole"
	codeCaptureUnclear  = "capture-unclear"
	codeUnknownWindow   = "unknown-window"
	codeUnknownPreset   = "unknown-preset"
	codeNoSide          = "preset-without-release"
	codeSideUnused      = "release-without-preset"
	codeSideLive        = "preset-live"
	codeShadowed        = "rule-never-matches"
	codeNothing         = "rule-matches-nothing"
	codeMakesLive       = "rule-makes-live"
	codeExceptNothing   = "exception-matches-nothing"
	codeNoWindow        = "capture-names-no-window"

	codeProtectedHeld    = "protected-held"
	codeProtectedIgnored = "protected-ignored"
)

// What decided a path.
const (
	saysImpossible   = "built in: not a path that git can hold"
	saysTooLong      = "built in: too long a path for so many ** and wildcards in the rules"
	saysOdd          = "built in: a name with control characters or bytes that are not UTF-8 is never live"
	saysBelowGitHub  = "built in: below .github/"
	saysInFluxSystem = "built in: in a flux-system/ directory"
	saysUnread       = "layout.flux: the reference graph was not read"
)

func saysRule(i int, glob string) string { return fmt.Sprintf("rule %d: %s", i+1, glob) }

// saysIgnored is why a protected path that nothing windows is ignored.
func saysIgnored(in dirs) string {
	if in&belowGitHub != 0 {
		return saysBelowGitHub
	}
	return saysInFluxSystem
}

func saysButReads(rule, chain string) string { return rule + "; but " + chain + " reads it" }
func saysHeld(rule, hold string) string      { return strings.TrimPrefix(rule+"; "+hold, "; ") }
func saysProtected(rule string) string       { return rule + "; protected: people merge it" }
func saysButForCase(rule string) string      { return rule + " (but for upper and lower case)" }
func saysPreset(preset Preset, says string) string {
	return fmt.Sprintf("preset %s: a directory %s", preset, says)
}

func saysUnmatched(releases []Release) string {
	if len(releases) == 0 {
		return "unmatched: ignore"
	}
	names := make([]string, 0, len(releases))
	for _, r := range releases {
		names = append(names, string(r))
	}
	return "unmatched: " + strings.Join(names, ", ")
}

// What is wrong with a layout.
const (
	wordsEmptyGlob   = "the path is empty; for every path write **"
	wordsNoRelease   = "a rule needs a release: live, ignore, a window or branches"
	wordsMixesIgnore = "ignore stands alone: a path is either ignored or needs releases"
	wordsSideUnused  = "a window or branches without a preset have no effect: name a preset, or use unmatched"
	wordsSideLive    = "the preset's windowed side must not be live: name a window"
)

func badGlob(glob, why string) *globError {
	return &globError{codeBadGlob, fmt.Sprintf("%s is not a path pattern: %s", shown(glob), why)}
}

func wordsNoPaths(exceptions int) string {
	if exceptions > 0 {
		return "a rule needs at least one path without a !; a ! only excludes paths"
	}
	return "a rule needs at least one path"
}

func wordsAbsolute(glob string) string {
	return fmt.Sprintf("%s begins with a slash; paths are relative to the repository's root", shown(glob))
}

func wordsDotDot(glob string) string {
	return fmt.Sprintf("%s has a segment . or .., which no path of a repository has", shown(glob))
}

func wordsGlobTooLong(n int) string {
	return fmt.Sprintf("the path pattern has %d bytes; at most %d", n, MaxGlob)
}

func wordsGlobTooDeep(glob string) string {
	return fmt.Sprintf("%s has more than %d segments", shown(glob), MaxDepth)
}

func wordsTooManyAlternatives(glob string) string {
	return fmt.Sprintf("the alternations of %s stand for more than %d patterns", shown(glob), MaxAlternatives)
}

func wordsTooManyRules(n int) string { return fmt.Sprintf("%d rules; at most %d", n, MaxRules) }

func wordsTooManyPatterns() string {
	return fmt.Sprintf("the rules up to here have more than %d paths, alternations written out", MaxPatterns)
}

func wordsTooLongPatterns() string {
	return fmt.Sprintf("the paths of the rules up to here have more than %d bytes, alternations written out", MaxWritten)
}

func wordsTooManyReleases() string {
	return fmt.Sprintf("more than %d releases in one rule", MaxReleases)
}

func wordsTwice(text string) string { return fmt.Sprintf("%s is named twice", shown(text)) }

func wordsCaptureUnclear(segment, glob string) string {
	return fmt.Sprintf("in %s it is unclear where a capture of %s ends: put text between it and the next capture or *, or limit it, {env:prod,stg}", shown(glob), shown(segment))
}

func wordsReleaseNotWhole(text string) string {
	return fmt.Sprintf("%s: a capture is a release by itself, {name}, and never part of one", shown(text))
}

func wordsUnknownCapture(name, glob string) string {
	return fmt.Sprintf("the release {%s} needs a capture of that name in every path of the rule; %s has none", shown(name), shown(glob))
}

func wordsNoCaptureOutside(name string) string {
	return fmt.Sprintf("there is no capture {%s} here: a rule's paths have captures, and its release may name them", shown(name))
}

func wordsNoCaptureHere(name string) string {
	return fmt.Sprintf("%s captures nothing here; for alternatives write {a,b}", shown("{"+name+"}"))
}

func wordsBadBranch(glob string, err error) string {
	return fmt.Sprintf("the branch pattern %s cannot be used: %v", shown(glob), err)
}

func wordsUnknownWindow(text string) string { return fmt.Sprintf("there is no window %s", shown(text)) }

func wordsUnknownPreset(preset Preset) string {
	return fmt.Sprintf("%s is not a preset; use none, rt-rw, rt-mw or live-window", shown(string(preset)))
}

func wordsNoSide(preset Preset) string {
	return fmt.Sprintf("the preset %s needs a window or branches for its windowed side", preset)
}

// What is strange about a layout in a tree.

func wordsShadowed(glob, by string, before bool) string {
	how := "excludes"
	if before {
		how = "already matches"
	}
	return fmt.Sprintf("%s can never match: %s %s all of it", shown(glob), by, how)
}

func wordsExceptNothing(glob string) string {
	return fmt.Sprintf("%s excludes no file of the tree", shown(glob))
}

// maxValues is how many values of a capture are shown of those that name no window.
const maxValues = 3

func wordsNoWindow(name string, list *valueList) string {
	files, some := 0, []string{}
	for i, value := range list.values {
		files += list.files[value].count
		if i < maxValues {
			some = append(some, fmt.Sprintf("%s (%s)", value, list.files[value]))
		}
	}
	if more := len(list.values) - maxValues; more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	name = shown(name)
	return fmt.Sprintf("{%s} names no window in %d of the tree's files, which are never releasable: %s; limit it, {%s:prod,stg}, or give windows these names",
		name, files, strings.Join(some, ", "), name)
}

const wordsNothing = "the rule matches no file of the tree"

func wordsMakesLive(files tally, preset string) string {
	return fmt.Sprintf("the rule makes live what %s would hold: %s", preset, files)
}

func wordsProtectedHeld(files tally) string {
	return fmt.Sprintf("this holds protected paths, and people merge them while it is open: %s; sluice merges them if a rule writes out .github or flux-system", files)
}

func wordsProtectedIgnored(files tally) string {
	return fmt.Sprintf("protected paths are ignored here, and people merge them: %s; a rule that writes out .github or flux-system counts for them", files)
}

// String names the first file and counts the others.
func (s tally) String() string {
	if s.count > 1 {
		return fmt.Sprintf("%s and %d more", shown(s.first), s.count-1)
	}
	return shown(s.first)
}

// maxShown is how much of a hostile text is shown.
const maxShown = 80

// shown is a text fit to be shown: as it is, or quoted where it is empty or has anything odd, and cut where it is long.
func shown(text string) string {
	cut := text
	if len(cut) > maxShown {
		end := maxShown
		for end > maxShown-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		cut = text[:end]
	}
	if cut == "" || odd(cut) || strings.ContainsFunc(cut, func(r rune) bool { return !strconv.IsPrint(r) }) {
		cut = strconv.Quote(cut)
	}
	if len(text) > maxShown {
		cut += "…"
	}
	return cut
}
