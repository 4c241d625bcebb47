package person

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// server answers requests in memory, in their order.
type server struct {
	asked   []string
	answers []string // a status and a body
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	next := s.answers[0]
	s.answers = s.answers[1:]
	code, body, _ := strings.Cut(next, " ")
	status, _ := strconv.Atoi(code)
	w := &http.Response{StatusCode: status, Header: http.Header{}, Request: r}
	w.Status, w.Body = http.StatusText(w.StatusCode), io.NopCloser(strings.NewReader(body))
	if w.StatusCode == http.StatusForbidden {
		w.Header.Set("Retry-After", "60")
	}
	return w, nil
}

const limited = `403 {"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`

func site(t *testing.T, answers ...string) (*Site, *server) {
	t.Helper()
	at := &server{answers: answers}
	s, err := NewSite("https://api.github.com", "", "secret", at)
	if err != nil {
		t.Fatal(err)
	}
	return s, at
}

// TestLimited: what GitHub's secondary limit refuses is tried again once that is over, and not for ever.
func TestLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, at := site(t, limited, `201 {"sha":"1"}`, `201 {"sha":"2"}`, `422 {"message":"Reference already exists"}`, limited, `422 {}`, `200 {"object":{"sha":"2"}}`)
		var waits []time.Duration
		s.Waits = func(d time.Duration) { waits = append(waits, d.Round(time.Second)) }
		began := time.Now()
		if err := s.Begin(t.Context(), "acme", "fleet", plan.Freeze{Reason: "down"}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began).Round(time.Second); took != 2*time.Minute || len(waits) != 2 || waits[0] != time.Minute {
			t.Errorf("it took %s, with %v", took, waits)
		}
		if last := at.asked[len(at.asked)-1]; last != "PATCH /repos/acme/fleet/git/refs/heads/sluice/freeze" || len(at.answers) > 0 {
			t.Errorf("asked %q", at.asked)
		}
		s, at = site(t, limited, limited, limited, limited)
		if err := s.Begin(t.Context(), "acme", "fleet", plan.Freeze{Reason: "down"}); err == nil || strings.Contains(err.Error(), "secret") || len(at.answers) > 0 {
			t.Errorf("%v, %q", err, at.asked)
		}
		time.Sleep(2 * most) // net/http ends what waits for an answer that was refused by its own clock
	})
}

// TestReasons: what would be read as something else is refused before anything is asked.
func TestReasons(t *testing.T) {
	for _, reason := range []string{"a\nb", "a\n\nUntil: 2099-01-01T00:00Z", " a", "a\x1b[1m", strings.Repeat("x", 5000), "Until: 2099-01-01T00:00Z"} {
		s, at := site(t)
		if err := s.Begin(t.Context(), "acme", "fleet", plan.Freeze{Reason: reason}); err == nil || len(at.asked) > 0 {
			t.Errorf("%q: %v, %q", reason, err, at.asked)
		}
	}
}

// TestBeginUnshown: a freeze that GitHub does not show is no freeze.
func TestBeginUnshown(t *testing.T) {
	all := []string{`201 {"sha":"1"}`, `201 {"sha":"2"}`, `201 {"object":{"sha":"2"}}`}
	for i := range all {
		answers := append(slices.Clone(all[:i]), `200 null`)
		s, _ := site(t, answers...)
		if err := s.Begin(t.Context(), "acme", "fleet", plan.Freeze{Reason: "down"}); !errors.Is(err, errUnshown) {
			t.Errorf("%q: %v", answers, err)
		}
	}
}
