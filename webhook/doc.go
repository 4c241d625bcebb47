// Package webhook takes GitHub's deliveries, and Flux's events: it verifies, notes, answers, and pokes whoever looks at
// repositories.
//
// # Model
//
// A delivery is a hint that something changed, never the change itself: only who and what it is about is read from it, and
// the rest is asked of GitHub by the next look. Losing one costs delay, not correctness.
//
// An event of Flux is different: what it says is asked of nobody later. So what a Kustomization reports of a commit is kept,
// the newest of each branch and object; it is shown to people and decides nothing. It names its repository by the address that
// it is posted to, /flux/OWNER/REPO. Flux repeats itself: what is no news is answered like the rest, and makes no look.
//
// # Invariants
//
//   - Nothing of a body is parsed before its SHA-256 signature was found right, in constant time. A SHA-1 one does not count.
//     GitHub's secret and Flux's are two: neither sender can speak for the other. From Flux's follows a token for each repository,
//     which speaks for that one alone.
//   - 202 is answered once the note is durable, and only then. The poke comes between the two; it also comes before a 503 for a note
//     that could not be kept, as GitHub does not send it again. A delivery that was noted before is answered 200 and pokes nobody.
//   - A signed delivery gets no 5xx for what it says, however odd; what cannot be read is logged and answered 200, since GitHub
//     sending it again would not change it.
//   - Memory is bounded whoever sends: a body is refused by its declared length before it is read, what is set aside follows what came, and
//     all long bodies that are being read together share one bound. Small ones are bounded by the connections of package listen.
//   - A connection has one answer. One over which a right signature came gives way to nobody.
//   - What is refused unread may have been a delivery: Missed is called each time, so that whoever looks at repositories looks at all.
//   - The secret, bodies and signatures are never logged.
//
// # How it fails
//
// 401 for a signature that is missing or wrong, 400 for missing headers, 413 for a body over GitHub's own bound, 503 when the
// note cannot be kept or when too much is being read at once. Each kind of refusal is logged at most once in a while, with its
// number, so that a stranger cannot fill the log. An event of Flux
// that is no JSON of its form is 400, one about a repository that is not known 404; neither is sent again.
//
// The handler needs a server with time-outs against slow senders: [NewServer] has them.
package webhook
