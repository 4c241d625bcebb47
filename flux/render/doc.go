// Package render writes native manifests for the clusters of a repository from its file and its tree: what holds windowed Flux
// Kustomizations by suspend, and the pairs of sources and Kustomizations of the live and the windowed side.
//
// What is written follows from file and tree alone, in an order that does not change, with comments for the person who reviews it. The
// package is pure over an fs.FS.
//
// How it fails: the tree is hostile. Every text of it is quoted where it is not plainly harmless, a name that Kubernetes would refuse is
// left out, and what is left out is named in a comment with the reason: what cannot be known to be windowed as a whole is not held here.
package render
