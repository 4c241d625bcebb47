// Package api speaks for a GitHub that package standin holds.
//
// # What it is
//
// A [Server] serves the part of GitHub's REST and GraphQL APIs that sluice uses, the git protocol for cloning and pushing, and sends signed
// webhooks. It can be slow, limited or broken on demand: see [Fault]. It keeps GitHub's limits: that of an hour always, the others where
// Options.Limits sets them.
//
// Users of curl or git open, merge and push over HTTP with the token "ghp_LOGIN". It is not secure: anybody may claim any login, and the
// App has every permission that it asks for.
//
// # Invariants
//
//   - What it knows of GitHub's state it asks for anew; of its own are credentials, limits, faults and deliveries alone.
//   - Every branch is read once a query, so that all of an answer is of one piece.
//   - Deliveries are queued in the order of the changes that they tell of.
//
// # How it fails
//
// A request that GitHub would refuse gets GitHub's answer. When git itself fails, the answer is 500 with git's words.
package api
