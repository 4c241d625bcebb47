package web

import "time"

const (
	// PageBytes is the longest page that is drawn. What finds no room is counted on it.
	PageBytes = 4 << 20
	// listBytes is how long one list of a repository (verdicts, branches, warnings) or the list of troubles may be: some 300 rows as
	// they usually are. Whoever fills one, with pull requests from a fork for example, hides nothing else.
	listBytes = PageBytes / 16
	// quietBytes is how long the list of quiet repositories may be: about 2,000 names.
	quietBytes = PageBytes / 8
	// sectionsBytes is what is left for the repositories that have something to say: all but the quiet ones, the troubles, and the rest.
	sectionsBytes = PageBytes - quietBytes - 2*listBytes
	// freshFor is how long an action keeps a repository without anything open among those that have something to say.
	freshFor = 24 * time.Hour
	// drawnFor is how long a page is sent again before it is drawn anew. It also bounds how many pages slow readers keep in memory.
	drawnFor = time.Second
	// turnWait is how long a request waits while others draw, and readWait how long one reads the store: together less than the server
	// gives an answer. What was not read by then is not shown, and the page says so.
	turnWait = 10 * time.Second
	readWait = 8 * time.Second
)
