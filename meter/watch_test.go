package meter

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestWatch: a run whose process holds more than it may ends, whatever was charged; one that holds less goes on.
func TestWatch(t *testing.T) {
	roomy := New(t.Context(), Limits{})
	defer roomy.Close()
	roomy.Watch(1<<40, 1<<40)
	m := New(t.Context(), Limits{})
	m.Watch(8<<20, 1<<40)
	held := make([]byte, 16<<20)
	runtime.GC()
	<-m.Context().Done()
	runtime.KeepAlive(held)
	var bound *Error
	if err := m.Take(Steps, 1, "x"); !errors.As(err, &bound) || bound.Kind != Memory || err.Error() != "more than 8 MiB of memory" {
		t.Errorf("%v", err)
	}
	if err := roomy.Take(Steps, 1, "x"); err != nil {
		t.Error(err)
	}
}

// TestWatchWhatGrows: a run ends while its process grows, before garbage is collected.
func TestWatchWhatGrows(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	has := Mapped() + 8<<20
	m := New(t.Context(), Limits{})
	m.Watch(1<<40, has)
	var held [][]byte
	for m.Err() == nil {
		held = append(held, make([]byte, 1<<20))
	}
	runtime.KeepAlive(held)
	var bound *Error
	if !errors.As(m.Err(), &bound) || bound.Kind != Memory || bound.Limit != has {
		t.Errorf("%v", m.Err())
	}
}
