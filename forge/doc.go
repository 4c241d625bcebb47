// Package forge speaks GitHub, and no other package does: it reads a repository into a [plan.Snapshot], and does the few writes that a plan
// asks for. Pull requests are its own; branches are package branches' below it, what both read with is package look's, and how a request
// gets there, and what a failed one means, package client's.
//
// # Model
//
// An observation ([Forge.Observe]) is one GraphQL query for up to [maxPage] open pull requests: what each of them is, with the repository's file
// at the tip of every base. Their details (files, reviews, checks, commits) are kept, each with the instant for which they were read
// (plan's Pull.Read), and read again by number where something shows that they have changed, or where the caller asks for them
// (details.go). So a snapshot is always whole, and a part of it may be older than the rest: who releases something compares both. What
// GraphQL lacks costs a request more, and is remembered by names that never change their meaning: the old names of renames by merge base
// and head, policies by blob, merge bases by tip and head, the commits of a long pull request by its newest head, from which those of the next one
// follow. The rules of a base are the only thing remembered by time. All of it is one
// memory for each repository, bounded by bytes (look/memory.go).
//
// After a push to a base one comparison of its old tip with its new one says what of that still holds (branches/moves.go): which details, which
// paths; and what reached it otherwise than by our merges.
//
// # Invariants
//
// What is unknown never counts as known: a list is Complete only if it was proved complete, an answer with errors in it is no
// answer, and two pages that saw different tips are no observation. Every write names the SHA it was decided on.
//
// # How it fails
//
// Every error that a caller may want to branch on is a [*client.Error]. What is wrong with a part of a repository makes that part unknown, and
// no other.
package forge
