package forge

import (
	"cmp"
	"context"
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
	grown bool // since it was remembered
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
	s.there[path], s.grown = there, true
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
func (l *observation) addMoved(ctx context.Context, s *plan.Snapshot) error {
	var unknown []lookup
	asked := map[lookup]bool{}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		tip := s.Bases[p.Base].Tip
		if p.Unread.Is() || tip == "" {
			continue
		}
		for _, path := range stood(p, tip) {
			at := lookup{tip, path}
			if _, known := l.pathsOf(tip).get(path); !known && !asked[at] {
				asked[at] = true
				unknown = append(unknown, at)
			}
		}
	}
	failed := l.lookUp(ctx, unknown)
	for tip, set := range l.there {
		if set.grown {
			set.grown = false
			l.f.paths.put(keyOf(l.repo), tipKey{keyOf(l.repo), tip}, set)
		}
	}
	if failed != nil && endsLook(ctx, failed) {
		return failed
	}
	for i := range s.Pulls {
		if err := l.addMovedOf(ctx, s, &s.Pulls[i], failed); err != nil {
			return err
		}
	}
	return nil
}

// addMovedOf fills in what of one pull request is moved. Where one of its paths could not be looked up, the pull request is unknown.
func (l *observation) addMovedOf(ctx context.Context, s *plan.Snapshot, p *plan.Pull, failed error) error {
	tip := s.Bases[p.Base].Tip
	if p.Unread.Is() || tip == "" {
		return nil
	}
	for _, path := range stood(p, tip) {
		switch there, known := l.pathsOf(tip).get(path); {
		case !known:
			if failed == nil { // there were more than a look asks for
				p.Unread = plan.Unread{Reason: notRead(whatPaths, transient("", nil)), Passing: true}
				l.askAgain(l.f.now().Add(partFirst))
				return nil
			}
			var err error
			p.Unread, err = l.failed(ctx, l.pullKey(p), whatPaths, failed)
			return err
		case !there:
			p.Moved = append(p.Moved, path)
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

func (l *observation) pathsOf(tip plan.SHA) *pathSet {
	set := l.there[tip]
	if set == nil {
		var ok bool
		if set, ok = l.f.paths.get(tipKey{keyOf(l.repo), tip}); !ok {
			set = &pathSet{there: map[string]bool{}}
		}
		l.there[tip] = set
	}
	return set
}

// maxPathQueries is how many queries for paths by their names a look sends.
const maxPathQueries = 100

// lookUp finds out which paths are there: many of one tip from its tree, the others by name, all in one query if they fit. What an
// error kept from being found out stays unknown; the first error is given.
func (l *observation) lookUp(ctx context.Context, unknown []lookup) error {
	count := map[plan.SHA]int{}
	for _, at := range unknown {
		count[at.tip]++
	}
	var failed error
	for tip, n := range count {
		if n <= manyPaths {
			continue
		}
		if err := l.readTree(ctx, tip, unknown); err != nil {
			failed = cmp.Or(failed, err)
			unknown = slices.DeleteFunc(unknown, func(at lookup) bool { return at.tip == tip })
		}
	}
	unknown = slices.DeleteFunc(unknown, func(at lookup) bool { _, known := l.pathsOf(at.tip).get(at.path); return known })
	queries := 0
	for some := range slices.Chunk(unknown, maxAliases/2) {
		if queries++; queries > maxPathQueries || failed != nil && endsLook(ctx, failed) {
			break
		}
		failed = cmp.Or(failed, l.readPaths(ctx, some))
	}
	return failed
}

// treeOf names a commit's tree as git does: where it is shown, what is not shown in it is not there.
func treeOf(sha plan.SHA) string { return string(sha) + "^{tree}" }

// readPaths asks for paths by name, and with them for the trees that they should stand in: a path that is not there is known only
// beside its tree.
func (l *observation) readPaths(ctx context.Context, some []lookup) error {
	var names []string
	trees := map[plan.SHA]string{}
	for _, at := range some {
		names = append(names, string(at.tip)+":"+at.path)
	}
	for _, at := range some {
		if trees[at.tip] == "" {
			trees[at.tip] = fmt.Sprintf("o%d", len(names))
			names = append(names, treeOf(at.tip))
		}
	}
	named, err := l.askNamed(ctx, objectsQuery(l.repo.Owner, l.repo.Name, names, objectType))
	if err != nil {
		return err
	}
	var failed error
	for i, at := range some {
		o, err := find[rawObject](named, fmt.Sprintf("o%d", i))
		if err == nil && o == nil {
			err = shown(named, trees[at.tip])
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		l.pathsOf(at.tip).put(at.path, o != nil && o.Typename == typeBlob)
	}
	return failed
}

// shown gives an error if a tree is not shown under an alias.
func shown(named answers, alias string) error {
	tree, err := find[rawObject](named, alias)
	if err == nil && tree == nil {
		err = transient(wordNoTree, nil)
	}
	return err
}

// readTree finds out about paths of a tip from its whole tree. What a tree that GitHub cuts short does not show stays unknown.
func (l *observation) readTree(ctx context.Context, tip plan.SHA, unknown []lookup) error {
	var tree struct {
		Truncated bool
		Tree      []struct{ Path, Type string }
	}
	u := fmt.Sprintf("repos/%s/%s/git/trees/%s?recursive=1", l.repo.Owner, l.repo.Name, tip)
	if err := l.c.get(ctx, u, &tree); err != nil {
		return fmt.Errorf("read tree: %w", err)
	}
	if tree.Tree == nil {
		return fmt.Errorf("read tree: %w", transient(wordEmpty, nil))
	}
	there := make(map[string]bool, len(tree.Tree))
	for _, e := range tree.Tree {
		there[e.Path] = e.Type == "blob"
	}
	for _, at := range unknown {
		if stands, listed := there[at.path]; at.tip == tip && (listed || !tree.Truncated) {
			l.pathsOf(tip).put(at.path, stands)
		}
	}
	return nil
}
