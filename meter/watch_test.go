package meter

import (
	"errors"
	"runtime"
	"testing"
)

// TestWatch: a run whose process holds more than it may ends, whatever was charged; one that holds less goes on.
func TestWatch(t *testing.T) {
	roomy := New(t.Context(), Limits{})
	defer roomy.Close()
	roomy.Watch(1 << 40)
	m := New(t.Context(), Limits{})
	m.Watch(8 << 20)
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
