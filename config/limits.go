package config

import (
	"time"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Bounds of a file. A file beyond one of them is refused with a finding; none is reached by a file that people keep by hand.
const (
	// MaxBytes is the size of a file. Parsing takes time in proportion to it, whatever stands in the file. A thousand branches
	// of long names take half of it.
	MaxBytes = 256 << 10
	// maxDirectives is how many lines may begin with %: the library compares each directive with all before it.
	maxDirectives = 100
	// MaxDepth is how deep sections and lists may nest. The format itself needs six levels.
	MaxDepth = 12
	// MaxEntries is how many entries any section or list may have, keys and values counted apart. Beyond it nothing is looked
	// at one by one.
	MaxEntries = 2000
	// MaxText is the length of one text or key, in bytes.
	MaxText = 1024
	// MaxWindows is the number of windows.
	MaxWindows = 100
	// MaxDates is the number of one-off openings of a window.
	MaxDates = 200
	// MaxNth is how often a weekday can occur in a month: nth counts from either end.
	MaxNth = window.MaxNth
	// MaxName is the length of the name of a window or freeze, in bytes. Package window refuses longer ones.
	MaxName = window.MaxName
	// MaxFreezes is the number of freezes.
	MaxFreezes = 200
	// MaxRules is the number of rules of the layout.
	MaxRules = layout.MaxRules
	// MaxEntryPoints is the number of entries of the layout's entrypoints.
	MaxEntryPoints = 500
	// MaxPaths is the number of patterns of one rule.
	MaxPaths = 100
	// MaxReleases is the number of releases of one rule.
	MaxReleases = 20
	// MaxBranches is the number of windowed branches: one or two for each of some hundred clusters.
	MaxBranches = 1000
	// MaxClusters is the number of clusters.
	MaxClusters = graph.MaxClusters
	// MaxBranchGlobs is the number of different patterns over branches in a file, names that are written out not counted: each is
	// compared with every branch.
	MaxBranchGlobs = 50
	// MaxLabels is the number of labels, and of contexts to ignore, in one list.
	MaxLabels = 50
	// MaxGrantees is how many an override may be by.
	MaxGrantees = 50
	// MaxApprovals is how many approving reviews sluice may ask for.
	MaxApprovals = 20
	// MaxMerges is the largest max_merges_per_opening.
	MaxMerges = 100_000
	// MaxShares is how many different releases Shares tells apart in a tree.
	MaxShares = 200
	// MaxFindings is how many errors, and how many warnings, are reported of one file.
	MaxFindings = 50
)

// Bounds of durations.
const (
	// MaxDuration is the longest duration of a window.
	MaxDuration = window.MaxDuration
	// MaxCutoff is the longest cutoff.
	MaxCutoff = window.MaxCutoff
	// MaxSettle is the longest settle.
	MaxSettle = 24 * time.Hour
	// MaxExpires is how long an override may stand.
	MaxExpires = 24 * time.Hour
)
