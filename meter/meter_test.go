package meter_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/meter"
)

// TestBound: what is beyond a bound ends the run with the place and the bound, for everybody and for good.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		kind  meter.Kind
		limit int64
		take  []int
		want  string
	}{
		{meter.Bytes, 3 << 20, []int{3 << 20}, ""},
		{meter.Bytes, 3 << 20, []int{3 << 20, 1}, "a.yaml: more than 3 MiB of text"},
		{meter.Bytes, 2048, []int{4096}, "a.yaml: more than 2 KiB of text"},
		{meter.Nodes, 200_000, []int{100_000, 100_001}, "a.yaml: more than 200,000 nodes of YAML"},
		{meter.Entries, 1000, []int{600, 401}, "a.yaml: more than 1,000 objects, refs and directory entries"},
		{meter.Steps, 1_000_000, []int{1_000_001}, "a.yaml: more than 1,000,000 steps"},
		{meter.Files, 10, []int{9, 1}, ""},
		{meter.Files, 10, []int{9, 2}, "a.yaml: more than 10 files and directories"},
		{meter.Files, -1, []int{1 << 40}, ""},
	} {
		l := meter.Limits{}
		if c.kind == meter.Entries {
			l[meter.Nodes] = c.limit
		} else {
			l[c.kind] = c.limit
		}
		m := meter.New(t.Context(), l)
		var err error
		for _, n := range c.take {
			err = m.Take(c.kind, n, "a.yaml")
		}
		if got := text(err); got != c.want || text(m.Err()) != c.want || (m.Context().Err() != nil) != (c.want != "") {
			t.Errorf("%v of %d: %q, want %q; %v", c.take, c.limit, got, c.want, m.Context().Err())
		}
		var bound *meter.Error
		if c.want != "" && (!errors.As(err, &bound) || bound.Kind != c.kind || bound.Place != "a.yaml") {
			t.Errorf("%#v", err)
		}
		if again := m.Take(meter.Depth, 1, "b.yaml"); text(again) != c.want {
			t.Errorf("afterwards: %v, want %q", again, c.want)
		}
		m.Close()
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestGive: what is held no longer counts no longer; the most that was held is what is shown.
func TestGive(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Nodes: 10, meter.Bytes: 100})
	defer m.Close()
	for range 5 {
		if err := errors.Join(m.Take(meter.Nodes, 8, ""), m.Take(meter.Bytes, 50, "")); err != nil {
			t.Fatal(err)
		}
		m.Give(meter.Nodes, 8)
		m.Give(meter.Bytes, 40)
		m.Give(meter.Bytes, 10)
	}
	_ = m.Take(meter.Bytes, 50, "")
	m.Drop()
	if err := m.Reach(meter.Depth, 7, ""); err != nil || m.Reach(meter.Depth, 3, "") != nil {
		t.Error(err)
	}
	if m.Held() != 0 {
		t.Errorf("%d are held", m.Held())
	}
	want := []string{"0 KiB of 0 KiB of text", "8 of 10 nodes of YAML", "0 of 2,000,000 steps", "0 of 500,000 files and directories", "7 of 50 levels deep"}
	for i, r := range m.Readings()[:len(want)] {
		if r.String() != want[i] {
			t.Errorf("%s, want %s", r, want[i])
		}
	}
}

// TestTime: a run ends when its time is over, or with the context that it was made with.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := meter.New(t.Context(), meter.Limits{})
		time.Sleep(30*time.Second - 1)
		if err := m.Take(meter.Steps, 1, "a"); err != nil {
			t.Error(err)
		}
		m.Extend(time.Second)
		time.Sleep(time.Second)
		if err := m.Take(meter.Steps, 1, "a"); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if err := m.Take(meter.Steps, 1, "a"); text(err) != "more than 31s" {
			t.Error(err)
		}
		m = meter.New(t.Context(), meter.Limits{meter.Time: int64(time.Second)})
		for range 10 {
			m.Extend(time.Second)
		}
		time.Sleep(4*time.Second + 1)
		synctest.Wait()
		if err := m.Take(meter.Steps, 1, "a"); text(err) != "more than 4s" {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		m = meter.New(ctx, meter.Limits{})
		cancel()
		if err := m.Take(meter.Steps, 1, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		m = meter.Unhurried()
		time.Sleep(time.Hour)
		if err := m.Take(meter.Steps, 1, "a"); err != nil {
			t.Error(err)
		}
		m.Close()
		if err := m.Take(meter.Steps, 1, "a"); err == nil {
			t.Error("it goes on when it is closed")
		}
	})
}

