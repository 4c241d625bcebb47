// Package outbox holds what is owed to GitHub, and the order in which writes reach it.
//
// The [Ledger] has the debts of all repositories: each success of ours that stands or may stand, with what takes its place and when. It is what is
// paid from, what a look sees, and where room for one more success is asked for. What an instant ends is paid by the earliest deadline, for which GitHub's minute holds
// room, and what is called in by repositories in turn. A debt ends by its number. The [Table] has what else is wanted of GitHub, each write in the place of an older one, and says
// which comes next: the repositories of an installation in turn, by rounds.
//
// Neither reads a clock or speaks to GitHub or the store: who pays and who writes is package reconcile. Both are safe for concurrent use.
package outbox
