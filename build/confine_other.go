//go:build !linux && !darwin

package build

import "time"

// restrict does nothing where the system has no such limits.
func restrict(Limits) error { return nil }

// processor is not known where the system does not say it: the parent's patience is the limit.
func processor() time.Duration { return 0 }
