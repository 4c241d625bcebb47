// Package flux holds what a platform engineer copies to run live and windowed branches with Flux: the repository of the
// walk-through with its Flux objects, and a second way for Flux to report back. docs/windowed-branches.md leads through
// it, test/flux holds it against Flux's own schemas.
//
// The sample is plain files below sample/, embedded so that the demo shows what people copy. Nothing here runs, so nothing
// here fails.
package flux

import (
	"embed"
	"io/fs"
)

// "all:" takes files along whose names begin with a dot: the rules are .github/sluice.yaml.
//
//go:embed all:sample
var files embed.FS

// Sample returns the repository of the walk-through, as it lies in git: paths are relative to its root.
func Sample() fs.FS {
	sub, err := fs.Sub(files, "sample")
	if err != nil {
		panic(err) // fs.Sub refuses malformed names only, and this one is written above
	}
	return sub
}
