package forge

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
)

// What people read of this package stands in testdata/words.golden.
func TestWordsGolden(t *testing.T) {
	var b strings.Builder
	for _, word := range []string{
		wordOtherRepo, wordArchived, wordMoved, wordPage, wordTooMany,
		wordMerged, wordElsewhere, wordBranchMoved, wordProtected,
		wordNoMove, wordSilent, wordBaseMoved, wordNoBase, wordNoAncestry, wordNoTree,
	} {
		fmt.Fprintln(&b, word)
	}
	for _, p := range []rulesFile{
		refused(codeNotAFile, sayNotAFile), refused(codeTooLarge, fmt.Sprintf(sayTooLarge, config.MaxBytes)),
		refused(codeNotText, sayNotText), refused(codeUnread, sayUnread),
	} {
		fmt.Fprintf(&b, "%s: %s\n", p.findings[0].Code, p.findings[0].Message)
	}
	for _, what := range []string{
		whatPull, whatReports, whatFork, whatFiles, whatPaths, whatText, whatBase, whatRules, whatGroup, whatTip, whatAncestry, whatCommit,
	} {
		fmt.Fprintln(&b, notRead(what, &client.Error{Kind: client.Gone}))
	}
	want, err := os.ReadFile("testdata/words.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}
