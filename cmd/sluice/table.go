package main

import (
	"bufio"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxColumn is how wide a cell may make its column, in characters. A longer one makes its own line long, and none of the others: whoever names files would
// write a gigabyte by a few hundred kilobytes.
const maxColumn = 120

// table is rows of cells that stand below each other. The last cell of a row ends it.
type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// print writes the rows.
func (t table) print(to io.Writer) error {
	var widths []int
	for _, row := range t {
		for i, cell := range row[:len(row)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(cell); n <= maxColumn {
				widths[i] = max(widths[i], n)
			}
		}
	}
	w := bufio.NewWriter(to)
	for _, row := range t {
		last := len(row) - 1
		for i, cell := range row[:last] {
			fmt.Fprintf(w, "%-*s  ", widths[i], cell)
		}
		if _, err := fmt.Fprintln(w, row[last]); err != nil {
			return err
		}
	}
	return w.Flush()
}
