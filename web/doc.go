// Package web shows people what sluice decided: one plain page for the operator's eyes, on the admin address.
//
// # Model
//
// The page is drawn anew for every request from what the store keeps of each repository's last look: verdicts with reasons,
// when they change, warnings, and the latest actions. What needs a person stands first. There is no JavaScript, no
// cookie, and nothing to press: the page only reads.
//
// # Invariants
//
//   - Text by others (labels, refusals, logins, branches) is escaped by html/template wherever it stands, and the content
//     security policy forbids everything but our own style sheet.
//   - The same pages at the same instant give the same bytes.
//   - The page is bounded, however many repositories and verdicts there are; what is left out is counted.
//
// # How it fails
//
// If the store cannot be read, the answer is 503 with a page that says so; the cause is logged.
//
// Instants are shown in UTC, with how far away they are; reasons carry the windows' own zones already.
package web
