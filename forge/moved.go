package forge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// manyPaths is how many unknown paths of one tip are worth its whole tree.
	manyPaths = 1000
	// maxKnownPaths is how many paths of a base go on being known from one tip to the next: 5,000 pull requests of ten each. Those of pull
	// requests that are gone are among them; of more it begins anew.
	maxKnownPaths = 50_000
)

// pathSet is what is known of the paths at a base's tip. What is kept of one look is never written to by another.
type pathSet struct {
	tip   plan.SHA
	there map[string]bool
	grown bool // it is not as it is remembered
}

func (s *pathSet) put(path string, there bool) { s.there[path], s.grown = there, true }

// typeBlob is a file in GraphQL's words. A directory in a file's place is no file that stands: git follows the file to where
// it was moved.
const typeBlob = "Blob"

// lookup is one path of a base's tip.
type lookup struct {
	set  *pathSet
	path string
}

// addMoved finds the paths that a pull request changes where they stood in the merge base and that the base's tip does not
// have any more. A head that is up to date has none.
func (l *observation) addMoved(ctx context.Context, s *plan.Snapshot) error {
	var unknown []lookup
	asked := map[lookup]bool{}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		paths := stood(p)
		if s.Bases[p.Base].Tip == "" || len(paths) == 0 {
			continue
		}
		if err := l.knowPaths(ctx, p.Base, s.Bases[p.Base]); err != nil {
			return err
		}
		for _, path := range paths {
			at := lookup{l.there[p.Base], path}
			switch _, known := at.set.there[path]; {
			case known, asked[at]:
			case p.MergeBase == at.set.tip && l.listedAt(p.Number, at.set.tip):
				at.set.put(path, true)
			case p.MergeBase == at.set.tip:
			default:
				asked[at] = true
				unknown = append(unknown, at)
			}
		}
	}
	failed := l.lookUp(ctx, unknown)
	for name, set := range l.there {
		if set.grown {
			set.grown = false
			keptPaths.Put(l.Memory, name, *set)
		}
	}
	if failed != nil && look.EndsLook(ctx, failed) {
		return failed
	}
	for i := range s.Pulls {
		if err := l.addMovedOf(ctx, s, &s.Pulls[i], failed); err != nil {
			return err
		}
	}
	return nil
}

// listedAt reports whether a pull request's details were read beside a tip of its base, or proved to be as if they were.
func (l *observation) listedAt(number int, tip plan.SHA) bool {
	if h := l.history(l.raws[number]); !h.complete || len(h.boundary) != 1 || h.boundary[0] != tip {
		return false
	}
	if l.raws[number].fresh {
		return true
	}
	kept := l.kept(number)
	return kept != nil && plan.SHA(kept.BaseRef.Target.Oid) == tip
}

// knowPaths recalls what is known of the paths at a base's tip. Where it stood elsewhere at the last look, all that did not change since
// stands as it did.
func (l *observation) knowPaths(ctx context.Context, name plan.Branch, b plan.Base) error {
	if l.there[name] != nil {
		return nil
	}
	kept, _ := keptPaths.Get(l.Memory, name)
	set := &pathSet{tip: b.Tip, there: map[string]bool{}, grown: kept.tip != b.Tip}
	l.there[name] = set
	if kept.tip == b.Tip {
		set.there = maps.Clone(kept.there)
		return nil
	}
	if len(kept.there) == 0 || len(kept.there) > maxKnownPaths || b.File == "" { // without a file nothing is asked of the base otherwise: a comparison would be one request more
		return nil
	}
	changed, err := l.ChangedPaths(ctx, kept.tip, b.Tip)
	if changed == nil {
		return err
	}
	set.there = maps.Clone(kept.there)
	maps.DeleteFunc(set.there, func(path string, _ bool) bool { return changed[path] })
	return nil
}

