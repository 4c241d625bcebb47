package layout

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// globError is what is wrong with a glob or a release.
type globError struct{ code, message string }

func (e *globError) Error() string { return e.message }

// Glob is one compiled glob without captures, for names that are no paths of a layout, such as branches: the same dialect.
type Glob struct{ patterns []*pattern }

// ParseGlob compiles a glob. The error says what is wrong in words for people.
func ParseGlob(text string) (*Glob, error) {
	ps, err := compilePlain(text)
	if err != nil {
		return nil, err
	}
	return &Glob{ps}, nil
}

// compilePlain compiles a glob that must have no captures.
func compilePlain(text string) ([]*pattern, *globError) {
	ps, err := compileGlob(text)
	for _, p := range ps {
		if len(p.captures) > 0 {
			return nil, &globError{codeBadGlob, wordsNoCaptureHere(p.captures[0])}
		}
	}
	return ps, err
}

// Literal is the pattern that matches a name alone.
func Literal(name string) string {
	var b strings.Builder
	for i, c := range name {
		if strings.ContainsRune(`\*?[]{},`, c) || i == 0 && c == '!' {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Match reports whether the glob matches the whole name. A name with an empty segment matches nothing.
func (g *Glob) Match(name string) bool {
	segments := strings.Split(name, "/")
	if slices.Contains(segments, "") || len(segments) > maxSegments {
		return false
	}
	w := work(math.MaxInt) // one glob, and names of one segment or few
	return slices.ContainsFunc(g.patterns, func(p *pattern) bool { return p.matches(segments, &w) })
}

// pattern is a glob with its alternations written out: one sequence of segments.
type pattern struct {
	segments []segment
	captures []string          // names, in order of first appearance
	fixed    map[string]string // what limited captures stand for: they stand in segments as that
	repeats  bool              // another capture stands twice: what it stands for must be equal
	names    dirs              // the protected directories that the pattern writes out
	path     int               // index in its rule's Paths
	text     string            // of its rule, for people
	written  int               // its length in bytes
	folded   *pattern          // in lower case; of a path after a ! alone
}

// segment is one segment of a pattern.
type segment struct {
	kind segmentKind
	text string   // literal: what it matches; wildcard: as written with `?*` for a capture, its identity; capture: its name
	glob *matcher // of kind wildcard

	names []string // of the captures in it that are not limited
}

type segmentKind int

const (
	literal  segmentKind = iota
	wildcard             // `*-rw`, `a?c`, `[ab]`, `{name}.yaml`
	anyOne               // `*`
	capture              // `{name}`
	anyMany              // `**`
)

// compileGlob compiles one glob into the patterns that it stands for.
func compileGlob(text string) ([]*pattern, *globError) {
	switch {
	case text == "":
		return nil, &globError{codeEmptyGlob, wordsEmptyGlob}
	case len(text) > MaxGlob:
		return nil, &globError{codeTooMany, wordsGlobTooLong(len(text))}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable):
		return nil, badGlob(text, "it has a character that cannot be printed")
	case text[0] == '/':
		return nil, &globError{codeAbsolute, wordsAbsolute(text)}
	case text[0] == '!':
		return nil, badGlob(text, "a ! takes paths out only once, and of a rule; write \\! for the character")
	}
	if !classesEnd(text) {
		return nil, badGlob(text, "a [class] does not end")
	}
	plain, err := alternatives(text)
	if err != nil {
		return nil, err
	}
	out := make([]*pattern, 0, len(plain))
	for _, one := range plain {
		p, err := compilePattern(text, one)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// compilePattern compiles one way to write out the glob's alternations and limits.
func compilePattern(glob string, v variant) (*pattern, *globError) {
	parts, err := split(glob, v.text)
	if err != nil {
		return nil, err
	}
	if len(parts) > MaxDepth {
		return nil, &globError{codeTooMany, wordsGlobTooDeep(glob)}
	}
	p := &pattern{fixed: v.fixed, written: len(v.text)}
	for _, part := range parts {
		s, names, err := compileSegment(glob, part, v.fixed)
		if err != nil {
			return nil, err
		}
		if s.kind == anyMany && len(p.segments) > 0 && p.segments[len(p.segments)-1].kind == anyMany {
			continue // `**/**` is `**`
		}
		for _, name := range names {
			if !slices.Contains(p.captures, name) {
				p.captures = append(p.captures, name)
			} else if _, fixed := v.fixed[name]; !fixed {
				p.repeats = true
			}
		}
		p.segments = append(p.segments, s)
	}
	p.names = p.named()
	return p, nil
}

// named is the protected directories that some literal segment of the pattern names.
func (p *pattern) named() dirs {
	var out dirs
	for _, s := range p.segments {
		if s.kind == literal {
			out |= protectedDir(s.text)
		}
	}
	return out
}

// split cuts a pattern into its segments.
func split(glob, text string) ([]string, *globError) {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '/':
			parts = append(parts, text[start:i])
			start = i + 1
		case '\\':
			i++
			if i == len(text) || text[i] == '/' {
				return nil, badGlob(glob, "a backslash escapes nothing")
			}
		case '[':
			n := classEnd(text[i:]) // compileGlob has seen that it ends
			if strings.Contains(text[i:i+n], "/") {
				return nil, badGlob(glob, "a [class] holds a slash")
			}
			i += n
		}
	}
	return append(parts, text[start:]), nil
}

// compileSegment compiles what stands between two slashes, and gives the names of the captures in it.
func compileSegment(glob, text string, fixed map[string]string) (s segment, names []string, err *globError) {
	switch {
	case text == "":
		return segment{}, nil, badGlob(glob, "it has an empty segment; for all that is below a directory write DIR/**")
	case text == "**":
		return segment{kind: anyMany}, nil, nil
	case strings.Trim(text, "*") == "":
		return segment{kind: anyOne}, nil, nil
	}
	t := tokenizer{glob: glob, text: text, fixed: fixed}
	if err := t.tokenize(); err != nil {
		return segment{}, nil, err
	}
	if len(t.out) == 1 && t.out[0].kind == tokenText {
		if name := t.out[0].text; name == "." || name == ".." {
			return segment{}, nil, &globError{codeDotDot, wordsDotDot(glob)}
		}
		return segment{kind: literal, text: t.out[0].text}, t.names, nil
	}
	s = segment{kind: wildcard, text: t.identity.String(), glob: newMatcher(t.out)}
	for _, token := range t.out {
		if token.name != "" {
			s.names = append(s.names, token.name)
		}
	}
	if len(s.names) == 1 && len(t.out) == 2 {
		s = segment{kind: capture, text: s.names[0], names: s.names}
	}
	return s, t.names, nil
}

// captureName reports whether name may name a capture.
func captureName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && strings.Trim(name, letters) == ""
}

// matches reports whether one segment of a path fits a segment that is not `**`.
func (s *segment) matches(name string, w *work) bool {
	switch s.kind {
	case literal:
		return s.text == name
	case wildcard:
		return s.glob.match(name, w)
	default:
		return true
	}
}
