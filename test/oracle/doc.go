// Package oracle asks the code that Flux itself is made of whether the reference graph is right.
//
// A world is a repository, with what is true of it: where it lies, which clusters there are, and what somebody once applied by hand in each. A
// simulated cluster follows it from there as Flux would: it takes each source's artifact, builds each Flux Kustomization with the package that
// kustomize-controller builds with, fills in variables, applies what comes out, and goes on until nothing changes. All of it happens over a file system that
// records what was asked of it. So it is known without a word of package graph which files a windowed entry point reads, and, by changing the files of
// the default branch one by one and following the world again, whose change reaches one at once.
//
// What is held: every such file is windowed in the eyes of `sluice classify`, or the tree is an error of `sluice check`; and so is a tree whose file
// windows what no cluster has, or what reads nothing. Worlds are drawn from a grammar of what kustomize and Flux can do, with what sluice does not read
// or cannot know among it; a world that fails is made smaller until each of its lines is needed.
//
// Invariants of the oracle: it shares no code with package graph, it never decides by names, and a build is what Flux's own Build gives, which one in
// fifty is compared with. How it fails: a world in which something does not build is no finding, but counted, and too many of them are.
//
// It is a module of its own, so that what Flux brings stays out of ours.
package oracle
