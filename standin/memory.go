package standin

import (
	"crypto/sha1" //nolint:gosec // git names its objects by it
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory is a repository without git, for tests that need thousands of them: see Options.Memory. Its objects are git's own, to the
// byte. It merges whole files where git merges lines, and knows a rename only by equal content.
type memory struct {
	mu      sync.Mutex
	objects map[string]gitObject
	refs    map[string]string
}

func newMemory() *memory { return &memory{objects: map[string]gitObject{}, refs: map[string]string{}} }

// put keeps an object and gives its name.
func (m *memory) put(kind string, data []byte) string {
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	sha := hex.EncodeToString(h.Sum(nil))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[sha] = gitObject{sha: sha, kind: kind, size: int64(len(data)), data: data}
	return sha
}

func (m *memory) get(sha string) gitObject {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[sha]
}

// find is what a name stands for, as far as the stand-in asks: an object, a ref, REV^{tree}, REV^{commit}, REV:PATH.
func (m *memory) find(name string) gitObject {
	name, at, deep := strings.Cut(name, ":")
	name, kind, peeled := strings.Cut(name, "^{")
	o := m.get(name)
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/"} {
		if o.sha == "" {
			o = m.get(m.tip(prefix + name))
		}
	}
	if o.kind == "commit" && (deep || kind == "tree}") {
		o = m.get(parseCommit(o.sha, string(o.data)).tree)
	}
	if peeled && o.kind+"}" != kind || deep && o.kind != "tree" {
		return gitObject{}
	}
	for part := range strings.SplitSeq(at, "/") {
		if part != "" {
			o = m.child(o, part)
		}
	}
	return o
}

func (m *memory) child(tree gitObject, name string) gitObject {
	entries, err := parseTree(tree.data)
	if err != nil || tree.kind != "tree" {
		return gitObject{}
	}
	for _, e := range entries {
		if e.path == name {
			return m.get(e.sha)
		}
	}
	return gitObject{}
}

func (m *memory) tip(ref string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refs[ref]
}

// list gives the refs below a prefix, by name.
func (m *memory) list(prefix string) []ref {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []ref
	for _, name := range slices.Sorted(maps.Keys(m.refs)) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, ref{name, m.refs[name]})
		}
	}
	return list
}

// move does all of them or none. Like git it has no ref below another.
func (m *memory) move(moves ...refMove) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := maps.Clone(m.refs)
	for _, one := range moves {
		if m.refs[one.name] != one.from {
			return fmt.Errorf("%w: %s", errMoved, one.name)
		}
		if delete(after, one.name); one.to != "" {
			after[one.name] = one.to
		}
	}
	for _, one := range moves {
		for other := range after {
			if one.to != "" && (strings.HasPrefix(other, one.name+"/") || strings.HasPrefix(one.name, other+"/")) {
				return fmt.Errorf("%w: %s and %s", errMoved, one.name, other)
			}
		}
	}
	m.refs = after
	return nil
}

// leaf is a file of a tree, a link or a submodule too.
type leaf struct{ mode, sha string }

// leaves are the files below a commit or tree, by path.
func (m *memory) leaves(rev string) map[string]leaf {
	all := map[string]leaf{}
	m.collect(all, "", m.find(rev+"^{tree}"))
	return all
}

func (m *memory) collect(all map[string]leaf, dir string, tree gitObject) {
	entries, err := parseTree(tree.data)
	if err != nil { // what it made itself can be read
		panic(err)
	}
	for _, e := range entries {
		if e.kind == "tree" {
			m.collect(all, dir+e.path+"/", m.get(e.sha))
		} else {
			all[dir+e.path] = leaf{e.mode, e.sha}
		}
	}
}

// plant makes the trees of files and gives the name of the uppermost.
func (m *memory) plant(all map[string]leaf) string {
	below := map[string]map[string]leaf{}
	lines := map[string]leaf{} // by what git sorts by: a directory's name ends in a slash
	for path, l := range all {
		dir, rest, deep := strings.Cut(path, "/")
		if !deep {
			lines[path] = l
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]leaf{}
		}
		below[dir][rest] = l
	}
	for dir, files := range below {
		lines[dir+"/"] = leaf{"40000", m.plant(files)}
	}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		raw, err := hex.DecodeString(lines[name].sha)
		if err != nil { // validated where they come in
			panic(err)
		}
		data = append(data, lines[name].mode+" "+strings.TrimSuffix(name, "/")+"\x00"...)
		data = append(data, raw...)
	}
	return m.put("tree", data)
}

