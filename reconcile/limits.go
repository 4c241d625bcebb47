package reconcile

import (
	"time"

	"github.com/sluicegate/sluice/outbox"
)

// Defaults of Options.
const (
	// defaultResync is how often a repository is looked at though nothing happened.
	defaultResync = 5 * time.Minute
	// defaultWorkers is how many looks run at once: as many repositories as a busy installation has. Looks mostly wait for GitHub, which
	// takes 100 requests at once.
	defaultWorkers = 32
	// defaultBudget is GitHub's least hourly budget of requests of one installation.
	defaultBudget = 5000
)

// How notes are gathered into looks.
const (
	// burstQuiet is how long a repository must be quiet after a note before it is looked at: one push makes several events.
	burstQuiet = 250 * time.Millisecond
	// burstFirst is how long an event that breaks a silence waits for those that come with it.
	burstFirst = 10 * time.Millisecond
	// burstMost is the longest that a note waits for quiet.
	burstMost = time.Second
	// echoWait is how long after a merge or an update of ours the repository is looked at again, so that the echoes of many
	// writes make one look.
	echoWait = 2 * time.Second
	// reportWait is how long a report of Flux waits for others: many come when many clusters apply one commit. Each fills the bucket by reportEach:
	// one cluster reports once for each commit that it applies, and such reports are looked at each by itself. What is in the bucket beyond
	// reportBurst, ten at once as of a cluster with ten Kustomizations, puts the next look off, by reportRest at most.
	reportWait  = time.Second
	reportEach  = 3 * time.Second
	reportBurst = 10 * reportEach
	reportRest  = 30 * time.Second
	// idleWait is the first pause before a look that the plan itself wants at once though the last one had nothing to write.
	// It doubles to idleWaitMost: a plan that never rests must not spend the budget.
	idleWait     = time.Second
	idleWaitMost = time.Minute
)

// slowLook is from when on the log says of a look how long it took, at whatever level: an opening should not wait for one.
const slowLook = 10 * time.Second

// How errors slow a repository down.
const (
	backoffFirst = time.Second
	backoffMost  = 5 * time.Minute
	// goneProof is how many looks in a row must hear that a repository is not there, and goneWait the pause between them. GitHub does
	// not have everything everywhere at once.
	goneProof = 2
	goneWait  = 5 * time.Second
	// goneFirst is how long the events of a repository that is gone are left to gather; it doubles up to goneMost.
	goneFirst = time.Minute
	goneMost  = time.Hour
	// limitedFirst is the pause of an installation whose limit has no end that GitHub names; it doubles to limitedMost.
	limitedFirst = time.Minute
	// limitedMost bounds what we believe of a limit's end: GitHub's windows are an hour.
	limitedMost = 65 * time.Minute
	// limitedLeast keeps an end that has just passed from making a busy loop.
	limitedLeast = time.Second
)

// What one look may take.
const (
	observeMost = 3 * time.Minute  // a look at a repository with a thousand open pull requests, and slow answers
	confirmMost = 5 * time.Second  // all questions about what reads are too old for: an opening may wait for them
	writeMost   = 30 * time.Second // one request that writes
	recordMost  = 10 * time.Second // one call of the store, also after the service was told to stop
	graceMost   = 10 * time.Second // for the unit in hand once the service is told to stop
	stopMost    = time.Minute      // for all looks to end once the service is told to stop: a write, its undoing, its record
	// mergeShare is the part of an hour's requests that must be left before a merge is begun: a fiftieth. A merge takes three or four, and as
	// many looks of the installation may be in the midst of one; what is left over takes green statuses back.
	mergeShare = 50
	// limitPatience is the end of a limit that is waited for within a look, mostly our own pace: to look again would cost more.
	limitPatience = 10 * time.Second
	// limitTries is how often one write is begun anew after such a limit.
	limitTries = 5
	// agedAfter is the age of an observation after which it is not acted on any more, but made anew: what is left
	// of its half minute may not suffice.
	agedAfter = 10 * time.Second
	// movesLocked is how many branches that need a status go in one request: their statuses take a part of half a minute at GitHub's pace.
	movesLocked = 25
	// rereadMost is how often one look reads windowed branches again before they are moved. A read takes a moment: events that fall
	// into each of so many leave them to the next look.
	rereadMost = 3
	// apartMost is how many requests one look spends on moving branches each for itself: half of what GitHub takes in a minute, which is 2,000
	// points at 50 for ten branches. So the looks that follow, and the request for all that is left, need not wait for the minute.
	apartMost = 20
)

