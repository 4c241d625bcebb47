package client

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What people read of this package stands in testdata/words.golden.
func TestWordsGolden(t *testing.T) {
	var b strings.Builder
	for _, word := range []string{
		wordPace, wordLimit, wordSuspended, wordUninstalled, wordNotThere, wordTooLong, wordNoAnswer, wordUnreadable, wordEmpty, wordRedirect, wordShortList,
	} {
		fmt.Fprintln(&b, word)
	}
	for _, kind := range []Kind{Refused, Transient, AlreadyMerged, Limited, Gone, Unauthorized} {
		fmt.Fprintln(&b, &Error{Kind: kind, Until: at, Reason: "REASON"})
	}
	want, err := os.ReadFile("testdata/words.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}
