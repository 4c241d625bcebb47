// Package standin is a GitHub small enough to read, for `sluice-demo` and for tests.
//
// # What it is
//
// Repositories are real bare git repositories below Options.Dir: branches are their refs, and a merge is a merge that git
// makes, so a conflict is a conflict. go-git reads and adds their objects, so that no process is started for it. Everything
// else (pull requests, reviews, statuses, check runs, branch rules, installations) is kept in memory. It serves the part of
// GitHub's REST and GraphQL APIs that sluice uses, the git protocol for cloning and pushing, and sends signed webhooks. Where
// GitHub refuses (required checks and reviews, drafts, a head that moved), the stand-in refuses with the same status and words;
// each such place names where that is known from. It can be slow, limited or broken on demand: see [Fault]. It keeps GitHub's limits: that of an hour always, the others where
// Options.Limits sets them.
//
// Tests and the demo play people through the methods of [Repo]; users of curl or git open, merge and push over
// HTTP with the token "person:LOGIN". It is not secure: anybody may claim any login, and the App has every permission that it
// asks for. Forks share the base's repository under refs/forks/, and nothing survives [GitHub.Close] but the git repositories.
//
// # Invariants
//
//   - A branch is only ever moved from a known old value, under the lock of its repository.
//   - A state change and its webhooks are one step: deliveries are queued in the order of the changes.
//   - Git objects never change, so what is read of them is kept in memory by name; refs are read from git every time.
//   - Updates of several branches in one request are one transaction of git: all are done or none.
//   - No lock of the whole GitHub is held while git runs.
//
// # How it fails
//
// A request that GitHub would refuse gets GitHub's answer. When git itself fails, the answer is 500 with git's words, and
// the methods that play people return the error.
package standin
