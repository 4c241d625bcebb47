package look

import (
	"cmp"
	"container/list"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/sluicegate/sluice/plan"
)

// What is remembered of a repository is in one store, under keys of several kinds, in two quotas of bytes: what may be evicted to let in what
// was read later of the same repository, and, apart from it, notes of few bytes that no file or list drives out. A repository above its own
// bound evicts what it used the longest ago; all of them above the bound of the process, what the one that holds the most used the longest
// ago. So whoever fills one repository evicts that repository alone.
//
// No decision depends on what was evicted, only the number of requests: a look that needs again what it read keeps it itself.

const (
	// defaultMemory is how many bytes are remembered of all repositories together, unless somebody says otherwise.
	defaultMemory = 200 << 20
	// repositoryShare is the part of it that one repository may have: 5,000 open pull requests of thirty entries each fit.
	repositoryShare = 4
	// notesShare is the part that is kept for notes.
	notesShare = 8
	// entryOverhead is about what an entry takes beside its key and value: its place in a list, in a map, and their room to grow.
	entryOverhead = 200
)

// What was made out of it, or when it was asked.
var (
	keptParts = Kind[PartKey, part]{Name: "parts", Note: true}  // that could not be read
	keptTurns = Kind[PartKey, int64]{Name: "turns", Note: true} // when parts were asked about last, counted in turn
)

// Kind is a kind of what is remembered of a repository: values of one type under keys of another.
type Kind[K comparable, V any] struct {
	Name string
	Note bool
}

// entryKey is a key of one kind among those of all.
type entryKey[K comparable, V any] struct {
	of  Kind[K, V]
	key K
}

// Get gives what is remembered of a repository under a key.
func (k Kind[K, V]) Get(r remembered, key K) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.quota(k.Note).tenants[r.repo]
	if t == nil || t.at[entryKey[K, V]{k, key}] == nil {
		return v, false
	}
	e := t.at[entryKey[K, V]{k, key}]
	t.entries.MoveToFront(e)
	return e.Value.(held).value.(V), true
}

// Put remembers a value. What is larger than a repository may hold is not remembered.
func (k Kind[K, V]) Put(r remembered, key K, v V) {
	bytes := k.bytes(key, v)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quota(k.Note).put(r.repo, held{entryKey[K, V]{k, key}, v, bytes})
}

// bytes is what an entry takes.
func (k Kind[K, V]) bytes(key K, v V) int {
	return entryOverhead + 2*int(reflect.TypeFor[K]().Size()) + int(reflect.TypeFor[V]().Size()) + sizeOf(reflect.ValueOf(&key).Elem()) + sizeOf(reflect.ValueOf(&v).Elem())
}

// Forget forgets what is remembered under a key.
func (k Kind[K, V]) Forget(r remembered, key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quota(k.Note).drop(r.repo, entryKey[K, V]{k, key})
}

// Memory is what a Forge remembers from one look to the next. It is safe for concurrent use.
type Memory struct {
	mu             sync.Mutex
	turn           atomic.Int64 // what was asked about last
	content, notes quota
}

// NewMemory is empty, and never takes more than so many bytes; 0: as many as defaultMemory.
func NewMemory(most int) *Memory {
	most = cmp.Or(most, defaultMemory)
	notes := most / notesShare
	return &Memory{content: newQuota(most - notes), notes: newQuota(notes)}
}

// remembered is what is remembered of one repository.
type remembered struct {
	*Memory
	repo repoKey
}

// Of is what is remembered of a repository.
func (m *Memory) Of(repo plan.Repo) remembered { return remembered{m, repoKey{repo.Owner, repo.Name}} }

// OfAll is what is remembered of no repository alone.
func (m *Memory) OfAll() remembered { return remembered{m, repoKey{}} }

func (m *Memory) quota(notes bool) *quota {
	if notes {
		return &m.notes
	}
	return &m.content
}

// repoKey names a repository in what is remembered of it.
type repoKey struct{ owner, name string }

// quota bounds what is remembered together.
type quota struct {
	most    int // bytes in all
	share   int // and of one repository
	sum     int
	tenants map[repoKey]*tenant
}

// tenant is what one repository holds.
type tenant struct {
	repo    repoKey
	sum     int
	entries *list.List // of held, the last used first
	at      map[any]*list.Element
}

// held is one value, under an entryKey.
type held struct {
	key, value any
	bytes      int
}

func newQuota(most int) quota {
	return quota{most: most, share: most / repositoryShare, tenants: map[repoKey]*tenant{}}
}

// put adds an entry in the place of that of the same key, and makes room.
func (q *quota) put(repo repoKey, h held) {
	q.drop(repo, h.key)
	if h.bytes > q.share {
		return
	}
	t := q.tenants[repo]
	if t == nil {
		t = &tenant{repo: repo, entries: list.New(), at: map[any]*list.Element{}}
		q.tenants[repo] = t
	}
	t.at[h.key] = t.entries.PushFront(h)
	q.charge(t, h.bytes)
	for t.sum > q.share {
		q.evict(t)
	}
	for q.sum > q.most {
		q.evict(q.largest())
	}
}

// largest is who holds the most.
func (q *quota) largest() (of *tenant) {
	for _, t := range q.tenants {
		if of == nil || t.sum > of.sum {
			of = t
		}
	}
	return of
}

// drop forgets an entry, if it is there.
func (q *quota) drop(repo repoKey, key any) {
	if t := q.tenants[repo]; t != nil && t.at[key] != nil {
		t.entries.MoveToBack(t.at[key])
		q.evict(t)
	}
}

// evict forgets what a repository used the longest ago. One that holds nothing any more is forgotten.
func (q *quota) evict(t *tenant) {
	h := t.entries.Remove(t.entries.Back()).(held)
	delete(t.at, h.key)
	q.charge(t, -h.bytes)
	if t.entries.Len() == 0 {
		delete(q.tenants, t.repo)
	}
}

// charge adds bytes to what a repository holds, or takes them off.
func (q *quota) charge(t *tenant, bytes int) {
	t.sum += bytes
	q.sum += bytes
}
