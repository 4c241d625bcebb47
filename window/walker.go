package window

import "sync/atomic"

// compiledWindow is one window, ready to be asked.
type compiledWindow struct {
	spec     Spec
	always   bool      // live
	schedule *schedule // nil: only dates
	dates    []span    // sorted and separate
	frosts   []frost   // sorted and separate
	cutoff   instant   // seconds
	last     atomic.Pointer[answer]
}

// walker goes through one window's intervals for one question. It remembers the interval it last met without freezes,
// since neighbouring questions are mostly about the same one.
type walker struct {
	*compiledWindow
	search search
	raw    span
	asked  instant // raw is the answer for all of [asked, raw.until)
}

// walk is a walker for questions around x.
func (w *compiledWindow) walk(x instant) *walker {
	return &walker{compiledWindow: w, search: newSearch(w.spec.Zone, x), asked: end}
}

// firstRaw is the earliest interval that ends after x, whole, before freezes are subtracted.
func (w *walker) firstRaw(x instant) (span, bool) {
	if x >= end {
		return span{}, false
	}
	if w.always {
		return span{beginning, end}, true
	}
	if w.asked <= x && x < w.raw.until {
		return w.raw, true
	}
	out, ok := w.union(x)
	if !ok || out.until <= x {
		return span{}, false
	}
	w.raw, w.asked = out, min(x, out.from)
	return out, true
}

// union is the schedule and the dates taken together.
func (w *walker) union(x instant) (span, bool) {
	out, ok := w.recurring(x)
	dated, dok := firstSpan(w.dates, x)
	switch {
	case !dok:
		return out, ok
	case !ok, dated.from < out.from:
		out = dated
	}
	if len(w.dates) == 0 || w.schedule == nil {
		return out, true
	}
	return w.grow(out), true
}

// recurring is the earliest interval of the schedule that ends after x.
func (w *walker) recurring(x instant) (span, bool) {
	if w.schedule == nil {
		return span{}, false
	}
	return w.schedule.first(&w.search, x)
}

// grow takes in everything that overlaps or touches an interval on either side. It ends because there are finitely many
// dates and the schedule's own intervals never touch.
func (w *walker) grow(v span) span {
	for {
		before := v
		if r, ok := w.recurring(v.from - 1); ok && r.from < v.from {
			v.from = r.from
		}
		if d, ok := firstSpan(w.dates, v.from-1); ok && d.from < v.from {
			v.from = d.from
		}
		if r, ok := w.recurring(v.until); ok && r.from <= v.until {
			v.until = r.until
		}
		if d, ok := firstSpan(w.dates, v.until); ok && d.from <= v.until {
			v.until = d.until
		}
		if v == before {
			return v
		}
	}
}

// firstOpen is the earliest open interval that ends after x, whole, freezes subtracted.
func (w *walker) firstOpen(x instant) (span, bool) {
	for {
		raw, ok := w.firstRaw(x)
		if !ok {
			return span{}, false
		}
		from := max(raw.from, x)
		i := frostAfter(w.frosts, from)
		if i < len(w.frosts) && w.frosts[i].covers(from) {
			x = w.frosts[i].until
			continue
		}
		if i > 0 {
			raw.from = max(raw.from, w.frosts[i-1].until)
		}
		if i < len(w.frosts) {
			raw.until = min(raw.until, w.frosts[i].from)
		}
		return raw, true
	}
}

// maxShort is for how many readings those of a window's intervals are gone through that its cutoff leaves nothing of: some thousand. A window that has
// more of them in a row releases nothing until they are fewer.
const maxShort = 20_000

// firstReleasable is the earliest interval that ends after x in which the window releases: an open one less its cutoff.
func (w *walker) firstReleasable(x instant) (span, bool) {
	for most := w.search.looked + maxShort; x < w.search.far && w.search.looked < most; {
		v, ok := w.firstOpen(x)
		if !ok {
			return span{}, false
		}
		less := v
		if v.until < end {
			less.until -= w.cutoff
		}
		if less.until > max(less.from, x) {
			return less, true
		}
		x = v.until
	}
	return span{}, false
}
