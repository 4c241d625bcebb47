package graph

// Bounds of clusters. What lies beyond one is a problem of the tree, never silently gone.
const (
	// MaxClusters is the number of clusters.
	MaxClusters = 500
	// maxAbove is how deep a directory clusters/ is looked for: people keep it at the top, or below a directory or two for what it is deployed with.
	maxAbove = 3
	// MaxName is the length of a cluster's name that is made here.
	MaxName = 64
	// maxURL is the length of a URL of a source. No forge has longer ones.
	maxURL = 2048
	// MaxUses is how many sources may be put together one out of the other: an artifact that is copied from an artifact, a source that includes another one.
	MaxUses = 8
)
