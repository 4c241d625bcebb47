package gitremote

import (
	"bytes"
	"cmp"
	"slices"
)

// hunk is how a text was changed: the lines of it from one to before another one, and what stands there instead.
type hunk struct {
	from, to int
	with     [][]byte
}

// mergeTexts merges two changes of a text; ok is false where it is not certain how git does that. It is where each side changed one place, and what is
// around either place cannot be taken for anything else: it ends before and after with a line that is there once before and once after the change, or
// with the text, and a line that nobody changed is between the two. Whatever way to compare lines git takes then, it finds the changes within those
// places, and makes of them this text, or a conflict.
func mergeTexts(cost *account, name string, tip, before, head []byte) (text []byte, ok bool, err error) {
	n := bytes.Count(tip, newline) + bytes.Count(before, newline) + bytes.Count(head, newline)
	size := len(tip) + len(before) + len(head)
	if err := cost.hold(n, size, name); err != nil {
		return nil, false, err
	}
	defer cost.drop(n, size)
	was := linesOf(before)
	one, err := changeOf(cost, name, was, linesOf(tip))
	two, bad := changeOf(cost, name, was, linesOf(head))
	if one.from > two.from {
		one, two = two, one
	}
	if err = cmp.Or(err, bad); err != nil || one.to >= two.from {
		return nil, false, err
	}
	merged := slices.Concat(was[:one.from], one.with, was[one.to:two.from], two.with, was[two.to:])
	return bytes.Join(merged, nil), true, nil
}

var newline = []byte("\n")

// linesOf is the lines of a text, each with its end.
func linesOf(text []byte) [][]byte { return slices.Collect(bytes.Lines(text)) }

// changeOf is the place in which a text was changed, from a line that stands once in either to the next such line.
func changeOf(cost *account, name string, was, is [][]byte) (hunk, error) {
	times := map[string][2]int{}
	for i, lines := range [][][]byte{was, is} {
		for some := range slices.Chunk(lines, 1024) {
			if err := cost.compare(len(some), name); err != nil {
				return hunk{}, err
			}
			for _, line := range some {
				n := times[string(line)]
				n[i]++
				times[string(line)] = n
			}
		}
	}
	once := func(line []byte) bool { return times[string(line)] == [2]int{1, 1} }
	from, after, most := 0, 0, min(len(was), len(is))
	for from < most && bytes.Equal(was[from], is[from]) {
		from++
	}
	for after < most-from && bytes.Equal(was[len(was)-1-after], is[len(is)-1-after]) {
		after++
	}
	for from > 0 && !once(was[from-1]) {
		from--
	}
	for after > 0 && !once(was[len(was)-after]) {
		after--
	}
	return hunk{from, len(was) - after, is[from : len(is)-after]}, nil
}
