// Package branches reads what one look needs of a repository's branches, and moves the windowed ones.
//
// # Model
//
// A [Reader] reads the bases of pull requests: where they stand, what their file says (bases.go), what GitHub demands there (rules.go,
// bypass.go, owners.go), and what reached them otherwise than by our merges (landings.go). After a push to a base one comparison of its old
// tip with its new one says what of that which is known still holds (moves.go).
//
// Of windowed branches it reads how they stand to their sources, which commits passed their checks, and what Flux reports (windowed.go, line.go,
// ancestry.go, checks.go, reports.go). What the look before knew of them is asked for with the first page, so that one query mostly shows all.
// A [Mover] sends the request that moves them (move.go).
//
// # Invariants
//
// What is unknown never counts as known: a branch that is not shown may stand anywhere, and a base that was seen at two tips is unknown.
// Every move names the commit that it leaves, and none is by force.
//
// # How it fails
//
// A base or a branch that cannot be read is unknown by itself. [ErrMoved] says that the look has to begin once more.
package branches
