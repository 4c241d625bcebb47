package standin

import "sync"

// Memo keeps what never changes once it is known. Its zero value with a max is ready. It is safe for concurrent use; two
// callers may compute the same value at once, which is harmless because both get the same.
type Memo[K comparable, V any] struct {
	Max int

	mu   sync.Mutex
	seen map[K]V
}

// Get gives the value of a key, which compute finds if it is not known; its error is not kept.
func (m *Memo[K, V]) Get(key K, compute func() (V, error)) (V, error) {
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
	if m.seen == nil || len(m.seen) >= m.Max {
		m.seen = map[K]V{}
	}
	m.seen[key] = v
	return v, nil
}

// peek gives the value if it is known.
func (m *Memo[K, V]) peek(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.seen[key]
	return v, ok
}
