package config

import "strings"

// Nearest gives the word that somebody who wrote a wrong one most likely meant, or "". Flags, commands and settings are mistyped as keys are.
func Nearest(word string, words []string) string {
	if len(word) > 64 {
		return "" // nobody mistypes that; and the distance takes time in proportion to the length
	}
	best, at := "", 3 // further apart than two edits is another word
	for _, w := range words {
		d := distance(strings.ToLower(word), w)
		if d < at && 2*d < len(w) {
			best, at = w, d
		}
	}
	return best
}

// distance counts the edits (a character more, less, other, or two swapped) that turn one word into the other.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
