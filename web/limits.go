package web

import "time"

const (
	// listRows is how many rows one page of a list has, and repoRows how many of them one repository has on the page of all: whoever fills one
	// repository, with pull requests from a fork for example, hides no other.
	listRows, repoRows = 100, 20
	// maxPage is the last page of a list: what comes later is found by its filters.
	maxPage = 100
	// The other lists of a page, and how many of its windows have a bar: a bar of what opens each hour has 20 KB.
	maxRepos, maxWarnings, repoWarnings, maxUnpaid, maxWindows, maxTroubles = 200, 60, 5, 20, 40, 20
	barsBytes                                                               = 100 << 10
	// drawnFor is how long the page of all is sent again before it is drawn anew. It also bounds how many pages slow readers keep in memory.
	drawnFor = time.Second
	// turnWait is how long a request waits while others draw, and readWait how long one reads the store: together less than the server
	// gives an answer. What was not read by then is not shown, and the page says so.
	turnWait = 10 * time.Second
	readWait = 8 * time.Second
	// Streams tell browsers that there is something new: so many at once, each for a while, and nothing of it sooner than a browser may ask.
	maxStreams      = 32
	maxStreamsOfOne = 4
	streamFor       = time.Minute // then GitHub is asked again what it may tell of
	streamEvery     = time.Second
	streamIdle      = 15 * time.Second
	// maxAsked is the longest text that is looked for, in bytes.
	maxAsked = 200
	// loggedEvery is how often a log-in that fails is logged: anybody may try.
	loggedEvery = 10 * time.Second
	// reloadAfter is when a browser that runs no script of ours loads a page again.
	reloadAfter = 30
)
