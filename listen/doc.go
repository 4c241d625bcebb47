// Package listen bounds what strangers can hold of a process: connections, and with them file descriptors and memory.
//
// # Model
//
// A [Listener] has a number of places. Whoever connects gets one; while all are in use, the stranger's connection that is open longest
// gives way to the newest. Refusing the newest instead would let strangers who come first lock everybody else out. A connection
// over which somebody showed that he has a secret ([Known]) gives way to nobody until that request is answered; if it then waits for another
// one ([State]), for which half of the places must be free, it gives way before all others. One peer address, which for IPv6 is a /64, has a
// share of the places: while all are in use, whoever is most above it gives way first, so that one machine cannot drive others out. Where
// there is room it bounds nobody: a burst of GitHub's comes from few addresses, and shows its secret a round trip later.
//
// # Invariants
//
//   - No more connections are open than there are places.
//   - A connection that is Known is closed by its server or its peer alone, until its request is answered.
//   - What has no place for want of strangers to give way is closed at once: then all places are held by who has the secret.
//
// # How it fails
//
// A connection that gave way looks to both sides like one that broke. Whoever serves is told by [Options.GaveWay] that something may be lost.
// Where the process has no descriptor left, accepting fails and is tried again by net/http; [Descriptors] says so.
package listen
