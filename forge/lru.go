package forge

import (
	"container/list"
	"sync"
)

// lru remembers the values that were used last, as many as weigh max together. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	max   int
	sum   int
	weigh func(V) int
	order *list.List // of pair[K, V], the last used first
	at    map[K]*list.Element
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	return &lru[K, V]{max: limit, weigh: func(V) int { return 1 }, order: list.New(), at: map[K]*list.Element{}}
}

// weighing is l before its first use, with values that do not all weigh 1.
func (l *lru[K, V]) weighing(weigh func(V) int) *lru[K, V] {
	l.weigh = weigh
	return l
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
		l.drop(e)
	}
	l.at[k] = l.order.PushFront(pair[K, V]{k, v})
	l.sum += l.weigh(v)
	for l.sum > l.max {
		l.drop(l.order.Back())
	}
}

// remove forgets what is remembered under k.
func (l *lru[K, V]) remove(k K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.at[k]; ok {
		l.drop(e)
	}
}

// drop forgets an element.
func (l *lru[K, V]) drop(e *list.Element) {
	p := l.order.Remove(e).(pair[K, V])
	l.sum -= l.weigh(p.value)
	delete(l.at, p.key)
}
