// Package flux holds no code. Its test holds deploy/flux against Flux: every kustomization builds, every Flux object fits
// the schema of its CustomResourceDefinition with no field unknown, and together they do what docs/windowed-branches.md
// promises.
//
// Nothing asks the network: what a kustomization names must be a file of the tree, or it is not built. Of the schemas, the
// rules in CEL (x-kubernetes-validations) are not evaluated; TestRulesInCEL names each, and says what takes its place.
package flux
