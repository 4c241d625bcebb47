package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/config"
)

// TestEdits runs the edits of testdata: a file, an edit, and the file that follows, or the error. Each edit that adds something is undone by its opposite.
func TestEdits(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		if !strings.HasSuffix(entry.Name(), ".txtar") {
			continue
		}
		t.Run(strings.TrimSuffix(entry.Name(), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile("testdata/" + entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string][]byte{}
			for _, f := range a.Files {
				parts[f.Name] = f.Data
			}
			src, edit := parts["before"], strings.TrimSpace(string(parts["edit"]))
			if bytes.Contains(a.Comment, []byte("no newline at the end")) {
				src, parts["after"] = bytes.TrimSuffix(src, []byte("\n")), bytes.TrimSuffix(parts["after"], []byte("\n"))
			}
			if bytes.Contains(a.Comment, []byte("CRLF")) {
				crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
				src, parts["after"] = crlf(src), crlf(parts["after"])
			}
			out, err := run1(t, src, edit)
			if want, fails := parts["error"]; fails {
				if err == nil || err.Error() != strings.TrimSpace(string(want)) {
					t.Errorf("got %v\n%s", err, out)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(parts["after"]), string(out)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if undo, has := parts["undo"]; has {
				back, err := run1(t, out, strings.TrimSpace(string(undo)))
				if d := cmp.Diff(string(src), string(back)); d != "" || err != nil {
					t.Errorf("undone: %v (-before +got)\n%s", err, d)
				}
			}
		})
	}
}

// run1 does what a line of a test says: "set windows NAME JSON", "put freezes NAME JSON", "remove windows NAME".
func run1(t *testing.T, src []byte, edit string) ([]byte, error) {
	t.Helper()
	words := strings.SplitN(edit, " ", 4)
	e := Entry{Section(words[1]), words[2]}
	if words[0] == "remove" {
		return Remove(src, e)
	}
	return Set(src, e, fieldsOf(t, words[3]), words[0] == "put")
}

func fieldsOf(t testing.TB, text string) (fields Fields) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return fields
}

// TestMixedLineBreaks: a file whose lines end differently is edited, or is not; nothing of it is looked for before its beginning.
func TestMixedLineBreaks(t *testing.T) {
	src := []byte("\nwindows:\r\n  w: {open: \"0 8 * * *\", duration: 1h}\r\n\r\nversion: 1\r\ntimezone: UTC\r\n")
	if out, err := Remove(src, Entry{Windows, "w"}); err != nil || string(out) != "\r\nversion: 1\r\ntimezone: UTC\r\n" {
		t.Errorf("%q %v", out, err)
	}
}

// TestLoneReturn: where YAML alone ends a line, a file is edited by hand, and no byte of it is lost.
func TestLoneReturn(t *testing.T) {
	for src, says := range map[string]string{
		"version: 1\r":                         "line 1 cannot be edited automatically: edit it by hand",
		"version: 1\r\n# a\rtimezone: UTC\r\n": "line 2 cannot be edited automatically: edit it by hand",
	} {
		if out, err := Set([]byte(src), Entry{Windows, "w"}, Fields{"open": "0 8 * * *", "duration": "1h", "timezone": "UTC"}, true); err == nil || err.Error() != says || out != nil {
			t.Errorf("%q: %q %v", src, out, err)
		}
	}
	zone := Fields{"open": "0 8 * * *", "duration": "1h", "timezone": "UTC", "description": "a\rb"}
	if out, err := Set([]byte("version: 1\n"), Entry{Windows, "w"}, zone, true); err != nil || bytes.ContainsRune(out, '\r') {
		t.Errorf("%q %v", out, err)
	}
}

func TestInvalid(t *testing.T) {
	src := []byte("version: 1\ntimezone: UTC\nwindows:\n  w: {open: \"0 8 * * *\", duration: 1h}\n")
	_, err := Set(src, Entry{Windows, "w"}, Fields{"close": "0 9 * * *"}, false)
	var invalid *Invalid
	if !errors.As(err, &invalid) || invalid.Before || len(invalid.Findings) == 0 || invalid.Findings[0].Line != 4 || !bytes.Contains(invalid.Text, []byte(`close: "0 9 * * *"`)) {
		t.Errorf("%v: %+v", err, invalid)
	}
	if _, err = Remove([]byte("version: 2\n"), Entry{Windows, "w"}); !errors.As(err, &invalid) || !invalid.Before {
		t.Errorf("%v", err)
	}
	for says, e := range map[string]Entry{`there is no window "v"`: {Windows, "v"}, `there is no freeze "w"`: {Freezes, "w"}} {
		var none *NoEntryError
		if _, err = Remove(src, e); !errors.As(err, &none) || err.Error() != says {
			t.Errorf("%v", err)
		}
	}
}

