package manifest

// Bounds of single documents; what all of them may cost is the meter's. What lies beyond one is a problem of the tree, never silently gone.
const (
	// MaxFile is the size of one file. The largest that people keep are bundles of CRDs, which say nothing here.
	MaxFile = 4 << 20
	// MaxDoc is the size of a document that is parsed. No Flux object is near it.
	MaxDoc = 256 << 10
	// MaxDirectives is how many lines of a document may begin with %: the library compares each directive with all before it.
	MaxDirectives = 100
	// MaxConfig is the size up to which a ConfigMap or Secret is read for its values; of a larger one the name is known.
	MaxConfig = 4 << 10
	// MaxKeys is how many keys a section may have, where objects are patched: each of a patch is looked for among those of the object.
	MaxKeys = 1000
	// MaxWord is the length of a text that a variable may stand for, and of a patch's target: longer ones would let a small file be a large one. No name
	// of an object is longer.
	MaxWord = 256
	// MaxNested is how deep variables may stand in what others are by default.
	MaxNested = 8
	// MaxList is how many entries of one list are read: resources, patches, dependencies.
	MaxList = 2000
	// MaxProblems is how many problems are kept.
	MaxProblems = 200
)
