// Package web shows people what sluice decided, and who did what: two plain pages for the operator's eyes, on the admin address.
//
// # Model
//
// The page is drawn from what the store keeps of each repository's last look: verdicts with reasons, when they change, warnings, and
// the latest actions. What needs a person stands first. There is no JavaScript, no cookie, and nothing to press but a form that asks the history: the pages only read.
// One request draws at a time; those that came meanwhile, and in the second after it, get the same page. The history is read for each request, in its turn,
// a page of a bounded number of acts.
//
// # Invariants
//
//   - Text by others (labels, refusals, logins, branches) is escaped by html/template wherever it stands, and the content
//     security policy forbids everything but our own style sheet.
//   - The same pages at the same instant give the same bytes.
//   - The page is answered under names of ours alone (hosts.go): it has no log-in, and browsers inside have strangers' pages open.
//   - The page is bounded in bytes, and so is the memory that drawing it takes: repositories are read and drawn one by one. What finds no
//     room is counted. Each list has a bound of its own, the most urgent repositories find room first, and of equally urgent ones those with less
//     text: who fills one repository hides no other.
//
// # How it fails
//
// If the store cannot be read, the answer is 503 with a page that says so; the cause is logged. If reading takes too long, the page shows
// what was read and says that it is not all. A request whose turn does not come gets 503.
//
// Instants are shown in UTC, with how far away they are; reasons carry the windows' own zones already.
package web
