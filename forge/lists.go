package forge

import (
	"sync"

	"github.com/sluicegate/sluice/plan"
)

// Names are as long as strangers like, so lists of files are bounded by bytes: that of one pull request, and those of one look together.
// Of these the longest find no room, whoever came first. A pull request without its list counts as one of whose files not all are known.

const (
	// maxListBytes is how long a list may be: GitHub's 3,000 files with names of three hundred bytes.
	maxListBytes = 1 << 20
	// maxListsBytes is how long those of one look may be together: 5,000 pull requests of forty files each.
	maxListsBytes = 16 << 20
	// fileBytes is what a file takes beside its names.
	fileBytes = 48
)

// listBytes is how long a list is.
func listBytes(files []plan.File) int {
	sum := 0
	for _, f := range files {
		sum += fileBytes + len(f.Path) + len(f.Old)
	}
	return sum
}

// listRoom is who of a look's pull requests has a list. It is safe for concurrent use.
type listRoom struct {
	most  int // bytes
	mu    sync.Mutex
	sum   int
	lists map[int]roomyList // by the pull request's number
}

// roomyList is a list that found room.
type roomyList struct {
	bytes int
	drop  func()
}

// add gives a list room, and drops the longest as long as there are too many. Of two alike the younger pull request's is the longer.
func (r *listRoom) add(number, bytes int, drop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lists == nil {
		r.lists = map[int]roomyList{}
	}
	r.sum += bytes - r.lists[number].bytes
	r.lists[number] = roomyList{bytes, drop}
	for r.sum > r.most {
		longest := number
		for n := range r.lists {
			if r.longer(n, longest) {
				longest = n
			}
		}
		r.lists[longest].drop()
		r.sum -= r.lists[longest].bytes
		delete(r.lists, longest)
	}
}

func (r *listRoom) longer(a, b int) bool {
	x, y := r.lists[a].bytes, r.lists[b].bytes
	return x > y || x == y && a > b
}

// lacks reports whether there is certainly no room for a list: what is shorter leaves none.
func (r *listRoom) lacks(number, bytes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := bytes
	for n, l := range r.lists {
		if l.bytes < bytes || l.bytes == bytes && n < number {
			sum += l.bytes
		}
	}
	return sum > r.most
}

// rawFiles is a page's list of files.
type rawFiles struct {
	Nodes []rawFile
	bytes int // of Nodes, also where these found no room; 0: not counted yet
}

// dropped reports whether a list found no room.
func (f *rawFiles) dropped() bool { return f != nil && f.bytes > 0 && f.Nodes == nil }

// hasList gives the list of a pull request's details room among those of the look.
func (l *observation) hasList(raw *rawPull) {
	files := raw.Files
	if files == nil || files.dropped() {
		return
	}
	files.bytes = 0
	for _, f := range files.Nodes {
		files.bytes += fileBytes + len(f.Path)
	}
	drop := func() { files.Nodes = nil }
	if files.bytes > maxListBytes {
		drop()
		return
	}
	l.pageLists.add(raw.Number, files.bytes, drop)
}

// hasWholeList does the same with a list that was read apart from the page.
func (l *observation) hasWholeList(p *plan.Pull) {
	l.wholeLists.add(p.Number, listBytes(p.Files), func() {
		p.Files, _ = pageFiles(l.raws[p.Number])
		p.Complete = false
	})
}
