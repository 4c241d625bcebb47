// Package suspend holds Flux Kustomizations from inside their cluster, without a service and without GitHub: spec.suspend of each is what
// its windows say now.
//
// One pass reads the file, asks the API server for each Kustomization, and writes spec.suspend where it differs. Nothing is remembered
// between passes but what was said last and what the last file compiled to: the state follows from file and time alone. So a missed
// pass repairs itself, and a Kustomization that was deleted and came back is suspended by the next one.
//
// Suspended means: not releasable. Whatever closes a window for the service closes it here, its freezes and its cutoff: what Flux begins in
// the last minutes would run on past the close.
//
// How it fails: closed. Only what is known to be releasable is not suspended. A file that cannot be read or is invalid, a window that it
// does not have, and a clock that is more than 30 s off the API server's leave nothing known: everything named is suspended until it is
// known again. A Kustomization that is missing, forbidden or in conflict is said, and the others go on.
package suspend
