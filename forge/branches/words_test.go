package branches

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
)

// What people read of this package stands in testdata/words.golden.
func TestWordsGolden(t *testing.T) {
	var b strings.Builder
	for _, word := range []string{wordNoMove, wordBaseMoved, wordNoAncestry} {
		fmt.Fprintln(&b, word)
	}
	for _, p := range []rulesFile{
		refused(codeNotAFile, sayNotAFile), refused(codeTooLarge, fmt.Sprintf(sayTooLarge, config.MaxBytes)),
		refused(codeNotText, sayNotText), refused(codeUnread, sayUnread),
	} {
		fmt.Fprintf(&b, "%s: %s\n", p.Findings[0].Code, p.Findings[0].Message)
	}
	for _, word := range []string{whatBase, whatRules, whatTip, whatAncestry} {
		fmt.Fprintln(&b, word)
	}
	want, err := os.ReadFile("testdata/words.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}
