package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/sluicegate/sluice/plan"
)

// manyPaths is how many unknown paths of one tip are worth its whole tree.
const manyPaths = 1000

// tipKey names a tip whose paths were looked up. What stands in a commit never changes.
type tipKey struct {
	repo repoKey
	tip  plan.SHA
}

// pathSet is what is known of a tip's paths. It is safe for concurrent use.
type pathSet struct {
	mu    sync.Mutex
	there map[string]bool
}

func (s *pathSet) get(path string) (there, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there, known = s.there[path]
	return there, known
}

func (s *pathSet) put(path string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[path] = there
}

// typeBlob is a file in GraphQL's words. A directory in a file's place is no file that stands: git follows the file to where
// it was moved.
const typeBlob = "Blob"

// lookup is one path at one tip.
type lookup struct {
	tip  plan.SHA
	path string
}

// addMoved finds the paths that a pull request changes where they stood in the merge base and that the base's tip does not
// have any more. A head that is up to date has none.
func (l *look) addMoved(ctx context.Context, s *plan.Snapshot) error {
	var unknown []lookup
	asked := map[lookup]bool{}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		tip := s.Bases[p.Base].Tip
		for _, path := range stood(p, tip) {
			at := lookup{tip, path}
			if _, known := l.pathsOf(tip).get(path); !known && !asked[at] {
				asked[at] = true
				unknown = append(unknown, at)
			}
		}
	}
	if err := l.lookUp(ctx, unknown); err != nil {
		return err
	}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		tip := s.Bases[p.Base].Tip
		for _, path := range stood(p, tip) {
			if !l.isThere(lookup{tip, path}) { // fail closed: not known counts as moved
				p.Moved = append(p.Moved, path)
			}
		}
	}
	return nil
}

// stood are the paths of a pull request that stood in its merge base, if that is not the tip.
func stood(p *plan.Pull, tip plan.SHA) []string {
	if p.MergeBase == tip {
		return nil
	}
	var paths []string
	for _, f := range p.Files {
		switch {
		case f.Kind == plan.Modified, f.Kind == plan.Deleted:
			paths = append(paths, f.Path)
		case f.Kind == plan.Renamed && f.Old != "":
			paths = append(paths, f.Old)
		}
	}
	return paths
}

func (l *look) pathsOf(tip plan.SHA) *pathSet {
	k := tipKey{keyOf(l.repo), tip}
	set, ok := l.f.paths.get(k)
	if !ok {
		set = &pathSet{there: map[string]bool{}}
		l.f.paths.put(k, set)
	}
	return set
}

// isThere tells that a path is known to stand at a tip.
func (l *look) isThere(at lookup) bool {
	there, _ := l.pathsOf(at.tip).get(at.path)
	return there
}

// lookUp finds out which paths are there: many of one tip from its tree, the others by name, all in one query if they fit.
func (l *look) lookUp(ctx context.Context, unknown []lookup) error {
	count := map[plan.SHA]int{}
	for _, at := range unknown {
		count[at.tip]++
	}
	for tip, n := range count {
		if n <= manyPaths {
			continue
		}
		if err := l.readTree(ctx, tip, unknown); err != nil {
			return err
		}
		unknown = slices.DeleteFunc(unknown, func(at lookup) bool { return at.tip == tip })
	}
	for some := range slices.Chunk(unknown, maxAliases) {
		if err := l.readPaths(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// readPaths asks for paths by name.
func (l *look) readPaths(ctx context.Context, some []lookup) error {
	names := make([]string, len(some))
	for i, at := range some {
		names[i] = string(at.tip) + ":" + at.path
	}
	var named map[string]json.RawMessage
	if err := l.more(ctx, objectsQuery(l.repo.Owner, l.repo.Name, names, objectType), &named); err != nil {
		return err
	}
	for i, at := range some {
		var o *struct {
			Typename string `json:"__typename"`
		}
		if err := json.Unmarshal(named[fmt.Sprintf("o%d", i)], &o); err != nil {
			return transient(wordUnreadable, err)
		}
		l.pathsOf(at.tip).put(at.path, o != nil && o.Typename == typeBlob)
	}
	return nil
}

// readTree finds out about paths of a tip from its whole tree. Fail closed: what a tree that GitHub cuts short does not
// show is not there.
func (l *look) readTree(ctx context.Context, tip plan.SHA, unknown []lookup) error {
	var tree struct{ Tree []struct{ Path, Type string } }
	u := fmt.Sprintf("repos/%s/%s/git/trees/%s?recursive=1", l.repo.Owner, l.repo.Name, tip)
	if err := l.c.get(ctx, u, &tree); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	there := make(map[string]bool, len(tree.Tree))
	for _, e := range tree.Tree {
		there[e.Path] = e.Type == "blob"
	}
	for _, at := range unknown {
		if at.tip == tip {
			l.pathsOf(tip).put(at.path, there[at.path])
		}
	}
	return nil
}
