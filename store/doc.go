// Package store is sluice's memory: one SQLite file beside the service.
//
// # Model
//
// GitHub is the truth for pull requests, branches and for whatever holds a change. The store keeps only what GitHub cannot be asked
// for: when each repository is due for a look, which deliveries were seen, merge groups that wait for an answer, old names
// of renames, what GitHub refused, what was put right, what was merged, when a head was first seen, which branches the default
// branch's file called windowed when it could last be read, where each of them was last seen and how we moved it last, what Flux
// reported by its events, our successes that are still to be taken back (debts), how many statuses stand where we set some, the
// last plan of each repository for people to read, and the history of what sluice and others did, with who and why. Losing the file loses history:
// a head that was forgotten waits again until it is settled, a refusal is tried once more, a repository is looked at again, older versions of its file
// are read from its history, and a windowed branch that is deleted before it was seen again is made at its opening like one that
// never was. Of debts, those on open pull requests are found again, and those on what was closed, retargeted or pushed to since the
// instant until which all of them are known to be recorded; a success on another commit stays. A copy of the file is worth as much.
//
// A repository is known by GitHub's number for it; owner and name may change (see [Store.Know]). Instants are kept as
// microseconds since 1970 in UTC and come back in UTC; the package reads no clock.
//
// # Invariants
//
//   - What [Store.Note], [Store.Record] and the other writers acknowledge is on the disk (WAL, synchronous=FULL): it survives
//     kill -9 and a power cut.
//   - One goroutine writes. Writes that wait together share one transaction, each of them whole or not at all.
//   - One process writes. A second one gets [ErrLocked]; reading is open to any process, see [OpenReader].
//   - A debt is recorded before its success is written, and there is one at most for a commit and context. Its number is never given
//     again, and it is deleted by that alone. A repository that goes out of sight keeps its debts.
//   - Every table is bounded by age or count (limits.go); [Store.Looked] tidies at most once an hour.
//   - The value that a windowed branch was last seen at outlives the branch for as long as the file names it.
//   - Of Flux's reports the newest of each branch and object is kept. One that is older, or says the same, changes nothing: a
//     replay cannot bring back what was.
//
// # How it fails
//
// Every error wraps one of the sentinels of words.go where the cause is known: full, read-only, locked, corrupt, gone, closed,
// newer. Full, read-only and locked end by themselves when the cause does; corrupt and gone need a person and a new start.
// A context that ends while a write waits gives the context's error; the write may have been done nevertheless, and every
// write may safely be done again.
//
// The types of this package are the nouns that reconcile, webhook and web share with it.
package store
