package window

import (
	"testing"
	"time"
)

// TestCosts: whatever the schedules are, what is looked at for an answer, and for what is tried out of a file, is bounded.
func TestCosts(t *testing.T) {
	const most = 3 * day / 60 // more than an interval of one day may cost beyond a bound
	broken := Spec{Open: "* 0-10,12-23 * * *", Duration: time.Minute}
	swallowed := Spec{Open: "* * * * *", Close: "* 0-22 * * *"}
	short := Spec{Open: "*/2 * * * *", Close: "1-59/2 * * * *"}
	between := Spec{Open: "1 11 * * *", Duration: 50 * time.Minute}
	for name, spec := range map[string]Spec{"openings that break off": broken, "openings that are swallowed": swallowed, "openings that are too short": short} {
		t.Run(name, func(t *testing.T) {
			w := costly(t, spec)
			w.cutoff = 7 * day
			samples := maxSamples
			if r := w.everReleases(&samples); r || samples < maxSamples-maxSample-most {
				t.Errorf("ever releases: %v, after %d readings", r, maxSamples-samples)
			}
			k := w.walk(sampleStart)
			if _, ok := k.firstReleasable(sampleStart); ok || k.search.looked > maxShort+most {
				t.Errorf("releases: %v, after %d readings", ok, k.search.looked)
			}
			steps := maxSteps
			ws := []*walker{w.walk(sampleStart), costly(t, between).walk(sampleStart)}
			_, _ = together(ws, (*walker).firstRaw, span{sampleStart, sampleStart + 20*horizon}, &steps)
			if n := ws[0].search.looked + ws[1].search.looked; n > maxSteps+most {
				t.Errorf("together: after %d readings", n)
			}
		})
	}
}

// costly is a window of a schedule.
func costly(t *testing.T, spec Spec) *compiledWindow {
	t.Helper()
	spec.Name = "w"
	return berlin(t, []Spec{spec}).windows["w"]
}
