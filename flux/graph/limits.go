package graph

// Bounds of single things of a tree; what all of it may cost is the meter's. What lies beyond one is a problem of the tree, never silently gone.
const (
	// MaxFile is the size of one file. The largest that people keep are bundles of CRDs, which say nothing here.
	MaxFile = 4 << 20
	// MaxDoc is the size of a document that is parsed. No Flux object is near it.
	MaxDoc = 256 << 10
	// MaxConfig is the size up to which a ConfigMap or Secret is read for its values; of a larger one the name is known.
	MaxConfig = 4 << 10
	// MaxKeys is how many keys a section may have, where objects are patched: each of a patch is looked for among those of the object.
	MaxKeys = 1000
	// MaxAlias is the length of a text that an alias or a variable may stand for: longer ones would let a small file be a large one. No name
	// of an object is longer.
	MaxAlias = 256
	// MaxNested is how deep variables may stand in what others are by default.
	MaxNested = 8
	// MaxList is how many entries of one list are read: resources, patches, dependencies.
	MaxList = 2000
	// MaxClusters is the number of clusters.
	MaxClusters = 500
	// maxAbove is how deep a directory clusters/ is looked for: people keep it at the top, or below a directory or two for what it is deployed with.
	maxAbove = 3
	// MaxName is the length of a cluster's name that is made here.
	MaxName = 64
	// MaxUses is how many sources may be put together one out of the other: an artifact that is copied from an artifact, a source that includes another one.
	MaxUses = 8
	// MaxBuilds is how many entry points are built because they cannot be read: each takes a tenth of a second, and few clusters have one.
	MaxBuilds = 200
	// MaxDepth is how deep lists of resources may lead from one directory to the next, and Flux Kustomizations from one to the next. It is the meter's, too.
	MaxDepth = 50
	// MaxChanged is how many files may have changed for each to be looked at alone; where more have, all of the tree is listed again, and those are read.
	MaxChanged = 256
	// MaxLeaves is how many of the places where the graph ends are kept for one entry point.
	MaxLeaves = 200
	// MaxProblems is how many problems are kept.
	MaxProblems = 200
)

// nameBytes is what it takes to list a file or a directory, beside its name.
const nameBytes = 72
