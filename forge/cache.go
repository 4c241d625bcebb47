package forge

import (
	"container/heap"
	"container/list"
	"reflect"
	"sync"
)

// What is remembered is a cache in two quotas of bytes: what may be evicted to let in what was read later of the same repository, and, apart
// from it, notes of few bytes that no file or list drives out. Each counts what its values take, for the repository that they are of. A
// repository above its own bound evicts what it used the longest ago; all of them above the bound of the process, what the
// one that holds the most used the longest ago. So whoever fills one repository evicts that repository alone.
//
// No decision depends on what was evicted, only the number of requests: a look that needs again what it read keeps it itself.

const (
	// DefaultMemory is how many bytes are remembered of all repositories together, unless Options says otherwise.
	DefaultMemory = 200 << 20
	// repositoryShare is the part of it that one repository may have: 5,000 open pull requests of thirty entries each fit.
	repositoryShare = 4
	// notesShare is the part that is kept for notes.
	notesShare = 8
	// entryOverhead is about what an entry takes beside its key and value: its place in a list, in a map, and their room to grow.
	entryOverhead = 160
)

// quota bounds what several caches hold together. It is safe for concurrent use.
type quota struct {
	mu      sync.Mutex
	most    int // bytes in all
	share   int // and of one repository
	sum     int
	tenants map[repoKey]*tenant
	order   tenantHeap // who holds the most first
}

// tenant is what one repository holds.
type tenant struct {
	repo    repoKey
	sum     int
	entries *list.List // of holding, the last used first
	place   int        // in the heap
}

// holding is an entry of a cache.
type holding interface {
	evict() // with its quota locked
}

func newQuota(most int) *quota {
	return &quota{most: most, share: most / repositoryShare, tenants: map[repoKey]*tenant{}}
}

// tenant gives a repository's, which is new if it holds nothing yet.
func (q *quota) tenant(repo repoKey) *tenant {
	t := q.tenants[repo]
	if t == nil {
		t = &tenant{repo: repo, entries: list.New()}
		q.tenants[repo] = t
		heap.Push(&q.order, t)
	}
	return t
}

// charge adds bytes to what a repository holds, or takes them off. One that holds nothing any more is forgotten.
func (q *quota) charge(t *tenant, bytes int) {
	t.sum += bytes
	q.sum += bytes
	heap.Fix(&q.order, t.place)
	if t.entries.Len() == 0 {
		heap.Remove(&q.order, t.place)
		delete(q.tenants, t.repo)
	}
}

// evict makes room, after a repository was charged.
func (q *quota) evict(t *tenant) {
	for t.sum > q.share {
		t.entries.Back().Value.(holding).evict()
	}
	for q.sum > q.most {
		q.order[0].entries.Back().Value.(holding).evict()
	}
}

// bytes is how many are held.
func (q *quota) bytes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sum
}

// tenantHeap has the tenant that holds the most first.
type tenantHeap []*tenant

func (h tenantHeap) Len() int           { return len(h) }
func (h tenantHeap) Less(i, j int) bool { return h[i].sum > h[j].sum }
func (h tenantHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is for package heap.
func (h *tenantHeap) Push(t any) {
	t.(*tenant).place = len(*h)
	*h = append(*h, t.(*tenant))
}

// Pop is for package heap.
func (h *tenantHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

// cache remembers the values that were used last, as far as its quota goes. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	quota *quota
	fixed int // bytes of an entry without what its key and value point to
	at    map[K]*list.Element
}

// held is one value in a cache.
type held[K comparable, V any] struct {
	in     *cache[K, V]
	tenant *tenant
	key    K
	value  V
	bytes  int
}

// newCache makes a cache within a quota.
func newCache[K comparable, V any](q *quota) *cache[K, V] {
	fixed := entryOverhead + 2*int(reflect.TypeFor[K]().Size()) + int(reflect.TypeFor[V]().Size())
	return &cache[K, V]{quota: q, fixed: fixed, at: map[K]*list.Element{}}
}

// get gives what is remembered under k.
func (c *cache[K, V]) get(k K) (V, bool) {
	c.quota.mu.Lock()
	defer c.quota.mu.Unlock()
	e, ok := c.at[k]
	if !ok {
		var none V
		return none, false
	}
	h := e.Value.(*held[K, V])
	h.tenant.entries.MoveToFront(e)
	return h.value, true
}

// put remembers v under k, for a repository. What is larger than a repository may hold is not remembered.
func (c *cache[K, V]) put(repo repoKey, k K, v V) {
	bytes := c.fixed + sizeOf(reflect.ValueOf(&k).Elem()) + sizeOf(reflect.ValueOf(&v).Elem())
	c.quota.mu.Lock()
	defer c.quota.mu.Unlock()
	c.drop(k)
	if bytes > c.quota.share {
		return
	}
	t := c.quota.tenant(repo)
	c.at[k] = t.entries.PushFront(&held[K, V]{c, t, k, v, bytes})
	c.quota.charge(t, bytes)
	c.quota.evict(t)
}

// remove forgets what is remembered under k.
func (c *cache[K, V]) remove(k K) {
	c.quota.mu.Lock()
	defer c.quota.mu.Unlock()
	c.drop(k)
}

func (c *cache[K, V]) drop(k K) {
	if e, ok := c.at[k]; ok {
		e.Value.(*held[K, V]).evict()
	}
}

func (h *held[K, V]) evict() {
	h.tenant.entries.Remove(h.in.at[h.key])
	delete(h.in.at, h.key)
	h.in.quota.charge(h.tenant, -h.bytes)
}
