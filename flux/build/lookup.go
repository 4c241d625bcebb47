package build

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"
)

// lookup is the tree as one entry's build looks at it. It keeps every question, also one that was answered by no: what is built can only differ where
// one of the answers does. So nothing that builds reads [files] itself, and nothing that was read for one entry answers for another one.
type lookup struct {
	tree  *files
	asked map[question]bool
}

// question is what is asked of a tree: one of the kinds, and a path.
type question string

// The kinds of questions.
const (
	askFile      = 'f' // which content a file has, if it is there and was read
	askDirectory = 'd' // whether there is a directory
	askList      = 'l' // what stands directly in a directory
)

func newLookup(tree *files) *lookup { return &lookup{tree, map[question]bool{}} }

func (l *lookup) ask(kind byte, name string) { l.asked[question(string(rune(kind))+name)] = true }

// questions is all that were asked, sorted.
func (l *lookup) questions() []question { return slices.Sorted(maps.Keys(l.asked)) }

// text is the content of a file; false: it is not there, or was not read.
func (l *lookup) text(name string) ([]byte, bool) {
	l.ask(askFile, name)
	text, ok := l.tree.text[name]
	return text, ok
}

// left reports whether a file is there and was not read.
func (l *lookup) left(name string) bool {
	l.ask(askFile, name)
	return l.tree.left[name]
}

// directory reports whether there is a directory.
func (l *lookup) directory(name string) bool {
	l.ask(askDirectory, name)
	return l.tree.dirs[name]
}

// list is what stands directly in a directory, sorted.
func (l *lookup) list(dir string) []string {
	l.ask(askList, dir)
	return l.tree.in[dir]
}

// sum is a hash.
type sum [sha256.Size]byte

// answers is what a tree answers to questions.
type answers struct {
	tree *files
	of   map[question]sum // those that were asked
}

func newAnswers(tree *files) *answers { return &answers{tree, map[question]sum{}} }

// digest is one hash for all answers to some questions: two trees that give the same one are the same to whoever asks only these.
func (a *answers) digest(questions []question) sum {
	h := sha256.New()
	for _, q := range questions {
		answer := a.answer(q)
		write(h, string(q), string(answer[:]))
	}
	return sum(h.Sum(nil))
}

func (a *answers) answer(q question) sum {
	if known, ok := a.of[q]; ok {
		return known
	}
	h := sha256.New()
	kind, name := byte(0), ""
	if len(q) > 0 {
		kind, name = q[0], string(q[1:])
	}
	switch kind {
	case askFile:
		if text, ok := a.tree.text[name]; ok {
			write(h, "text", string(text))
		} else if a.tree.left[name] {
			write(h, "left")
		}
	case askDirectory:
		if a.tree.dirs[name] {
			write(h, "yes")
		}
	case askList:
		write(h, a.tree.in[name]...)
	}
	a.of[q] = sum(h.Sum(nil))
	return a.of[q]
}

// write adds texts to a hash so that others in their place never give the same bytes.
func write(h io.Writer, texts ...string) {
	for _, t := range texts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
		_, _ = io.WriteString(h, t)
	}
}
