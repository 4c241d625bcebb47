package budget

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// GitHub's clock may differ from ours: a reset counts from the answer's own date.
func TestResetOnGitHubsClock(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a := Answer{Code: 403, Header: http.Header{}}
	a.Header.Set("Date", at.Add(time.Hour).Format(http.TimeFormat))
	a.Header.Set("X-RateLimit-Remaining", "0")
	a.Header.Set("X-RateLimit-Reset", strconv.FormatInt(at.Add(time.Hour+5*time.Minute).Unix(), 10))
	if got, ok := a.named(at); !ok || got != 5*time.Minute+Margin {
		t.Error(got, ok)
	}
}
