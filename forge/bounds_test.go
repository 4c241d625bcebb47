package forge

import "time"

// Bounds of what is below, as the tests of whole looks know them.
const (
	maxLine       = 250
	maxLinePages  = 10
	linePage      = 100
	lineAhead     = 20
	recentPage    = 20
	namesPage     = 100
	maxReports    = 200
	maxSubject    = 100
	maxAncestries = 30
	maxRulesRead  = 100
	rulesetsApart = 250
	maxLandings   = 5
	landingAge    = 24 * time.Hour
	landingWait   = 10 * time.Minute

	maxCompared = 300
	maxSilent   = 8
	readers     = 4
	maxHeavy    = 30
	partMost    = 10 * time.Minute
)
