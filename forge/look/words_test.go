package look

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/forge/client"
)

// What people read of this package stands in testdata/words.golden.
func TestWordsGolden(t *testing.T) {
	var b strings.Builder
	for _, word := range []string{WordMoved, wordSilent, wordNoTree} {
		fmt.Fprintln(&b, word)
	}
	for _, what := range []string{WhatCommit} {
		fmt.Fprintln(&b, NotRead(what, &client.Error{Kind: client.Gone}))
	}
	want, err := os.ReadFile("testdata/words.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}
