package plan

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// What people see in a pull request's text counts, and nothing that they do not; what cannot be read is no instant.
func TestNotBefore(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"":                                   "none",
		"nothing of it, not-before anything": "none",
		"Not-before: 2026-12-01T08:00":       "2026-12-01T07:00:00Z",
		"text\r\n\r\nNOT-BEFORE:2026-12-01T08:00:30+02:00\r\nmore":               "2026-12-01T06:00:30Z",
		"- **Not-before**: `2026-12-01`":                                         "2026-11-30T23:00:00Z",
		"## Not-before: 2026-12-01T08:00Z":                                       "2026-12-01T08:00:00Z",
		"Not-before: 2026-10-25T02:30":                                           "2026-10-25T01:30:00Z", // it comes twice that night
		"Not-before: 2027-03-28T02:30":                                           "2027-03-28T01:00:00Z", // it does not come
		"Not-before: 2026-12-01\nNot-before: 2026-12-03\nNot-before: 2026-12-02": "2026-12-02T23:00:00Z",
		"> Not-before: 2026-12-01":                                               "none",
		"<!-- Not-before: 2026-12-01 -->":                                        "none",
		"<!--\nNot-before: TIME\n-->\nNot-before: 2026-12-01T08:00Z":             "2026-12-01T08:00:00Z",
		"<!--\nNot-before: 2026-12-01":                                           "none",
		"see Not-before: 2026-12-01":                                             "none",
		"Not-before:":                                                            "cannot read ?",
		"Not-before: tomorrow":                                                   "cannot read tomorrow",
		"Not-before: 2026-12-01 08:00":                                           "cannot read 2026-12-01 08:00",
		"Not-before: 2026-12-01\nNot-before: soon":                               "cannot read soon",
		strings.Repeat("Not-before: 2026-12-01\n", 6):                            "cannot read …",
		"Not-before: 2026-12-01" + strings.Repeat(" ", 200) + "x":                "cannot read 2026-12-01…",
	} {
		n := NotBeforeOf(body)
		got := "none"
		if n != "" {
			at, unreadable := n.At(berlin)
			if got = at.UTC().Format(time.RFC3339); unreadable != "" {
				got = "cannot read " + unreadable
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
	if _, unreadable := NotBeforeOf("Not-before: 2026-12-01T08:00").At(nil); unreadable == "" {
		t.Error("a local time is read without a zone")
	}
}

// FuzzNotBefore: whatever a text says, little of it is kept, and a line that says when is found whatever stands before it, unless it hides it.
func FuzzNotBefore(f *testing.F) {
	f.Add("text", "more")
	f.Add("<!-- a -->", "Not-before: x")
	f.Fuzz(func(t *testing.T, before, after string) {
		n := NotBeforeOf(before + "\nNot-before: 2026-12-01T08:00Z\n" + after)
		if len(n) > (notBeforeLines+1)*(4*notBeforeMost+4) || utf8.ValidString(before+after) && !utf8.ValidString(string(n)) {
			t.Errorf("%q: kept %q", before, n)
		}
		if n == "" && !strings.Contains(before, "<!--") {
			t.Errorf("%q hides the line below it", before)
		}
	})
}
