package config

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/window"
)

// digests is one for each window, that differs whenever something differs that bears on when the window is open. live
// has one only if a freeze names it.
func (d *document) digests() map[window.Name]Digest {
	out := make(map[window.Name]Digest, len(d.windows))
	for _, w := range d.windows {
		out[w.Name] = sha256.Sum256([]byte(digest(w) + d.freezesOf(w.Name)))
	}
	if freezes := d.freezesOf(window.Live); freezes != "" {
		out[window.Live] = sha256.Sum256([]byte(freezes))
	}
	return out
}

func digest(w window.Spec) string {
	return fmt.Sprintf("%s %q %q %s %v %s %s", w.Zone, w.Open, w.Close, w.Duration, w.Nth, spans(w.Zone.String(), w.Dates...), w.Cutoff)
}

func (d *document) freezesOf(name window.Name) string {
	var out []string
	for _, f := range d.freezes {
		if slices.Contains(f.Windows, name) || f.Windows == nil && name != window.Live {
			out = append(out, " freeze"+spans(f.Zone.String(), f.Span))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func spans(zone string, spans ...window.Span) string {
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, " %s..%s %s", s.From, s.Until, zone)
	}
	return b.String()
}
