// Package client carries what sluice says to GitHub and what GitHub answers: it signs in as an App, sends REST and GraphQL requests for each
// installation within what GitHub grants it, and says what a failed one means. What is asked, and why, is package forge's.
//
// # Model
//
// An [App] has an [Installation] for each installation that is asked for, with its own token, its own pace and its own limits: one that
// GitHub limits does not stop another. What GitHub grants it is reckoned before a request is sent, by package budget. A request is of a
// class: those that wait for events leave a part of each budget to openings, and these to debts. Only what GitHub itself refuses keeps a
// debt from being paid.
//
// Statuses and tokens go over connections of their own, which stay open, so that a success can be taken back when nothing can be
// dialled any more; all other requests share a bounded number.
//
// # Invariants
//
// An empty answer, or a null, is none. An answer to a query with errors in it is no answer, but for errors about one part of a query about
// many: that part is then a hole. Nothing sleeps longer than budget.Patience inside a call: who must wait longer gets [Limited] with the
// instant from which to come back.
//
// # How it fails
//
// Every error that a caller may want to branch on is an [*Error] with a [Kind]. No error and no log line holds the
// App's key or a token. Every answer, list and wait is bounded by a named constant.
package client
