package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/webhook"
)

// longList is a delivery of about so many bytes whose list holds as many repositories as that: what costs most memory for each byte.
func longList(bytes int, element string) string {
	n := bytes / (len(element) + 1)
	return `{"action":"added","repositories_added":[` + strings.Repeat(element+",", n) + element + `],"installation":{"id":70}}`
}

const (
	leastElement = `{}`
	realElement  = `{"id":7,"full_name":"acme/fleet"}`
)

// What a signed delivery says costs a small multiple of its bytes, however it says it: whoever has the secret must not fill the memory.
func TestLongListIsBounded(t *testing.T) {
	for name, body := range map[string]string{
		"least elements": longList(1<<20, leastElement),
		"no elements":    longList(1<<20, `0`),
		"three lists":    `{"repositories":[` + strings.Repeat("{},", 200_000) + `{}],"repositories_added":[` + strings.Repeat("{},", 200_000) + `{}]}`,
	} {
		w := newWorld()
		req := delivery("installation_repositories", name, body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		same(t, name, w.send(req).Code, http.StatusAccepted)
		runtime.ReadMemStats(&after)
		const most = 16 // all that was allocated: the buffer that grew, and what is kept of 20,000 repositories; a fourth less without the race detector
		if got := (after.TotalAlloc - before.TotalAlloc) / uint64(len(body)); got > most {
			t.Errorf("%s: %d bytes for each of the body's, want at most %d", name, got, most)
		}
	}
}

// TestADeliveryCostsLittleMemory: in a burst each body is read into the memory of one before it, and of what it says only what is wanted is
// kept.
func TestADeliveryCostsLittleMemory(t *testing.T) {
	w, body := newWorld(), pullRequest(t)
	const many = 200
	reqs := make([]*http.Request, many)
	for i := range reqs {
		reqs[i] = delivery("pull_request", fmt.Sprint(i), body)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, req := range reqs {
		w.send(req)
	}
	runtime.ReadMemStats(&after)
	most := uint64(len(body)) * 3 / 2 // the race detector keeps a fourth from being used again
	if got := (after.TotalAlloc - before.TotalAlloc) / many; got > most {
		t.Errorf("%d bytes for a body of %d", got, len(body))
	}
}

// A list that is too long gives its first repositories, and what stands after it still counts.
func TestLongListIsCut(t *testing.T) {
	w := newWorld()
	var list []string
	for i := range webhook.MaxRepositories + 5 {
		list = append(list, fmt.Sprintf(`{"id":%d,"full_name":"acme/r%d"}`, i+1, i+1))
	}
	body := `{"action":"added","repositories_added":[` + strings.Join(list, ",") + `],"repositories_removed":null,"installation":{"id":70}}`
	same(t, "status", w.send(delivery("installation_repositories", "1", body)).Code, http.StatusAccepted)
	added := w.notes[0].Added
	same(t, "how many", len(added), webhook.MaxRepositories)
	same(t, "the last", added[len(added)-1], plan.Repo{Owner: "acme", Name: fmt.Sprint("r", len(added)), ID: int64(len(added)), Installation: 70})
	if !strings.Contains(w.log.String(), "too many repositories") {
		t.Errorf("not logged: %s", &w.log)
	}
}

// A list, or a part of it, of another type than GitHub documents is left out and logged, and the rest counts.
func TestOddList(t *testing.T) {
	for list, want := range map[string]int{
		`5`: 0, `"x"`: 0, `{"a":[1]}`: 0, `null`: 0, `[]`: 0, `[null]`: 0, `[[]]`: 0,
		`[5,` + realElement + `]`: 1, `[` + realElement + `,{"id":"x","full_name":"acme/other"}]`: 2, `[{"id":7,"full_name":[]},` + realElement + `]`: 1,
	} {
		w := newWorld()
		body := `{"action":"added","repositories_added":` + list + `,"installation":{"id":70}}`
		same(t, list, w.send(delivery("installation_repositories", "1", body)).Code, http.StatusAccepted)
		same(t, list, len(w.notes[0].Added), want)
		for _, r := range w.notes[0].Added {
			same(t, list, r.Installation, int64(70))
		}
		odd := list != `null` && list != `[]` && list != `[null]`
		same(t, list+" logged", strings.Contains(w.log.String(), "cannot unmarshal"), odd)
	}
}

// BenchmarkLongList is a signed delivery of 24 MB whose list of repositories is as long as that allows; the baseline is the same body
// with a text of that length instead.
func BenchmarkLongList(b *testing.B) {
	const size = 24 << 20
	for _, c := range []struct{ name, body string }{
		{"least", longList(size, leastElement)},
		{"real", longList(size, realElement)},
		{"text", `{"action":"added","repositories_added":[],"filler":"` + strings.Repeat("x", size) + `"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				w, rec, req := newWorld(), httptest.NewRecorder(), delivery("installation_repositories", fmt.Sprint(i), c.body)
				b.StartTimer()
				w.ServeHTTP(rec, req)
			}
		})
	}
}
