package layout

import "math"

// trie is the patterns of many rules, merged where they begin alike. Captures stand in it as `*`.
type trie struct {
	root  *node
	nodes int
}

// node is what a pattern's first segments have led to.
type node struct {
	id       int
	best     int  // the lowest rule that ends here or below: nothing better can be found this way
	many     bool // reached by `**`: it stays, whatever segment comes
	literals map[string]*node
	globs    *globset // nil: none
	one      *node    // by `*` or a capture
	after    *node    // by `**`, which may be no segment at all
	ends     []*end
}

// end is a pattern that ends at a node.
type end struct {
	rule    int
	rank    int // of the pattern among all of the layout, in the order of the file
	pattern *pattern
	holds   bool // whatever it matches needs a window: protected paths too
	except  bool // its rule has paths taken out of it
}

// noRank is a rank beyond all others.
const noRank = math.MaxInt

func newTrie() *trie {
	t := &trie{}
	t.root = t.node()
	return t
}

func (t *trie) node() *node {
	t.nodes++
	return &node{id: t.nodes - 1, best: noRank}
}

// empty reports whether there is no pattern in it.
func (t *trie) empty() bool { return t.nodes == 1 }

// add adds a pattern. Patterns are added in the order of their ranks.
func (t *trie) add(e *end) {
	n := t.root
	n.best = min(n.best, e.rank)
	for i := range e.pattern.segments {
		n = t.step(n, &e.pattern.segments[i])
		n.best = min(n.best, e.rank)
	}
	n.ends = append(n.ends, e)
}

// step is the node that one more segment leads to.
func (t *trie) step(n *node, s *segment) *node {
	switch s.kind {
	case literal:
		to, ok := n.literals[s.text]
		if !ok {
			if n.literals == nil {
				n.literals = map[string]*node{}
			}
			to = t.node()
			n.literals[s.text] = to
		}
		return to
	case wildcard:
		e := n.globs.find(s.text)
		if e == nil {
			if n.globs == nil {
				n.globs = &globset{}
			}
			e = &edge{s.text, s.glob, t.node()}
			n.globs.add(e)
		}
		return e.to
	case anyMany:
		if n.after == nil {
			n.after = t.node()
			n.after.many = true
		}
		return n.after
	default:
		if n.one == nil {
			n.one = t.node()
		}
		return n.one
	}
}

// search is one walk of a path through a trie: all nodes that the segments so far may have led to, at once.
type search struct {
	*scratch
	path []string
	best *end
	rank int        // of best, or noRank
	each func(*end) // if set, every end that matches is given to it, and there is no best
	must dirs       // the directories that a pattern must name to match
}

// find is the first pattern, in the order of the file, that matches the path and names the directories that it must; nil: none does.
func (t *trie) find(s *scratch, path []string, must dirs) *end {
	w := search{scratch: s, path: path, rank: noRank, must: must}
	w.walk(t.root)
	return w.best
}

// each gives every end of every rule that matches the path, some perhaps twice.
func (t *trie) each(s *scratch, path []string, give func(*end)) {
	w := search{scratch: s, path: path, rank: noRank, each: give}
	w.walk(t.root)
}

// walk goes through the whole path.
func (w *search) walk(root *node) {
	w.next = w.next[:0]
	w.tick()
	w.enter(root)
	for _, name := range w.path {
		if len(w.next) == 0 {
			return
		}
		w.active, w.next = w.next, w.active[:0]
		w.tick()
		for _, n := range w.active {
			w.follow(n, name)
		}
	}
	for _, n := range w.next {
		w.accept(n)
	}
}

// tick begins a step: no node has been entered in it. When the count wraps around, what is left of old steps is cleared.
func (w *search) tick() {
	if w.step++; w.step == 0 {
		clear(w.seen)
		w.step = 1
	}
}

// follow goes on from n by one segment of the path.
func (w *search) follow(n *node, name string) {
	if n.best >= w.rank {
		return // a lower one was found since n was entered
	}
	if n.many {
		w.enter(n)
	}
	if to, ok := n.literals[name]; ok {
		w.enter(to)
	}
	n.globs.follow(w, name)
	if n.one != nil {
		w.enter(n.one)
	}
}

// enter adds n to the nodes of the next step, and what `**` reaches from there without a segment.
func (w *search) enter(n *node) {
	if n.best >= w.rank || w.seen[n.id] == w.step || w.work.spent(1) {
		return
	}
	w.seen[n.id] = w.step
	w.next = append(w.next, n)
	if n.many {
		w.accept(n) // whatever follows, a `**` at the end takes it
	}
	if n.after != nil {
		w.enter(n.after)
	}
}

// accept takes the lowest pattern that ends at n, if it is lower than what was found before.
func (w *search) accept(n *node) {
	for _, e := range n.ends {
		if e.rank >= w.rank {
			return
		}
		if e.pattern.names&w.must != w.must || e.except && w.out[e.rule] == w.count {
			continue
		}
		if e.pattern.repeats && !e.pattern.matches(w.path, &w.work) {
			continue
		}
		if w.each != nil {
			w.each(e)
			continue
		}
		w.best, w.rank = e, e.rank
		return
	}
}
