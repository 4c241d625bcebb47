package plan

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluicegate/sluice/window"
)

// What all who write a reason share: how hostile text becomes fit to be read, how an instant is shown, and how long a reason is.

const (
	// MaxReason is GitHub's bound on the description of a commit status, in characters, and how long a verdict's reason is at most.
	MaxReason = 140
	// MaxText is how long a reason is before it is made to fit that, in characters: people read it where there is room.
	MaxText = 600
	// maxHostile bounds how much of a hostile text is looked at, in bytes: what is shown of it is far less.
	maxHostile = 8 << 10
	// minMiddle is how short Middle makes a text at most, in characters.
	minMiddle = 8
)

// Clean makes hostile text fit to be read: one line, no control or formatting characters, no broken UTF-8, single spaces.
func Clean(s string) string {
	s = bound(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(bound(s), "\uFFFD")))
	return strings.Join(strings.Fields(s), " ")
}

// bound cuts a text to maxHostile bytes, between two characters where it has any: what stands for a bad byte is longer than that.
func bound(s string) string {
	if len(s) <= maxHostile {
		return s
	}
	end := maxHostile
	for end > maxHostile-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Fit cuts a reason to MaxReason. It ends in no space: GitHub keeps none, and what stands there would never be what is wanted.
func Fit(s string) string { return cut(s, MaxReason) }

// Text is Fit to MaxText.
func Text(s string) string { return cut(s, MaxText) }

func cut(s string, most int) string {
	s = strings.TrimRight(s, " ")
	if len(s) <= most {
		return s
	}
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimRight(string(r[:most-1]), " ") + "…"
}

// Brief makes a text fit a commit status. Both its ends are kept: a reason begins with what holds and ends with until when, or what to do.
func Brief(s string) string { return Middle(strings.TrimRight(s, " "), MaxReason) }

// Rest is the text of which Brief shows a part; "" if that shows all of it.
func Rest(s string) string {
	if Brief(s) == s {
		return ""
	}
	return s
}

// Middle shortens s to n characters, at least 8, keeping its two ends: of a path or a name both matter.
func Middle(s string, n int) string {
	n = max(n, minMiddle)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// Few names up to three things, and does not count the others: a moving count would be another reason at each move.
func Few(names []string) string {
	shown := make([]string, 0, 3)
	for _, n := range names[:min(3, len(names))] {
		shown = append(shown, Middle(Clean(n), 30))
	}
	text := strings.Join(shown, ", ")
	if len(names) > len(shown) {
		text += " and others"
	}
	return text
}

// Clock is an instant as people read it, in a zone, with the year; to the second if it has any. It rounds up: a wait is shown no
// shorter than it is.
func Clock(t time.Time, zone *time.Location) string {
	if whole := t.Truncate(time.Second); !whole.Equal(t) {
		t = whole.Add(time.Second)
	}
	t = t.In(zone)
	if t.Second() != 0 {
		return t.Format("Mon 2 Jan 2006 15:04:05 MST")
	}
	return t.Format("Mon 2 Jan 2006 15:04 MST")
}

// WindowSays is a window's state in words, with instants of a zone.
func WindowSays(s window.State, zone *time.Location) string {
	local := func(t time.Time) string { return t.In(zone).Format("Mon 2 Jan 2006 15:04 MST") }
	switch {
	case s.Open && s.Until.IsZero():
		return "open, no close scheduled"
	case s.Releasable && !s.ReleasableChange.Equal(s.Until):
		return fmt.Sprintf("open until %s, releases until %s", local(s.Until), s.ReleasableChange.In(zone).Format("15:04"))
	case s.Releasable:
		return "open until " + local(s.Until)
	case s.Open:
		return fmt.Sprintf("open until %s, inside the cutoff: releases nothing more", local(s.Until))
	}
	out := "closed"
	if s.FrozenBy != "" {
		out = "frozen by " + Clean(s.FrozenBy)
	}
	if s.Until.IsZero() {
		return out + ", no opening scheduled"
	}
	return out + ", opens " + local(s.Until)
}