// FuzzEdits: whatever valid file there is, an edit makes a valid one that differs in the entry's own lines, or it makes none; and what was added and is
// removed leaves the same bytes.
func FuzzEdits(f *testing.F) {
	example, err := os.ReadFile("../testdata/example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example, uint8(0), "zero", "reason: \"x\" # y", "Europe/Berlin")
	f.Add([]byte("version: 1\ntimezone: UTC\nwindows: {a: {open: 0 8 * * *, duration: 1h,}} # x\nfreezes: []\n"), uint8(1), "b", "'", "")
	f.Add([]byte("version: 1\r\ntimezone: UTC\r\n\r\nfreezes:\r\n-   name: 'a'\r\n    from: 2026-01-01T00:00\r\n    until: 2026-01-02T00:00\r\n    reason: >-\r\n      x\r\n\r\n      y"), uint8(2), "a", "x\ny", "UTC")
	f.Add([]byte("version: 1\ntimezone: UTC\nwindows:\n      a:\n          dates:\n          - from: 2026-01-01T00:00\n            until: 2026-01-02T00:00\n\n# end\n"), uint8(3), "a", "\u00e9", "")
	f.Fuzz(func(t *testing.T, src []byte, n uint8, name, words, zone string) {
		policy, _ := config.Parse(src)
		if policy == nil {
			return
		}
		_ = edits(t, policy, src, n, name, words, zone) // what cannot be edited stays
	})
}

// FuzzDrawn is FuzzEdits on files of every style that people write, and nothing of them is left to be edited by hand.
func FuzzDrawn(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		src := drawn(r)
		policy, findings := config.Parse(src)
		if policy == nil {
			t.Fatalf("%v\n%s", findings, src)
		}
		name := []string{"new", "a", "b", "year-end"}[r.IntN(4)]
		err := edits(t, policy, src, uint8(r.IntN(6)), name, []string{"", "two words", "x: # '"}[r.IntN(3)], []string{"", "UTC"}[r.IntN(2)])
		var invalid *Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}

// drawn is a valid file, in styles that are drawn.
func drawn(r *rand.Rand) []byte {
	var b strings.Builder
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	noise := func(blanks int) {
		b.WriteString(one("", "", "", "\n", strings.Repeat(" ", blanks)+"# a comment: {[\n", "\n# at the margin\n\n"))
	}
	fields := func(blanks int, flow bool, first string, all ...[2]string) {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if flow {
			b.WriteString(first + "{")
			for i, f := range all {
				b.WriteString(one("", " ") + f[0] + ": " + f[1] + one("", " "))
				if i < len(all)-1 || r.IntN(4) == 0 {
					b.WriteString(one(",", ", ", ",\n"+strings.Repeat(" ", blanks+3), ", # why\n"+strings.Repeat(" ", blanks+3)))
				}
			}
			b.WriteString("}" + one("", " # so") + "\n")
			return
		}
		for i, f := range all {
			switch {
			case i > 0:
				noise(blanks)
				b.WriteString(strings.Repeat(" ", blanks))
			default:
				b.WriteString(first)
			}
			b.WriteString(f[0] + ":" + one(" ", "   ") + f[1] + one("", "", " # because", "   ") + "\n")
		}
	}
	b.WriteString(one("", "# ours\n", "---\n") + "version: 1\n")
	noise(0)
	b.WriteString("timezone: " + one("UTC", "'Europe/Berlin'", `"Europe/Berlin"`) + "\n")
	noise(0)
	in := 1 + r.IntN(4)
	if r.IntN(4) > 0 {
		b.WriteString("windows:" + one("", " # all") + "\n")
		for _, name := range []string{"a", "'b'"}[:1+r.IntN(2)] {
			noise(in)
			b.WriteString(strings.Repeat(" ", in) + name + ":")
			flow, deeper := r.IntN(3) == 0, in+1+r.IntN(4)
			first := " "
			if !flow {
				first = "\n" + strings.Repeat(" ", deeper)
			}
			all := [][2]string{{"open", one("0 8 * * *", "'0 8 * * *'", `"0 8 * * *"`, "0 8\n"+strings.Repeat(" ", deeper+2)+"* * *")}, {one("duration", "duration"), one("1h", `"1h"`)}}
			if r.IntN(2) == 0 {
				all = append(all, [2]string{"description", one("plain words", "'it''s'", `"a \"b\" \\"`, "é")})
			}
			if r.IntN(2) == 0 {
				dates := "[{from: 2026-12-05T22:00, until: 2026-12-06T02:00}]"
				if !flow {
					at := strings.Repeat(" ", deeper+r.IntN(3))
					dates = one(dates, "\n"+at+"- {from: 2026-12-01T22:00, until: 2026-12-02T02:00} # x\n"+at+"- from: 2026-12-05T22:00\n"+at+"  until: 2026-12-06T02:00")
				}
				all = append(all, [2]string{"dates", dates})
			}
			fields(deeper, flow, first, all...)
		}
		noise(0)
	}
	if r.IntN(3) > 0 {
		b.WriteString("freezes:\n")
		dash := strings.Repeat(" ", r.IntN(3))
		for _, name := range []string{"a", "'year-end'"}[:1+r.IntN(2)] {
			noise(len(dash))
			all := [][2]string{{"name", name}, {"from", "2026-12-19T00:00"}, {"until", one("2027-01-04T08:00", "'2027-01-04T08:00'", "2027-01-04T08:00:00Z")}}
			flow := r.IntN(3) == 0
			if r.IntN(2) == 0 {
				reason := one("none", "'no''ne'")
				if !flow {
					reason = one(reason, "|\n"+dash+"    one\n\n"+dash+"    # two", ">-\n"+dash+"     x\n"+dash+"     y\n")
				}
				all = append(all, [2]string{"reason", reason})
			}
			if r.IntN(3) == 0 && strings.Contains(b.String(), "windows:\n") {
				all = append(all, [2]string{"windows", one("[live]", "[ live, ]")})
			}
			fields(len(dash)+2, flow, dash+"- ", all...)
		}
	}
	noise(0)
	if r.IntN(2) == 0 {
		b.WriteString("layout: {preset: none}\n")
	}
	text := b.String()
	// A text of several lines takes what stands behind it on its line.
	for _, odd := range []string{" # because\n", "   \n"} {
		text = strings.ReplaceAll(text, "# two"+odd, "# two\n")
	}
	if r.IntN(4) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	switch r.IntN(6) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1: // as editors of several people leave it
		lines := strings.SplitAfter(text, "\n")
		for i := range lines {
			if r.IntN(2) == 0 {
				lines[i] = strings.Replace(lines[i], "\n", "\r\n", 1)
			}
		}
		text = strings.Join(lines, "")
	}
	return []byte(text)
}