// How debts are paid.
const (
	// payWait is the pause of an installation's payments when GitHub takes none; it doubles to payWaitMost, and ends with the first
	// write that GitHub takes.
	payWait     = time.Second
	payWaitMost = 10 * time.Second
	// payOften is how often a payment that is refused is tried again each minute: GitHub may refuse everything for a while.
	payOften = 5
	// payWaitLong is the pause after payTires failures in a row: nobody may ever take them.
	payWaitLong = time.Minute
	// payMostAge is how long a payment that GitHub does not take is tried again, and no less often than payTires.
	payMostAge = 30 * 24 * time.Hour
	// unitMost is how long the success that lets a pull request be merged, or a branch be moved, may stand: that follows at once, or at the end of a short limit.
	unitMost = time.Minute
)

// How time is watched.
const (
	// napMost is the longest sleep of the loop: after it the wall clock is compared with the alarms.
	napMost = 30 * time.Second
	// driftMost is how far the wall clock may run from the monotonic one before the alarms are reckoned anew.
	driftMost = 5 * time.Millisecond
	// jumpMost is the jump ahead after which every repository is looked at: the machine slept, and events were lost.
	jumpMost = time.Minute
)

// How looks are spread, and how lists of repositories are read.
const (
	// spreadEach is the pause between two repositories of an installation when all are looked at.
	spreadEach = 20 * time.Millisecond
	// spreadFree is how many repositories of an installation are spread by spreadEach; the others are spread so that they
	// take half the hourly budget.
	spreadFree = 500
	// soonMost is how soon a plan wants another look when what is due goes on, and soonTries how often that may come to nothing.
	soonMost  = time.Minute
	soonTries = 5
	// resyncShare is the part of the hourly budget that resyncs may take: a fifth.
	resyncShare = 5
	// resyncPatience is how long a resync waits for events, which go before it; after that it counts as one.
	resyncPatience = time.Hour
	// missedRest is the least pause between two looks at a repository for the sake of events that may be lost.
	missedRest = time.Minute
	// makeUpRest is the least pause between two passes over all repositories for their sake: one of ten thousand takes a millisecond.
	makeUpRest = time.Second
	// doubtAfter is how long an event at what stands green waits at most for an hour that runs low.
	doubtAfter = time.Minute
	// closeAhead is how long before a close what waits for it is looked at whatever the hour has left for events: long enough for a success,
	// and for the merges of a few hundred.
	closeAhead = 2 * time.Minute

	// listShare is the part of the hourly budget that lists of repositories may take: a twentieth.
	listShare = 20
	// pageSize is how many pull requests or repositories one request reads, to reckon costs by.
	pageSize = 100
	// listAgain is the pause after a list that lacks the repositories of some installations.
	listAgain = time.Minute
	// discoverMost is how long one list of all repositories may take.
	discoverMost = 5 * time.Minute
	// discoverQuiet gathers events of installations into one list.
	discoverQuiet = time.Second
	// reposMost bounds the queue; a note for one repository more is dropped, and the log says so.
	reposMost = 200_000
	// ignoredMost is of how many repositories it is said that their deliveries are ignored.
	ignoredMost = 100
)

// payTires is how often a payment fails before it may be given up for its age: the service may have been down for long.
var payTires = map[outbox.Blame]int{outbox.Debtor: 10, outbox.GitHub: 1000}

// mergePauses are the waits before a merge is tried again after a transient refusal.
var mergePauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
