package forge

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxListed is how many files GitHub lists of a pull request, whatever it changes.
	maxListed = 3000
	// maxListPages is how many pages of file lists a look reads. The pull requests beyond stay incomplete until it is their turn.
	maxListPages = 150
)

// listKey names a whole list. Both SHAs are known, so it never changes.
type listKey struct {
	base, head plan.SHA
}

// addFiles fills in what every pull request changes. The page's own list decides. REST adds what GraphQL lacks: the old
// names of renames, and files beyond the first hundred.
func (l *observation) addFiles(ctx context.Context, s *plan.Snapshot) error {
	var read []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		raw := l.raws[p.Number]
		files, whole := pageFiles(raw)
		p.Files, p.Complete = files, whole && !renames(files)
		p.Complete = p.Complete && !raw.thin
		if p.Complete || raw.ChangedFiles > maxListed || raw.Files.dropped() {
			continue // fail closed: what GitHub does not list, or has no room, is not known
		}
		if !p.Unread.Is() && !l.keptList(p, raw) {
			read = append(read, i)
		}
	}
	return l.eachPull(ctx, s, l.listsInTurn(s, read), whatFiles, func(ctx context.Context, p *plan.Pull) error {
		return l.readList(ctx, p, l.raws[p.Number])
	})
}

// listsInTurn are the pull requests whose lists are read now: those that were read the longest ago, or never. A list that never fits
// its pull request is so no reason for others to wait.
func (l *observation) listsInTurn(s *plan.Snapshot, read []int) []int {
	var now []int
	pages := 0
	for _, i := range look.InTurn(l.Look, partFiles, read, func(i int) string { return string(s.Pulls[i].Head) }) {
		p := &s.Pulls[i]
		if pages += (l.raws[p.Number].ChangedFiles + client.PerPage - 1) / client.PerPage; pages > maxListPages {
			l.AskAgain(l.Now().Add(look.PartFirst))
			break
		}
		l.HasTurn(partFiles, string(p.Head))
		now = append(now, i)
	}
	return now
}

// pageFiles is the list of the page; false if it is not whole.
func pageFiles(raw *rawPull) ([]plan.File, bool) {
	if raw.Files == nil {
		return nil, raw.ChangedFiles == 0
	}
	files := make([]plan.File, 0, len(raw.Files.Nodes))
	whole := len(raw.Files.Nodes) == raw.ChangedFiles
	for _, n := range raw.Files.Nodes {
		kind, ok := changes[n.ChangeType]
		if !ok || n.Path == "" {
			whole = false // fail closed: a kind of change that is not known may have more names than one
			kind = plan.Modified
		}
		files = append(files, plan.File{Path: n.Path, Kind: kind})
	}
	return files, whole && look.Distinct(files)
}

// changes are GraphQL's words.
var changes = map[string]plan.Change{
	"ADDED": plan.Added, "MODIFIED": plan.Modified, "CHANGED": plan.Modified, "DELETED": plan.Deleted,
	"RENAMED": plan.Renamed, "COPIED": plan.Copied,
}

// renames reports whether a file came from another path.
func renames(files []plan.File) bool {
	return slices.ContainsFunc(files, func(f plan.File) bool {
		return f.Old == "" && (f.Kind == plan.Renamed || f.Kind == plan.Copied)
	})
}

// fileList is a whole list, or the fact that it is longer than lists may be.
type fileList struct {
	files []plan.File
	long  bool
}

// keptList reports whether a list from memory fits what the page says, and uses it.
func (l *observation) keptList(p *plan.Pull, raw *rawPull) bool {
	if p.MergeBase == "" {
		return false
	}
	kept, ok := keptLists.Get(l.Memory, listKey{p.MergeBase, p.Head})
	if kept.long {
		return true
	}
	if !ok || !fits(kept.files, p.Files, raw.ChangedFiles) {
		return false
	}
	p.Files, p.Complete = slices.Clone(kept.files), true
	l.hasWholeList(p)
	return true
}

// fits reports whether a list is whole and describes the same change as the page, which saw the head at the look's own time:
// as many files as the page counts, each only once, renames with their old names, and all that the page lists among them
// with the same kind of change.
func fits(list, page []plan.File, count int) bool {
	if len(list) != count || !look.Distinct(list) || look.RenamesWithoutOld(list) {
		return false
	}
	kinds := make(map[string]plan.Change, len(list))
	for _, f := range list {
		kinds[f.Path] = f.Kind
	}
	for _, f := range page {
		if kinds[f.Path] != f.Kind {
			return false
		}
	}
	return true
}

// readList reads the whole list by REST. REST answers for the head of the moment, which may be another by now, so the list
// counts only if it names the head it is about or fits the page; otherwise the pull request stays incomplete.
func (l *observation) readList(ctx context.Context, p *plan.Pull, raw *rawPull) error {
	var list []plan.File
	bytes := 0
	for page := 1; page > 0 && page <= maxListed/client.PerPage; {
		var some []look.RestChange
		var err error
		if page, err = l.Client.GetPage(ctx, l.PageURL(page, "pulls/%d/files", p.Number), &some); err != nil {
			return fmt.Errorf("list files: %w", err)
		}
		files, ok := look.RestFiles(some, p.Head)
		list = append(list, files...)
		bytes += listBytes(files)
		switch {
		case !ok:
			return nil // fail closed: of another head, or of a kind that is not known
		case bytes > maxListBytes: // it stays incomplete
			if p.MergeBase != "" {
				keptLists.Put(l.Memory, listKey{p.MergeBase, p.Head}, fileList{long: true})
			}
			return nil
		}
	}
	if len(list) == 0 { // fail closed: it is read because there are some
		return client.Wrap(ctx, "list files", client.Empty())
	}
	if !fits(list, p.Files, raw.ChangedFiles) {
		return nil // fail closed: the pull request stays incomplete
	}
	p.Files, p.Complete = list, true
	if p.MergeBase != "" {
		keptLists.Put(l.Memory, listKey{p.MergeBase, p.Head}, fileList{files: slices.Clone(p.Files)})
	}
	l.hasWholeList(p)
	return nil
}
