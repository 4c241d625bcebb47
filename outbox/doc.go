// Package outbox holds what is owed to GitHub, and the order in which writes reach it.
//
// The [Ledger] has the debts of all repositories: each success of ours that stands or may stand, with what takes its place and when. It is what is
// paid from, what a look sees, and where room for one more success is asked for. A debt ends by its number. The [Lanes] let the writes of
// an installation go, the more urgent ones first and the repositories in turn.
//
// Neither reads a clock or speaks to GitHub or the store: who pays and who writes is package reconcile. Both are safe for concurrent use.
package outbox