// apply commits a change as git fast-import does.
func (m *memory) apply(c Change, refName, parent string, at time.Time) (string, error) {
	if _, err := importScript(c, refName, parent, at); err != nil { // it validates every path
		return "", err
	}
	all := map[string]leaf{}
	if parent != "" {
		all = m.leaves(parent)
	}
	for _, old := range slices.Sorted(maps.Keys(c.Move)) {
		moved := uproot(all, old)
		if len(moved) == 0 {
			return "", fmt.Errorf("move %q: %w", old, ErrNotFound)
		}
		uproot(all, c.Move[old])
		for path, l := range moved {
			graft(all, c.Move[old]+strings.TrimPrefix(path, old), l)
		}
	}
	for _, path := range c.Delete {
		uproot(all, path)
	}
	for path, text := range c.Write {
		graft(all, path, leaf{"100644", m.put("blob", []byte(text))})
	}
	for path, target := range c.Link {
		graft(all, path, leaf{"120000", m.put("blob", []byte(target))})
	}
	for path, sha := range c.Module {
		graft(all, path, leaf{"160000", sha})
	}
	who, message := ident{c.By, mailOf(c.By), at.UTC()}, c.Message
	if message == "" {
		message = "Change"
	}
	commit := newCommit{tree: m.plant(all), message: message, author: who, committer: who}
	if parent != "" {
		commit.parents = []string{parent}
	}
	sha := m.write(commit)
	return sha, m.move(refMove{refName, m.tip(refName), sha})
}

// uproot takes a file, or a whole directory, out.
func uproot(all map[string]leaf, path string) map[string]leaf {
	out := map[string]leaf{}
	for name, l := range all {
		if name == path || strings.HasPrefix(name, path+"/") {
			out[name] = l
			delete(all, name)
		}
	}
	return out
}

// graft puts a file in, in place of whatever stood in its way.
func graft(all map[string]leaf, path string, l leaf) {
	uproot(all, path)
	for name := range all {
		if strings.HasPrefix(path, name+"/") {
			delete(all, name)
		}
	}
	all[path] = l
}

// write makes a commit object.
func (m *memory) write(c newCommit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, who := range []struct {
		role string
		ident
	}{{"author", c.author}, {"committer", c.committer}} {
		fmt.Fprintf(&b, "%s %s <%s> %d %s\n", who.role, who.name, who.email, who.at.Unix(), who.at.Format("-0700"))
	}
	b.WriteString("\n" + c.message)
	return m.put("commit", []byte(b.String()))
}

// merge is the three-way merge of two commits, by whole files.
func (m *memory) merge(base, ours, theirs string) merged {
	if base == "" {
		return merged{conflict: true}
	}
	old, one, other := m.leaves(base), m.leaves(ours), m.leaves(theirs)
	all := maps.Clone(one)
	for path := range mapsUnion(old, other) {
		was, is := old[path], other[path]
		switch {
		case was == is || one[path] == is:
		case one[path] != was:
			return merged{conflict: true}
		case is == leaf{}:
			delete(all, path)
		default:
			all[path] = is
		}
	}
	for path := range all {
		for dir := parent(path); dir != ""; dir = parent(dir) {
			if all[dir] != (leaf{}) {
				return merged{conflict: true} // a file on one side, a directory on the other
			}
		}
	}
	return merged{tree: m.plant(all)}
}

func mapsUnion(a, b map[string]leaf) map[string]leaf {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// parent is the directory of a path; "" of one at the top.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// diff lists what changed between two commits.
func (m *memory) diff(from, to string) []fileChange {
	old, now := m.leaves(from), m.leaves(to)
	var list []fileChange
	gone := map[leaf][]string{}
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if now[path] == (leaf{}) {
			gone[old[path]] = append(gone[old[path]], path)
		}
	}
	moved := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		was, is := old[path], now[path]
		f := fileChange{path: path, status: "modified", blob: is.sha}
		switch {
		case was == is:
			continue
		case was == leaf{} && len(gone[is]) > 0:
			f.status, f.old = "renamed", gone[is][0]
			gone[is] = gone[is][1:]
			moved[f.old] = true
		case was == leaf{}:
			f.status = "added"
		case was.mode[:2] != is.mode[:2]:
			f.status = "changed"
		}
		list = append(list, f)
	}
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if now[path] == (leaf{}) && !moved[path] {
			list = append(list, fileChange{path: path, status: "removed", blob: old[path].sha})
		}
	}
	slices.SortFunc(list, func(a, b fileChange) int { return strings.Compare(a.path, b.path) })
	return list
}

// history is git rev-list: every ancestor by date, or those that made a path what it is.
func (m *memory) history(l logged) []string {
	var list []string
	seen := map[string]bool{l.sha: true}
	for queue := []*commit{m.commit(l.sha)}; len(queue) > 0; {
		c := queue[0]
		queue = queue[1:]
		parents, same := m.follow(c, l.path)
		if !same {
			list = append(list, c.sha)
		}
		for _, p := range parents {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, m.commit(p))
			}
		}
		slices.SortStableFunc(queue, func(a, b *commit) int { return b.committer.at.Compare(a.committer.at) })
	}
	return list
}

// follow tells where the history of a path goes on, and whether the commit changed nothing of it: git's simplification takes a
// parent that has the same, if there is one.
func (m *memory) follow(c *commit, path string) (parents []string, same bool) {
	if path == "" {
		return c.parents, false
	}
	mine := m.find(c.sha + ":" + path).sha
	for _, p := range c.parents {
		if m.find(p+":"+path).sha == mine {
			return []string{p}, true
		}
	}
	return c.parents, len(c.parents) == 0 && mine == ""
}

func (m *memory) commit(sha string) *commit { return parseCommit(sha, string(m.get(sha).data)) }
