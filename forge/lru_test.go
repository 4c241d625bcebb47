package forge

import "testing"

func TestLRU(t *testing.T) {
	l := newLRU[string, int](2)
	l.put("a", 1)
	l.put("b", 2)
	l.get("a")
	l.put("c", 3)
	if _, ok := l.get("b"); ok {
		t.Error("the value that was used longest ago is still there")
	}
	l.put("a", 4)
	if v, _ := l.get("a"); v != 4 || l.order.Len() != 2 || l.sum != 2 {
		t.Errorf("%d, %d values of weight %d", v, l.order.Len(), l.sum)
	}
}

func TestWeighingLRU(t *testing.T) {
	l := newLRU[int, []int](10).weighing(func(v []int) int { return len(v) })
	l.put(1, make([]int, 6))
	l.put(2, make([]int, 4))
	l.put(3, make([]int, 1))
	if _, ok := l.get(1); ok || l.sum != 5 {
		t.Errorf("weight %d", l.sum)
	}
	l.put(4, make([]int, 11)) // heavier than all that may be kept
	if _, ok := l.get(4); ok || l.sum != 0 || len(l.at) != 0 {
		t.Errorf("weight %d", l.sum)
	}
}
