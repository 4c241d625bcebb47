// Package webhook takes GitHub's deliveries: it verifies, notes, answers, and pokes whoever looks at repositories.
//
// # Model
//
// A delivery is a hint that something changed, never the change itself: only who and what it is about is read from it, and
// the rest is asked of GitHub by the next look. Losing one costs delay, not correctness.
//
// # Invariants
//
//   - Nothing of a body is parsed before its SHA-256 signature was found right, in constant time. A SHA-1 one does not count.
//   - 202 is answered once the note is durable, and only then; the poke follows it. A delivery that was noted before is
//     answered 200 and pokes nobody.
//   - A signed delivery gets no 5xx for what it says, however odd; what cannot be read is logged and answered 200, since GitHub
//     sending it again would not change it.
//   - Memory is bounded whoever sends: a body is refused by its declared length before it is read, and all bodies that are being
//     read together share one bound.
//   - The secret, bodies and signatures are never logged.
//
// # How it fails
//
// 401 for a signature that is missing or wrong, 400 for missing headers, 413 for a body over GitHub's own bound, 503 when the
// note cannot be kept or when too much is being read at once. Every refusal of the store is logged as an error; wrong
// signatures are logged at most once in a while, with their number, so that a stranger cannot fill the log.
//
// The handler needs a server with time-outs against slow senders: [NewServer] has them.
package webhook
