package store

import "time"

// Bounds on what is kept. Ages count from the instant of the write that tidies.
const (
	// DeliveryAge outlives GitHub's own redelivery, which reaches 3 days back.
	DeliveryAge = 4 * 24 * time.Hour
	// GroupAge is the longest that a merge queue waits for an answer.
	GroupAge = 6 * time.Hour
	// RepairAge is the span within which repairs of one status are counted.
	RepairAge = time.Hour
	// RefusalAge is how long a refusal that did not happen again is kept. The pause between two tries is an hour at most.
	RefusalAge = 7 * 24 * time.Hour
	// PullAge is how long a pull request is kept that no look has seen open.
	PullAge = 30 * 24 * time.Hour
	// MergeAge is how long a merge counts: no opening that is planned for is longer.
	MergeAge = 400 * 24 * time.Hour
	// LiveMergeAge is how long a merge of live paths alone is recalled: no opening counts it, but for a moment GitHub may
	// still list its pull request as open.
	LiveMergeAge = time.Hour
	// ActAge is how long acts are kept, unless Keep says otherwise.
	ActAge = 365 * 24 * time.Hour
	// ActsKept is how many acts of one repository are kept, and StatusesKept how many of them may be statuses, as many as strangers like.
	ActsKept     = 100000
	StatusesKept = 10000
	// ActsShown is how many of the latest acts a Page carries.
	ActsShown = 5
	// TextBytes is the longest text by others that is kept whole: GitHub's refusals, names and reasons.
	TextBytes = 1000
	// WhySteps is how many steps of one verdict's explanation are kept with the last plan.
	WhySteps = 20
	// WhyBytes is how long these are together: a path may have 4,096 bytes, and one look keeps thousands of explanations.
	WhyBytes = 4 << 10
	// PageVerdicts is how many verdicts of one repository are kept with the last plan.
	PageVerdicts = 2000
	// BranchAge is how long the value of a windowed branch is kept that no look found in the file. It counts by the looks at
	// its repository, not by the clock: a service that was stopped for long forgets nothing.
	// A name that comes back after that is a new branch.
	BranchAge = 7 * 24 * time.Hour
	// BranchesKept is how many windowed branches of one repository are kept, with those that left the file: ten times what a
	// file may name.
	BranchesKept = 2000
	// StuckAge is how long a refused move that did not happen again is kept. The pause between two tries is an hour at most.
	StuckAge = 7 * 24 * time.Hour
	// ReportAge is how long a report by Flux is kept that was not repeated: a Kustomization repeats it at each reconciliation.
	ReportAge = 30 * 24 * time.Hour
	// ReportsKept is how many reports of one repository are kept, the latest.
	ReportsKept = 5000
	// ReportBytes is the longest text of a report that is kept whole: a reason shows 140 characters at most.
	ReportBytes = 400
	// DebtAge is how long a debt that no instant ends is kept: a success on a head that is not opened again.
	DebtAge = 400 * 24 * time.Hour
	// DebtsKept is how many debts without an end are kept of one repository, the latest.
	DebtsKept = 10000
	// TalliesKept is how many commits and contexts of one repository statuses are counted for, those that were written last.
	TalliesKept = 5000
	// PageDebts is how many of a repository's debts that GitHub refuses to take the page shows.
	PageDebts = 20
	// PageBranches is how many verdicts on windowed branches of one repository are kept with the last plan.
	PageBranches = 1000
	// PageCommits is how many of a branch's waiting commits are kept with the last plan.
	PageCommits = 10
	// tidyEvery is the least pause between two prunings.
	tidyEvery = time.Hour
	// tidyRows is how many rows one transaction of pruning deletes, so that no note waits long behind it.
	tidyRows = 500
	// pullTouch is how stale "last seen" of a pull request may become before it is written again: a look at an unchanged repository
	// writes nothing.
	pullTouch = 24 * time.Hour
	// branchTouch is the same of "last seen" of a windowed branch, and reportTouch of the instant at which a report last arrived.
	branchTouch = 24 * time.Hour
	reportTouch = 24 * time.Hour
	// reportReword is how long another text of the same failure waits before it counts: texts tell how long things took.
	reportReword = 10 * time.Minute
	// batchMost is how many short writes share one transaction at most, and longMost how many others: each of these may be hundreds of rows.
	batchMost = 128
	longMost  = 4
	// busyWait is how long a write waits for another process that holds the file; GitHub waits 10 s for our answer.
	busyWait = 3 * time.Second
	// readers is how many reads run at once.
	readers = 4
)
