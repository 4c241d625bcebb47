package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Share is the files of a tree that need the same releases, or that are never releasable.
type Share struct {
	Kind     ShareKind        `json:"kind"`
	Releases []layout.Release `json:"releases"` // sorted; of files that are never releasable and of the rest those of the example
	Files    int              `json:"files"`
	Example  string           `json:"example"` // the first of them
	Reason   string           `json:"reason"`  // why the example is never releasable; else empty
}

// String is what its files need, for people.
func (s Share) String() string {
	switch s.Kind {
	case ShareNever:
		return "never releasable"
	case ShareIgnored, ShareOther:
		return string(s.Kind)
	}
	return strings.Join(Strings(s.Releases), " and ")
}

// ShareKind is what becomes of the files of a share.
type ShareKind string

// The kinds of shares, in the order in which they are shown.
const (
	ShareLive     ShareKind = "live"     // may change at any time
	ShareWindow   ShareKind = "window"   // windows must be open
	ShareBranches ShareKind = "branches" // merged at once, and held by windowed branches
	ShareOther    ShareKind = "other"    // beyond MaxShares: not looked at any further
	ShareIgnored  ShareKind = "ignored"  // not managed
	ShareNever    ShareKind = "never"    // never releasable
)

// Shares sums up what a tree gets by a policy: its files by the releases that they need. The rules file, which needs nothing, does not
// count. paths is every file of the tree.
func (p *Policy) Shares(paths []string) []Share {
	s := shares{policy: p, known: map[string]*Share{}, never: map[string]string{}}
	for _, path := range (CheckInput{Paths: paths}).files() {
		s.add(path)
	}
	out := []Share{}
	for _, share := range s.known {
		out = append(out, *share)
	}
	order := []ShareKind{ShareLive, ShareWindow, ShareBranches, ShareOther, ShareIgnored, ShareNever}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), slices.Compare(a.Releases, b.Releases))
	})
	return out
}

// shares is a sum in the making.
type shares struct {
	policy *Policy
	known  map[string]*Share
	never  map[string]string // by releases: why they are never open at one time, or nothing
}

func (s *shares) add(path string) {
	class := s.policy.Layout.Classify(path)
	releases := append([]layout.Release{}, class.Releases...)
	if len(releases) > 1 {
		releases = slices.DeleteFunc(releases, func(r layout.Release) bool { return r == layout.Live })
	}
	kind, reason := shareKind(releases, class.Rule)
	key := string(kind)
	if kind == ShareWindow || kind == ShareBranches {
		key = strings.Join(Strings(releases), "\n")
		kind, reason = s.together(kind, key, releases)
	}
	if _, ok := s.known[key]; !ok && len(s.known) >= MaxShares {
		kind, key = ShareOther, string(ShareOther)
	}
	share, ok := s.known[key]
	if !ok {
		share = &Share{Kind: kind, Releases: releases, Example: path, Reason: reason}
		s.known[key] = share
	}
	share.Files++
}

// shareKind is what becomes of a file that needs these releases, by a rule, and why it is never releasable if that shows in one of them.
func shareKind(releases []layout.Release, rule string) (ShareKind, string) {
	kind := ShareIgnored
	for _, r := range releases {
		_, branch := r.BranchGlob()
		capture, value, unnamed := r.NoWindow()
		switch {
		case r == layout.Unclear:
			return ShareNever, rule
		case unnamed:
			return ShareNever, captureNamesNone(capture, value)
		case r == layout.Live:
			kind = ShareLive
		case branch && kind != ShareWindow:
			kind = ShareBranches
		case !branch:
			kind = ShareWindow
		}
	}
	return kind, ""
}

// together is the kind and the reason of files that need several windows: captures may ask for some that are never open at one time. Of
// more than MaxShares it is not found out.
func (s *shares) together(kind ShareKind, key string, releases []layout.Release) (ShareKind, string) {
	var names []window.Name
	for _, r := range releases {
		if _, branch := r.BranchGlob(); !branch {
			names = append(names, window.Name(r))
		}
	}
	reason, known := s.never[key]
	if len(names) > 1 && !known && len(s.never) < MaxShares {
		if !s.policy.Calendar.EverTogether(names) {
			reason = neverOpen(Strings(names))
		}
		s.never[key] = reason
	}
	if reason != "" {
		return ShareNever, reason
	}
	return kind, ""
}
