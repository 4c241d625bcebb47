// Package layout says where: which releases a path of the repository needs before it may change.
//
// A layout is an ordered list of rules (the first that matches a path decides), then a preset that looks at directory
// names, then what an unmatched path is. It is pure, knows no clock and none of our YAML: package config gives it a Spec.
// Any doubt fails closed: a capture that names no window gives a release that is never open.
package layout

// Release is what must be open for a path to change: "live", the name of a window, or "branch:GLOB" for the windowed
// branches whose names GLOB matches.
type Release string

// Live is the release that is always open.
const Live Release = "live"

// Class is the answer for one path.
type Class struct {
	Releases []Release // sorted, no duplicates; none: the path is ignored
	Rule     string    // which rule said so, for people: "rule 2: infra/**", "preset rt-rw: a directory ends in -rw"
}

// Layout is a compiled layout. It is immutable and safe for concurrent use.
type Layout struct{}
