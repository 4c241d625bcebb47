// Package survey looks at a repository that sluice does not know yet and drafts its first file: which clusters it is for, when their windows
// are open, what of the tree is windowed, and what was not understood.
//
// Two things always hold of a draft: what was found for a cluster decides nothing in another one, and whatever an entry point reads for which a
// window was found is held by the file, or no file is right.
//
// A [Draft] follows from the tree's Flux objects, the names of its files and the default branch alone: the package is pure, and the same
// tree gives the same bytes. What it goes by, in this order: branches of the repository that Flux Kustomizations track, CronJobs that
// suspend and resume them, schedules of the Flux Operator, names of directories. Each file that an entry point reads gets what holds that
// entry point; of several, what holds all of them.
//
// How it fails: the tree is hostile. Every text of it is quoted or made one line of comment, the draft is compiled before it is given, and
// what would make it invalid is left out with a note. If it is invalid all the same, a file stands in its place that says nothing but why.
// What is not understood is never guessed: it is a note, and a person decides. A draft only observes, so that a wrong one holds nothing.
package survey