// TestPause: while a run waits for somebody else its time stands still, and what is left of it is left afterwards.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := meter.New(t.Context(), meter.Limits{})
		time.Sleep(20 * time.Second)
		for range 2 {
			resume := m.Pause()
			time.Sleep(time.Hour)
			resume()
			time.Sleep(4 * time.Second)
		}
		if err := m.Take(meter.Steps, 1, "a"); err != nil {
			t.Error(err)
		}
		time.Sleep(2*time.Second + 1)
		synctest.Wait()
		m.Pause()()
		if err := m.Take(meter.Steps, 1, "a"); text(err) != "more than 30s" {
			t.Error(err)
		}
		m = meter.Unhurried()
		m.Pause()()
		if err := m.Take(meter.Steps, 1, "a"); err != nil {
			t.Error(err)
		}
		m.Close()
	})
}

// TestTogether: many goroutines share one bound, and each of them learns of its end.
func TestTogether(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Steps: 1000})
	defer m.Close()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for m.Take(meter.Steps, 1, "x") == nil { //nolint:revive // it only counts
			}
		})
	}
	wait.Wait()
	if got := text(m.Err()); got != "x: more than 1,000 steps" {
		t.Error(got)
	}
}

// FuzzMeter: whatever is taken and given back, a run goes on exactly as long as no bound is passed.
func FuzzMeter(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200})
	f.Fuzz(func(t *testing.T, moves []byte) {
		m := meter.New(t.Context(), meter.Limits{meter.Nodes: 100})
		defer m.Close()
		held, over := 0, false
		for _, b := range moves {
			if n := int(b >> 1); b&1 == 0 {
				err := m.Take(meter.Nodes, n, "")
				if !over {
					held += n
				}
				if over = over || held > 100; (err != nil) != over {
					t.Fatalf("%d held: %v", held, err)
				}
			} else if n <= held && !over {
				m.Give(meter.Nodes, n)
				held -= n
			}
		}
	})
}

// TestAllow: what came allows more of a kind, and of one without a bound there is nothing to allow.
func TestAllow(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Steps: 10, meter.Nodes: -1})
	m.Allow(meter.Steps, 5)
	m.Allow(meter.Nodes, 5)
	if err := m.Take(meter.Nodes, 1000, ""); err != nil {
		t.Error(err)
	}
	if err := m.Take(meter.Steps, 15, ""); err != nil {
		t.Error(err)
	}
	if err := m.Take(meter.Steps, 1, strings.Repeat("é", 1000)); err == nil || err.Error() != strings.Repeat("é", 128)+"…: more than 15 steps" {
		t.Error(err)
	}
}

// TestMark: what was taken since is given back, of each kind.
func TestMark(t *testing.T) {
	m := meter.New(t.Context(), meter.Limits{meter.Nodes: 10, meter.Steps: 10})
	defer m.Close()
	for range 5 {
		back := m.Mark()
		if err := errors.Join(m.Take(meter.Nodes, 9, "x"), m.Take(meter.Steps, 9, "x"), m.Take(meter.Bytes, 9, "x")); err != nil {
			t.Fatal(err)
		}
		back()
	}
	if held := m.Held(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
	if m.Take(meter.Steps, 11, "x") == nil {
		t.Error("no bound")
	}
}

// TestPausesMeet: the clock stands still as long as anybody waits, whoever began first, and what is gained meanwhile is not lost.
func TestPausesMeet(t *testing.T) {
	for name, gains := range map[string]time.Duration{"two": 0, "two, and more time amid them": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := meter.New(t.Context(), meter.Limits{meter.Time: int64(10 * time.Second)})
				defer m.Close()
				first := m.Pause()
				time.Sleep(time.Minute)
				second := m.Pause()
				m.Extend(gains)
				first()
				time.Sleep(time.Minute)
				second()
				time.Sleep(gains + 9*time.Second)
				if m.Err() != nil {
					t.Fatal("it ended while somebody waited: ", m.Err())
				}
				time.Sleep(2 * time.Second)
				if m.Err() == nil {
					t.Error("it goes on past its time")
				}
			})
		})
	}
}
