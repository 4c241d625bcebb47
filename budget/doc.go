// Package budget counts what GitHub grants an installation, and says who may have some of it.
//
// GitHub grants points by the minute, requests and points by the hour, and content (what people are notified of) by both. A [Window] is a limit
// that slides; a bucket is a token bucket, which refills evenly; a [Share] deals an hour out among flows by deficit round robin, and a [Purse]
// holds beside it what only tells, and a reserve; an hour is
// what GitHub said last of one of its hours, less what is under way and what is kept for debts. An [Installation] is all of that of one installation: it
// is asked before each request, and hears of the limits from the headers of each answer. A [Class] says what a request is for: where a budget
// runs low those of a higher class go on while the others wait.
//
// It reads no clock, and sends nothing: who asks GitHub is package forge/client, who waits is package reconcile. Nothing here is safe for concurrent
// use but an [Installation].
package budget
