// Package event tells which writes the events of a repository make void.
//
// An event voids what was observed of what it names ([plan.Mention]), and nothing else: in a busy repository somebody always does something. What an
// event says nothing of, or what cannot be told apart, is void with every event. A [Log] has what events named, each with its number; a [Sight]
// is what an observation shows of who rests on what; a [Scope] is what a write rests on. Whether a read is older than an event says package bound.
//
// What a whole event is, ours or somebody else's, says its [Hint].
//
// It is bounded: of too many names the whole is void. Nothing here is safe for concurrent use.
package event
