package window

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/golden"
)

// TestProblems declares what stands in the archives of testdata/problems and compares the problems word by word. A
// declaration is a file: a line "window NAME" or "freeze NAME" begins an entry, lines "key: value" fill it, and a line
// "at INSTANT" asks for the warnings of that instant.
func TestProblems(t *testing.T) {
	golden.Archives(t, "testdata/problems/*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		for i := 0; i+1 < len(a.Files); i += 2 {
			a.Files[i+1].Data = found(t, string(a.Files[i].Data))
		}
	})
}

// found compiles a declaration and lists the problems.
func found(t *testing.T, text string) []byte {
	t.Helper()
	specs, freezes, at := declared(t, text)
	c, problems := New(specs, freezes)
	if c != nil && !at.IsZero() {
		problems = append(problems, c.Warnings(at)...)
	}
	var out bytes.Buffer
	failed := false
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		} else {
			failed = true
		}
		about := string(p.Window)
		if p.Freeze >= 0 {
			about = fmt.Sprintf("freezes[%d]", p.Freeze)
		}
		if p.Field != "" {
			about += "." + p.Field
		}
		fmt.Fprintf(&out, "%s %s: %s (%s)\n", severity, about, p.Message, p.Code)
	}
	if failed != (c == nil) {
		t.Errorf("an error and a calendar, or neither:\n%s", &out)
	}
	return out.Bytes()
}

// declared reads a declaration.
func declared(t *testing.T, text string) (specs []Spec, freezes []Freeze, at time.Time) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "" || word == "#":
		case word == "window":
			specs = append(specs, Spec{Name: Name(rest), Zone: zone(t, "Europe/Berlin"), Cutoff: DefaultCutoff})
		case word == "freeze":
			freezes = append(freezes, Freeze{Name: rest, Zone: zone(t, "Europe/Berlin")})
		case word == "at":
			var err error
			if at, err = time.Parse(time.RFC3339, rest); err != nil {
				t.Fatal(err)
			}
		case len(freezes) > 0:
			fillFreeze(&freezes[len(freezes)-1], word, rest)
		default:
			fillSpec(t, &specs[len(specs)-1], word, rest)
		}
	}
	return specs, freezes, at
}

func fillSpec(t *testing.T, s *Spec, key, value string) {
	t.Helper()
	var err error
	switch key {
	case "open:":
		s.Open = value
	case "close:":
		s.Close = value
	case "duration:":
		s.Duration, err = time.ParseDuration(value)
	case "cutoff:":
		s.Cutoff, err = time.ParseDuration(value)
	case "nth:":
		for _, word := range strings.Fields(value) {
			var n int
			_, err = fmt.Sscan(word, &n)
			s.Nth = append(s.Nth, n)
		}
	case "date:":
		s.Dates = append(s.Dates, spans(value)...)
	case "timezone:":
		if s.Zone = nil; value != "none" {
			s.Zone = zone(t, value)
		}
	default:
		t.Fatalf("unknown key %s", key)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fillFreeze(f *Freeze, key, value string) {
	switch key {
	case "span:":
		f.Span = spans(value)[0]
	case "timezone:":
		f.Zone = nil
	case "windows:":
		f.Windows = []Name{}
		for _, n := range strings.Fields(value) {
			f.Windows = append(f.Windows, Name(n))
		}
	}
}

// Bounds hold, and are told once instead of for each entry.
func TestTooMany(t *testing.T) {
	date := Span{From: moment("2026-12-05T22:00Z"), Until: moment("2026-12-06T02:00Z")}
	specs := make([]Spec, maxWindows+1)
	for i := range specs {
		specs[i] = Spec{Name: Name(fmt.Sprintf("w%d", i)), Dates: []Span{date}}
	}
	freezes := make([]Freeze, maxFreezes+1)
	for i := range freezes {
		freezes[i] = Freeze{Name: "f", Span: date}
	}
	dates := make([]Span, maxDates+1)
	for i := range dates {
		dates[i] = date
	}
	for what, problems := range map[string][]Problem{
		"windows": second(New(specs, nil)),
		"freezes": second(New(specs[:1], freezes)),
		"dates":   second(New([]Spec{{Name: "w", Dates: dates}}, nil)),
	} {
		if len(problems) != 1 || problems[0].Code != CodeTooMany || problems[0].Warning {
			t.Errorf("too many %s: %v", what, problems)
		}
	}
	if c, problems := New(specs[:maxWindows], freezes[:maxFreezes]); c == nil {
		t.Errorf("as many as are allowed: %v", problems)
	}
}

func second(_ *Calendar, problems []Problem) []Problem { return problems }
