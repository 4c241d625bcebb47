// Package standin is what a GitHub holds, small enough to read, for `sluice-demo` and for tests. Package api below it is how it is spoken to.
//
// # What it is
//
// Repositories are real bare git repositories below Options.Dir: branches are their refs, and a merge is a merge that git
// makes, so a conflict is a conflict. go-git reads and adds their objects, so that no process is started for it. Everything
// else (pull requests, reviews, statuses, check runs, branch rules, installations) is kept in memory. Where GitHub refuses (required
// checks and reviews, drafts, a head that moved), the methods refuse with its status and words, a [Refusal]; each such place names where that
// is known from.
//
// Tests and the demo play people through the methods of [Repo]. Forks share the base's repository under refs/forks/, and nothing survives
// [GitHub.Close] but the git repositories.
//
// # Invariants
//
//   - A branch is only ever moved from a known old value, under the lock of its repository.
//   - A state change and its [Event] are one step: the App is notified in the order of the changes.
//   - Git objects never change, so what is read of them is kept in memory by name; refs are read from git every time.
//   - Updates of several branches in one request are one transaction of git: all are done or none.
//   - No lock of the whole GitHub is held while git runs.
//
// # How it fails
//
// What is not there is [ErrNotFound], and what GitHub would refuse a [Refusal]. When git itself fails, the methods return the error.
package standin
