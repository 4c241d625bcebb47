package layout

import (
	"slices"
	"strings"
)

// variant is one way to write out the alternations and limits of a glob.
type variant struct {
	text  string            // what is left of the glob: a limited capture stands in it without its limits
	fixed map[string]string // what those captures stand for
}

// alternatives writes out the alternations {a,b} and the limited captures {name:a,b} of a glob, also those across slashes and within
// each other. A name that is limited stands for the same wherever it occurs. Other braces without a comma are captures and stay.
func alternatives(glob string) ([]variant, *globError) {
	var out []variant
	todo := []variant{{text: glob}}
	for len(todo) > 0 {
		v := todo[0]
		todo = todo[1:]
		b, err := firstBraces(glob, v.text)
		if err != nil {
			return nil, err
		}
		if len(b.options) == 0 {
			out = append(out, v)
		}
		todo = append(b.write(v), todo...)
		if len(out)+len(todo) > MaxAlternatives {
			return nil, &globError{codeTooMany, wordsTooManyAlternatives(glob)}
		}
	}
	if len(out) == 0 {
		return nil, badGlob(glob, "the limits of a capture that is used twice have no name in common")
	}
	return out, nil
}

// braces is an alternation, or a limited capture, within a text.
type braces struct {
	open, end int      // where its braces stand
	name      string   // of the capture; "": it is an alternation
	options   []string // none: there are no such braces
}

// write is v with these braces written out, once for each option. Options that v rules out are left out.
func (b braces) write(v variant) []variant {
	var out []variant
	for _, option := range b.options {
		next := variant{fixed: v.fixed}
		if was, ok := v.fixed[b.name]; b.name != "" {
			if ok && was != option {
				continue
			}
			next.fixed = map[string]string{b.name: option}
			for name, value := range v.fixed {
				next.fixed[name] = value
			}
			option = "{" + b.name + "}"
		}
		next.text = v.text[:b.open] + option + v.text[b.end+1:]
		out = append(out, next)
	}
	return out
}

// firstBraces finds the first alternation or limited capture of text.
func firstBraces(glob, text string) (braces, *globError) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(text[i:])
		case '}':
			return braces{}, badGlob(glob, "a } closes nothing; write \\} for the character")
		case '{':
			end, options := braceEnd(text[i:])
			if end < 0 {
				return braces{}, badGlob(glob, "a { does not end; write \\{ for the character")
			}
			end += i
			if name, limits, ok := strings.Cut(text[i+1:end], ":"); ok && captureName(name) {
				values, err := limitsOf(glob, name, limits)
				return braces{i, end, name, values}, err
			}
			if len(options) > 1 {
				return braces{i, end, "", options}, nil
			}
			if strings.ContainsAny(text[i+1:end], "{/") {
				return braces{}, badGlob(glob, "braces without a comma are a capture, and hold one name")
			}
			i = end
		}
	}
	return braces{}, nil
}

// limitsOf is the names that a limited capture may stand for.
func limitsOf(glob, name, limits string) ([]string, *globError) {
	out := strings.Split(limits, ",")
	for i, limit := range out {
		switch {
		case limit == "" || limit != strings.TrimSpace(limit) || strings.ContainsAny(limit, `{}[]*?/\`):
			return nil, badGlob(glob, "a capture is limited to names that are written out, as in {env:prod,stg}; "+shown("{"+name+":"+limits+"}")+" is not")
		case slices.Contains(out[:i], limit):
			return nil, badGlob(glob, "the limits of "+shown("{"+name+"}")+" name "+shown(limit)+" twice")
		}
	}
	return out, nil
}

// braceEnd is the index of the brace that closes the one at the start of text, negative if there is none, and what the commas between
// the two part.
func braceEnd(text string) (end int, options []string) {
	depth, start := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(text[i:])
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i, append(options, text[start:i])
			}
		case ',':
			if depth == 1 {
				options, start = append(options, text[start:i]), i+1
			}
		}
	}
	return -1, nil
}

// classesEnd reports whether every bracket of a glob that opens a class is closed. Then it is in all that is written out: alternations part
// none, and limits have no brackets.
func classesEnd(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			n := classEnd(glob[i:])
			if n < 0 {
				return false
			}
			i += n
		}
	}
	return true
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
