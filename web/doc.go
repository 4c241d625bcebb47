// Package web shows people what sluice decided, and who did what: lists of what waits, a page for each repository, pull request and windowed branch, and the history, on the
// admin address.
//
// # Model
//
// Each page is drawn from what the store keeps of each repository's last look: verdicts with reasons, when they change, warnings, and acts. What needs a person stands first, and a
// list has a page of its rows at a time. A script of ours puts a page that was asked for again in the place of the old one, whenever the event stream says that there is something
// new, and by the clock; without it a browser loads pages again by itself. One request reads the store at a time; the page of all is sent again for a second.
//
// Who asks from this machine sees everything. From elsewhere people log in (package login), and the store is asked for what they may see alone.
//
// The pages only read, but for one form: it writes the comment that releases something, in the name of who is logged in.
//
// # Invariants
//
//   - Text by others (labels, titles, refusals, logins, branches) is escaped by html/template wherever it stands, and the content
//     security policy forbids everything but our own style sheet and script.
//   - The same pages at the same instant give the same bytes.
//   - The pages are answered under names of ours alone (hosts.go), and take no form that another page sent.
//   - Of what somebody may not see they say nothing, not even that it is there.
//   - Rows, windows, warnings, streams and what is read of a request are bounded, and of all repositories each has a few rows at most: who fills one hides no other.
//
// # How it fails
//
// If the store cannot be read, the answer is 503 with a page that says so; the cause is logged. If reading takes too long, the page shows
// what was read and says that it is not all. A request whose turn does not come gets 503, and so does who is logged in while GitHub does not answer.
//
// Instants are shown in the zone of the window that they are about, else in UTC, with how far away they are.
package web
