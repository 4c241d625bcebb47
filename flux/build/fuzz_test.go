package build

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// calls is a transport that counts.
type calls int

// RoundTrip implements http.RoundTripper.
func (c *calls) RoundTrip(*http.Request) (*http.Response, error) {
	*c++
	return nil, errors.New("it asked the network")
}

// FuzzBuild: whatever a kustomization.yaml and what it refers to hold, kustomize asks neither the network nor for git.
func FuzzBuild(f *testing.F) {
	f.Setenv("PATH", "")
	was := http.DefaultTransport
	f.Cleanup(func() { http.DefaultTransport = was })
	for _, ref := range elsewhere {
		f.Add("resources: ["+ref+"]\ncomponents: [a.yaml]\n", configMap)
		f.Add("resources: [a.yaml]\npatches: [{path: "+ref+"}]\nopenapi: {path: a.yaml}\n", configMap)
	}
	f.Add("transformers: [a.yaml]\nnamePrefix: a-\n", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: https://example.com\n")
	f.Add("transformers: [unit]\n", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: a\n")
	f.Add("replacements: [{source: {kind: ConfigMap}, targets: [{select: {kind: A}, fieldPaths: [a]}]}]\nresources: [unit]\n", configMap)
	f.Fuzz(func(t *testing.T, kustomization, text string) {
		if len(kustomization)+len(text) > 4000 {
			return
		}
		asked := new(calls)
		http.DefaultTransport = asked
		tree := newFiles()
		tree.add("app/kustomization.yaml", []byte(kustomization), false)
		tree.add("app/a.yaml", []byte(text), false)
		tree.add("app/unit/kustomization.yaml", []byte("resources: [../a.yaml]\n"), false)
		tree.sort()
		r := newBuilder(tree, Limits{}.filled()).build(Entry{Path: "app"})
		if *asked > 0 || strings.Contains(r.Err, "git' program") || strings.Contains(r.Err, "executable") {
			t.Errorf("%s", r.Err)
		}
	})
}
