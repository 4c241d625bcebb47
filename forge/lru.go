package forge

import (
	"container/list"
	"sync"
)

// lru remembers the values that were used last, at most max of them. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	max   int
	order *list.List // of pair[K, V], the last used first
	at    map[K]*list.Element
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	return &lru[K, V]{max: limit, order: list.New(), at: map[K]*list.Element{}}
}

// get gives what is remembered under k.
func (l *lru[K, V]) get(k K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.at[k]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(e)
	return e.Value.(pair[K, V]).value, true
}

// put remembers v under k.
func (l *lru[K, V]) put(k K, v V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.at[k]; ok {
		e.Value = pair[K, V]{k, v}
		l.order.MoveToFront(e)
		return
	}
	l.at[k] = l.order.PushFront(pair[K, V]{k, v})
	if l.order.Len() > l.max {
		last := l.order.Back()
		l.order.Remove(last)
		delete(l.at, last.Value.(pair[K, V]).key)
	}
}
