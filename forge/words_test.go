package forge

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
)

// What people read of this package stands in testdata/words.golden.
func TestWordsGolden(t *testing.T) {
	var b strings.Builder
	for _, word := range []string{
		wordOtherRepo, wordArchived, wordPage, wordTooMany, wordMerged, wordElsewhere, wordBranchMoved, wordProtected, wordNoBase,
	} {
		fmt.Fprintln(&b, word)
	}
	for _, what := range []string{whatPull, whatReports, whatFork, whatFiles, whatPaths, whatText, whatGroup} {
		fmt.Fprintln(&b, look.NotRead(what, &client.Error{Kind: client.Gone}))
	}
	want, err := os.ReadFile("testdata/words.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}
