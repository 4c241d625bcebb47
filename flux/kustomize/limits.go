package kustomize

// Bounds of what is read of a tree; what all of it may cost is the meter's. What lies beyond one is a problem of the tree, never silently gone.
const (
	// MaxBuilds is how many entry points are built because they cannot be read: each takes a tenth of a second, and few clusters have one.
	MaxBuilds = 200
	// MaxDepth is how deep lists of resources may lead from one directory to the next, and Flux Kustomizations from one to the next. It is the meter's, too.
	MaxDepth = 50
	// MaxChanged is how many files may have changed for each to be looked at alone; where more have, all of the tree is listed again, and those are read.
	MaxChanged = 256
	// MaxLeaves is how many of the places where the graph ends are kept for one entry point.
	MaxLeaves = 200
)

// nameBytes is what it takes to list a file or a directory, beside its name.
const nameBytes = 72
