package outbox

import (
	"time"

	"github.com/sluicegate/sluice/budget"
)

const (
	// WritesPaced is how many writes of one installation may be under way at once at GitHub's pace, which lets no more through.
	WritesPaced = 8
	// WritesFree is how many without a pace: GitHub takes a hundred requests at once, and looks have to read.
	WritesFree = 80
	// opensWeight is how many writes that open something go before one that only tells while both wait, in one repository or in two.
	opensWeight = 9
	// aheadOfTurn is how long before its turn what opens is read again at the earliest: so it is not too old again when that comes.
	aheadOfTurn = 15 * time.Second
	// readPatience is how long a turn is kept for a repository that is being read again for it: a read takes a second or two.
	readPatience = 10 * time.Second
	// payMost is how many payments of one installation are under way at once: GitHub may be slow, and half a cutoff short.
	payMost = 8
	// calledShare is the part of GitHub's minute that what is called in has before what need not be paid within it: a third, as is promised to nobody.
	calledShare = 3
	// minuteAhead is how long what is sent counts for GitHub.
	minuteAhead = time.Minute + budget.Margin
	// payHurried is how often a payment may have been refused, and be tried all the same once its repository takes another write.
	payHurried = 15
	// payBlocks is how many payments of an installation may fail in a row before what opens goes on without them: it may be that GitHub
	// takes everything else. It is a quarter of an hour.
	payBlocks = 100
	// writtenRemembered is how long a look may take between reading a status and writing another one.
	writtenRemembered = 10 * time.Minute
)
