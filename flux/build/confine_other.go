//go:build !linux && !darwin

package build

import (
	"io/fs"
	"time"
)

// restrict does nothing where the system has no such limits.
func restrict(Limits) error { return nil }

// processor is not known where the system does not say it: the parent's patience is the limit.
func processor() time.Duration { return 0 }

// private reports whether a directory is one: where the system has no such modes, who may read the user's own directories is its business.
func private(info fs.FileInfo) bool { return info.IsDir() }