// edits edits, and undoes.
func edits(t *testing.T, policy *config.Policy, src []byte, n uint8, name, words, zone string) error {
	t.Helper()
	for _, w := range policy.Calendar.Names() { // something that is there, now and then
		if n%2 == 0 {
			name = string(w)
		}
	}
	e := Entry{Windows, name}
	fields := Fields{"description": words, "open": "0 8 * * *", "duration": "2h", "timezone": zone}
	switch n % 6 {
	case 1:
		fields["duration"], fields["close"] = nil, "30 9 * * 1-5"
	case 2:
		fields["dates"] = []any{map[string]any{"from": "2026-12-05T22:00", "until": "2026-12-06T02:00"}}
	case 3:
		e.Section, fields = Freezes, Fields{"from": "2026-12-05T22:00Z", "until": "2026-12-06T02:00Z", "reason": words, "timezone": zone}
	case 4:
		fields["nth"] = []any{json.Number("2")}
		fields["open"] = "0 22 * * TUE"
	}
	if words == "" {
		delete(fields, "description")
		delete(fields, "reason")
	}
	if zone == "" {
		delete(fields, "timezone")
	}
	there := has(t, src, e)
	out, err := Set(src, e, fields, n%3 == 0)
	if err != nil {
		return err
	}
	own(t, src, out, e)
	again, err := Set(out, e, fields, n%3 == 0)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("set twice: %v\n%s\nis not\n%s", err, again, out)
	}
	removed, err := Remove(out, e)
	if err != nil {
		if there {
			return nil
		}
		t.Fatalf("what was added cannot be removed: %v\n%s", err, out)
	}
	if !there && !bytes.Equal(removed, src) {
		t.Fatalf("added and removed:\n%q\nis not\n%q\nby way of\n%q", removed, src, out)
	}
	return nil
}

func has(t *testing.T, src []byte, e Entry) bool {
	t.Helper()
	f, err := open(src)
	if err != nil {
		t.Fatal(err)
	}
	_, n := f.entry(e)
	return n != nil
}

// own checks that the lines of the old file that are not in the new one, in their order, are the entry's own, or hold its whole section.
func own(t *testing.T, src, out []byte, e Entry) {
	t.Helper()
	f, err := open(src)
	if err != nil {
		t.Fatal(err)
	}
	from, until := 0, 0
	key, section := pair(f.root, string(e.Section))
	if _, n := f.entry(e); n != nil {
		end, err := f.end(n, 0)
		if err != nil {
			t.Fatal(err)
		}
		from, until = n.Line-1, lineAt(f, end)
	}
	if section != nil && isFlow(section) {
		end, err := f.end(section, 0)
		if err != nil {
			t.Fatal(err)
		}
		from, until = key.Line, lineAt(f, end)
	}
	if from == 0 { // it was added
		from, until = 1, 0
	}
	was, is := strings.SplitAfter(string(src), "\n"), strings.SplitAfter(string(out), "\n")
	same := 0
	for same < len(was) && same < len(is) && strings.TrimRight(was[same], "\r\n") == strings.TrimRight(is[same], "\r\n") {
		same++
	}
	slices.Reverse(was)
	slices.Reverse(is)
	tail := 0
	for tail < len(was)-same && tail < len(is)-same && was[tail] == is[tail] {
		tail++
	}
	first, last := same+1, len(was)-tail
	if first > last { // only new lines
		return
	}
	if first < from || last > until {
		t.Fatalf("lines %d to %d of the old file are others; the entry has %d to %d:\n%s\n---\n%s", first, last, from, until, src, out)
	}
}

func lineAt(f *file, at int) int {
	i, found := slices.BinarySearch(f.lines, at)
	if !found {
		i--
	}
	return i + 1
}
