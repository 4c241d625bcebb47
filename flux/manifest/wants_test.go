package manifest

import (
	"regexp"
	"testing"
)

// stated is what documents that are wanted say, as an expression.
var stated = regexp.MustCompile(`(?:(?m:^)|[{,\s"'\x{FEFF}-])(?:kind["']?\s*:\s*(?:[!&]\S*\s+)*["']?(?:Kustomization|Component|GitRepository|OCIRepository|FluxInstance|ExternalArtifact|CronJob|ResourceSet(?:InputProvider)?|ArtifactGenerator|Helm(?:Release|Chart|Repository)|Bucket|ConfigMap|Secret|List)\b|apiVersion["']?\s*:\s*["']?builtin\b)|(?m:^) {0,6}instance:[ \t]*(?m:#|$)`)

// FuzzWants: whatever says something is wanted, and a document that says nothing of the kind is not.
func FuzzWants(f *testing.F) {
	for _, seed := range []string{"kind: List", "a: {kind : !!str &x 'Secret' }", "\xef\xbb\xbfkind:\r\n  ConfigMap", "- \"kind\": Bucket", "kind: !!str", "xkind: List", "kind: Lists", "apiVersion: 'builtin'", "values:\n  instance:\n    sync: {}", "kind: & ! ! ! ! ! List"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if stated.Match(text) && !wants(text) {
			t.Errorf("%q", text)
		}
	})
}

// TestWants: most documents are none that count.
func TestWants(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: Deployment": false, "kind: Lists": false, "mankind: List": false, "kind List": false, "apiVersion: builtins/v1": false, "": false, "kind:": false,
		"kind: Secret": true, "instances: 3\ninstance: 3": false, "instance:\n": true,
		"a: &k kind\n*k : Secret": true, "a: &k kind\n? *k\n: Secret": true, "schedule: '* * * * *'": false, "host: '*.x:80'": false, "kind: ${X}": true, "kind: Con${X}": true,
	} {
		if wants([]byte(text)) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// What the expressions say that the scanners stand for.
var (
	sayValues   = regexp.MustCompile(`(?m)^ {0,6}instance:[ \t]*(?:#|$)`)
	sayEscaped  = regexp.MustCompile(`"[kind]{0,3}\\[xuU\r\n]`)
	sayAliasKey = regexp.MustCompile(`\*[^\s,{}\[\]]+\s+:`)
)

// FuzzScanners: what is looked for by hand is found as an expression finds it, which takes a second for a file of 4 MiB.
func FuzzScanners(f *testing.F) {
	for _, seed := range []string{"  instance: #", "a\n instance:\t\n", "\"kin\\x64\": List", "\"k\"i\\u", "*k :", "**k\n\n:", "* k:", "*a,b :", "\"kind\\x", "\\x\"\\x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if values(text) != sayValues.Match(text) || escaped(text) != sayEscaped.Match(text) || aliasKey(text) != sayAliasKey.Match(text) {
			t.Errorf("%q: %t %t %t", text, values(text), escaped(text), aliasKey(text))
		}
	})
}
