package store

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// Sight is which repositories somebody may see, by GitHub's numbers, which stay when a name passes on. A nil one sees all of them.
type Sight map[int64]bool

// Only sees one repository, and every one where GitHub's number is not known (0).
func Only(id int64) Sight {
	if id == 0 {
		return nil
	}
	return Sight{id: true}
}

// where is the condition on the row r of a repository.
func (s Sight) where() (condition string, args []any) {
	if s == nil {
		return "TRUE", nil
	}
	ids, _ := json.Marshal(slices.Sorted(maps.Keys(s))) // numbers are JSON
	return "r.github_id IN (SELECT value FROM json_each(?))", []any{string(ids)}
}

// news counts the changes of what is shown of each repository, by GitHub's number, also of what is rolled back then.
type news struct {
	mu     sync.Mutex
	counts map[int64]uint64
}

func (n *news) add(repo int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counts == nil {
		n.counts = map[int64]uint64{}
	}
	n.counts[repo]++
}

// News counts the plans that changed and the acts that were kept since it was opened, of what somebody may see.
func (s *Store) News(of Sight) (count uint64) {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	for id, n := range s.news.counts {
		if of == nil || of[id] {
			count += n
		}
	}
	return count
}
