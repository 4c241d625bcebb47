package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// clockOff is how far our clock must be off before a refused key is put down to it. GitHub is lenient by about a minute with
// the times in a key, and takes it for ten.
const clockOff = 30 * time.Second

// skewOf is our clock minus GitHub's, as little as an answer proves: GitHub's instant, 0 if it names none, lies between
// sending and getting, and is cut to whole seconds.
func skewOf(date, sent, got time.Time) time.Duration {
	switch {
	case date.IsZero():
		return 0
	case date.Add(time.Second).Before(sent):
		return sent.Sub(date.Add(time.Second))
	case date.After(got):
		return got.Sub(date)
	}
	return 0
}

// blameClock adds the clock to GitHub's words on a key that it does not take: a key carries times, and those of a clock that
// is off look forged to GitHub, whose own words send people to look for another key.
// It gives by how much the clock is off; 0: the key is not put down to it.
func blameClock(resp *http.Response, sent, got time.Time) time.Duration {
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return 0
	}
	skew := skewOf(date, sent, got)
	if skew.Abs() <= clockOff {
		return 0
	}
	claims := struct {
		Message string `json:"message"`
	}{strings.TrimSpace(messageOf([]byte(peek(resp))) + sayClock(skew))}
	body, err := json.Marshal(claims)
	if err != nil { // a string: cannot happen
		return skew
	}
	closeBody(resp.Body)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(string(body))), int64(len(body))
	return skew
}

// KeySkew is our clock minus GitHub's when GitHub last refused a key for its times; 0 if it never did.
func (f *App) KeySkew() time.Duration { return time.Duration(f.keySkew.Load()) }

// sayClock says how our clock is off.
func sayClock(skew time.Duration) string {
	side := "ahead of"
	if skew < 0 {
		side = "behind"
	}
	return fmt.Sprintf(" (our clock is %s %s GitHub's)", skew.Abs().Round(time.Second), side)
}
