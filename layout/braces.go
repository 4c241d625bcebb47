package layout

import "strings"

// alternatives writes out the alternations {a,b} of a glob, also those across slashes and within each other. Braces
// without a comma are captures and stay.
func alternatives(glob string) ([]string, *globError) {
	var out []string
	todo := []string{glob}
	for len(todo) > 0 {
		text := todo[0]
		todo = todo[1:]
		open, end, commas, err := alternation(glob, text)
		if err != nil {
			return nil, err
		}
		if len(commas) == 0 {
			out = append(out, text)
		}
		start := open + 1
		var written []string
		for _, comma := range commas {
			written = append(written, text[:open]+text[start:comma]+text[end+1:])
			start = comma + 1
		}
		todo = append(written, todo...)
		if len(out)+len(todo) > MaxAlternatives {
			return nil, &globError{codeTooMany, wordsTooManyAlternatives(glob)}
		}
	}
	return out, nil
}

// alternation finds the first alternation of text: where its braces stand, and its commas, the closing brace as the last
// of them. No commas: there is no alternation.
func alternation(glob, text string) (open, end int, commas []int, err *globError) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(text[i:]); n > 0 {
				i += n
			}
		case '}':
			return 0, 0, nil, badGlob(glob, "a } closes nothing; write \\} for the character")
		case '{':
			end := braceEnd(text[i:])
			if end < 0 {
				return 0, 0, nil, badGlob(glob, "a { does not end; write \\{ for the character")
			}
			end += i
			if commas := commasOf(text, i, end); len(commas) > 0 {
				return i, end, append(commas, end), nil
			}
			if strings.ContainsAny(text[i+1:end], "{/") {
				return 0, 0, nil, badGlob(glob, "braces without a comma are a capture, and hold one name")
			}
			i = end
		}
	}
	return 0, 0, nil, nil
}

// braceEnd is the index of the brace that closes the one at the start of text; negative: there is none.
func braceEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(text[i:]); n > 0 {
				i += n
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// commasOf is the indices of the commas that part the alternatives between the braces at open and end.
func commasOf(text string, open, end int) []int {
	var out []int
	depth := 0
	for i := open + 1; i < end; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(text[i:]); n > 0 {
				i += n
			}
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// classEnd is the index of the bracket that closes the one at the start of text; negative: there is none.
func classEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}
