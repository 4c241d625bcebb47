package standin

import "sync"

// memo keeps what never changes once it is known. Its zero value with a max is ready. It is safe for concurrent use; two
// callers may compute the same value at once, which is harmless because both get the same.
type memo[K comparable, V any] struct {
	max int

	mu   sync.Mutex
	seen map[K]V
}

func (m *memo[K, V]) get(key K, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	v, ok := m.seen[key]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := compute()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil || len(m.seen) >= m.max {
		m.seen = map[K]V{}
	}
	m.seen[key] = v
	return v, nil
}

// peek gives the value if it is known.
func (m *memo[K, V]) peek(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.seen[key]
	return v, ok
}