// addMovedOf fills in what of one pull request is moved. Where one of its paths could not be looked up, the pull request is unknown.
func (l *observation) addMovedOf(ctx context.Context, s *plan.Snapshot, p *plan.Pull, failed error) error {
	tip := s.Bases[p.Base].Tip
	if tip == "" || p.MergeBase == tip {
		return nil
	}
	for _, path := range stood(p) {
		switch there, known := l.there[p.Base].there[path]; {
		case !known:
			if failed == nil { // there were more than a look asks for
				p.Unread = plan.Unread{Reason: look.NotRead(whatPaths, client.NewTransient("", nil)), Passing: true}
				l.AskAgain(l.Now().Add(look.PartFirst))
				return nil
			}
			var err error
			p.Unread, err = l.Failed(ctx, l.pullKey(p), whatPaths, failed)
			return err
		case !there:
			p.Moved = append(p.Moved, path)
		}
	}
	return nil
}

// stood are the paths of a pull request that stood in its merge base.
func stood(p *plan.Pull) []string {
	if p.Unread.Is() {
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

// maxPathQueries is how many queries for paths by their names a look sends.
const maxPathQueries = 100

// lookUp finds out which paths are there: many of one tip from its tree, the others by name, all in one query if they fit. What an
// error kept from being found out stays unknown; the first error is given.
func (l *observation) lookUp(ctx context.Context, unknown []lookup) error {
	count := map[*pathSet]int{}
	for _, at := range unknown {
		count[at.set]++
	}
	var failed error
	for set, n := range count {
		if n <= manyPaths {
			continue
		}
		if err := l.readTree(ctx, set, unknown); err != nil {
			failed = cmp.Or(failed, err)
			unknown = slices.DeleteFunc(unknown, func(at lookup) bool { return at.set == set })
		}
	}
	unknown = slices.DeleteFunc(unknown, func(at lookup) bool { _, known := at.set.there[at.path]; return known })
	queries := 0
	for some := range slices.Chunk(unknown, look.MaxAliases/2) {
		if queries++; queries > maxPathQueries || failed != nil && look.EndsLook(ctx, failed) {
			break
		}
		failed = cmp.Or(failed, l.readPaths(ctx, some))
	}
	return failed
}

// readPaths asks for paths by name, and with them for the trees that they should stand in: a path that is not there is known only
// beside its tree.
func (l *observation) readPaths(ctx context.Context, some []lookup) error {
	var names []string
	trees := map[plan.SHA]string{}
	for _, at := range some {
		names = append(names, string(at.set.tip)+":"+at.path)
	}
	for _, at := range some {
		if trees[at.set.tip] == "" {
			trees[at.set.tip] = fmt.Sprintf("o%d", len(names))
			names = append(names, look.TreeOf(at.set.tip))
		}
	}
	named, err := l.AskNamed(ctx, look.ObjectsQuery(l.Repo.Owner, l.Repo.Name, names, look.ObjectType))
	if err != nil {
		return err
	}
	var failed error
	for i, at := range some {
		o, err := client.Find[look.RawObject](named, fmt.Sprintf("o%d", i))
		if err == nil && o == nil {
			err = look.Shown(named, trees[at.set.tip])
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		at.set.put(at.path, o != nil && o.Typename == typeBlob)
	}
	return failed
}

// readTree finds out about paths of a tip from its whole tree. What a tree that GitHub cuts short does not show stays unknown.
func (l *observation) readTree(ctx context.Context, set *pathSet, unknown []lookup) error {
	var tree struct {
		Truncated bool
		Tree      []struct{ Path, Type string }
	}
	u := fmt.Sprintf("%s/git/trees/%s?recursive=1", look.PathOf(l.Repo), set.tip)
	if err := l.Client.Get(ctx, u, &tree); err != nil {
		return fmt.Errorf("read tree: %w", err)
	}
	if tree.Tree == nil {
		return fmt.Errorf("read tree: %w", client.Empty())
	}
	there := make(map[string]bool, len(tree.Tree))
	for _, e := range tree.Tree {
		there[e.Path] = e.Type == "blob"
	}
	for _, at := range unknown {
		if stands, listed := there[at.path]; at.set == set && (listed || !tree.Truncated) {
			set.put(at.path, stands)
		}
	}
	return nil
}
