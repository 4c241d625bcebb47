// Package look is what one look at a repository reads GitHub with, whatever it reads there.
//
// # Model
//
// A [Look] is one observation of one repository. It sends queries (query.go), whose answers are of the shapes of answers.go, and compares commits
// by REST (compare.go). What of a repository could not be read is a part by itself, which is left alone for a while and asked for again
// (parts.go). What was read is remembered in one [Memory] for all repositories, bounded by bytes (memory.go).
//
// # Invariants
//
// No decision depends on what was evicted from memory, only the number of requests. No error is remembered as an answer.
//
// # How it fails
//
// An error of a part makes that part unknown ([Look.Failed]); what is about more than a part ends the look ([EndsLook]).
package look
