package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of a segment.
type token struct {
	kind   tokenKind
	text   string // of tokenText
	name   string // of tokenOne: it and the tokenMany after it are the capture of this name
	ranges []span // of tokenClass
	negate bool   // of tokenClass: it matches what is not in ranges
}

type tokenKind int

const (
	tokenText  tokenKind = iota // these bytes
	tokenOne                    // `?`: one character
	tokenMany                   // `*`: any number of characters
	tokenClass                  // `[a-z]`
)

// span is the characters from lo to hi, both included.
type span struct{ lo, hi rune }

// matcher matches one segment of a path against tokens. Most of them are PREFIX*SUFFIX, which needs no walk.
type matcher struct {
	tokens         []token
	prefix, suffix string
	affix          bool   // PREFIX*SUFFIX or PREFIX?*SUFFIX and nothing else
	least          int    // characters that must stand between
	inner          string // the longest other text, which stands somewhere between
}

// newMatcher compiles tokens.
func newMatcher(tokens []token) *matcher {
	m := &matcher{tokens: tokens}
	if t := tokens[0]; t.kind == tokenText {
		m.prefix = t.text
	}
	if t := tokens[len(tokens)-1]; t.kind == tokenText {
		m.suffix = t.text
	}
	inner := tokens
	if m.prefix != "" {
		inner = inner[1:]
	}
	if m.suffix != "" && len(inner) > 0 {
		inner = inner[:len(inner)-1]
	}
	for _, t := range inner {
		if len(t.text) > len(m.inner) {
			m.inner = t.text
		}
		if t.kind == tokenOne || t.kind == tokenClass {
			m.least++
		}
	}
	n := len(inner)
	m.affix = n > 0 && inner[n-1].kind == tokenMany && (n == 1 || n == 2 && inner[0].kind == tokenOne)
	return m
}

// match reports whether the tokens match the whole of name.
func (m *matcher) match(name string, w *work) bool {
	if len(name) < len(m.prefix)+len(m.suffix)+m.least || !strings.HasPrefix(name, m.prefix) || !strings.HasSuffix(name, m.suffix) {
		return false
	}
	if m.affix {
		return true
	}
	if w.spent(2) || !strings.Contains(name[len(m.prefix):len(name)-len(m.suffix)], m.inner) {
		return false
	}
	return m.walk(name, w)
}

// covers reports whether m matches whatever o matches, where fixed text at both ends shows it: it is false where it may still do so.
func (m *matcher) covers(o *matcher) bool {
	return m.affix && strings.HasPrefix(o.prefix, m.prefix) && strings.HasSuffix(o.suffix, m.suffix) &&
		len(o.prefix)+len(o.suffix)+o.least >= len(m.prefix)+len(m.suffix)+m.least
}

// walk matches token by token. On a mismatch it goes back to the last star and lets that take one character more, which
// is enough: an earlier star never needs to take more than it has.
func (m *matcher) walk(name string, w *work) bool {
	at, i := 0, 0
	starAt, starI := -1, 0
	for !w.spent(1) {
		if at < len(m.tokens) && m.tokens[at].kind == tokenMany {
			starAt, starI = at, i
			at++
			continue
		}
		if at == len(m.tokens) && i == len(name) {
			return true
		}
		if at < len(m.tokens) {
			if n := m.tokens[at].matchPrefix(name[i:]); n > 0 {
				at, i = at+1, i+n
				continue
			}
		}
		if starAt < 0 || starI == len(name) {
			return false
		}
		_, n := utf8.DecodeRuneInString(name[starI:])
		starI += n
		at, i = starAt+1, starI
	}
	return false
}

// matchPrefix is how many bytes at the start of name the token matches; 0: it does not. A byte that is no UTF-8 is one character.
func (t *token) matchPrefix(name string) int {
	if t.kind == tokenText {
		if strings.HasPrefix(name, t.text) {
			return len(t.text)
		}
		return 0
	}
	if name == "" {
		return 0
	}
	r, n := utf8.DecodeRuneInString(name)
	if t.kind == tokenClass && !t.has(r) {
		return 0
	}
	return n
}

// has reports whether a class holds r.
func (t *token) has(r rune) bool {
	for _, s := range t.ranges {
		if s.lo <= r && r <= s.hi {
			return !t.negate
		}
	}
	return t.negate
}

// tokenizer cuts a segment into tokens.
type tokenizer struct {
	glob, text string
	fixed      map[string]string

	out      []token
	names    []string        // of captures, in order
	identity strings.Builder // the text with `?*` for each capture: what matches alike may be written alike
	run      strings.Builder // of the text so far that no token holds
}

func (t *tokenizer) add(tokens ...token) {
	if t.run.Len() > 0 {
		t.out = append(t.out, token{kind: tokenText, text: t.run.String()})
		t.run.Reset()
	}
	t.out = append(t.out, tokens...)
}

// tokenize cuts the whole segment.
func (t *tokenizer) tokenize() *globError {
	for i := 0; i < len(t.text); i++ {
		start := i
		switch c := t.text[i]; c {
		case '\\':
			i++ // split has seen that something follows
			t.run.WriteByte(t.text[i])
		case '*':
			t.add()
			if n := len(t.out); n == 0 || t.out[n-1].kind != tokenMany {
				t.add(token{kind: tokenMany})
			} else if n > 1 && t.out[n-2].name != "" {
				return t.unclear()
			}
		case '?':
			t.add(token{kind: tokenOne})
		case '[':
			n := classEnd(t.text[i:])
			class, err := parseClass(t.glob, t.text[i+1:i+n])
			if err != nil {
				return err
			}
			t.add(class)
			i += n
		case '{':
			end, _ := braceEnd(t.text[i:])
			i += end
			if err := t.capture(t.text[start+1 : i]); err != nil {
				return err
			}
			continue
		default:
			t.run.WriteByte(c)
		}
		t.identity.WriteString(t.text[start : i+1])
	}
	t.add()
	return nil
}

// capture adds a capture, or what it is fixed to.
func (t *tokenizer) capture(name string) *globError {
	if !captureName(name) {
		return badGlob(t.glob, shown("{"+name+"}")+" is not a capture: a name is letters, digits, _ and -")
	}
	t.names = append(t.names, name)
	if value, ok := t.fixed[name]; ok {
		t.run.WriteString(value)
		t.identity.WriteString(value)
		return nil
	}
	t.add()
	if n := len(t.out); n > 0 && t.out[n-1].kind == tokenMany {
		return t.unclear()
	}
	t.add(token{kind: tokenOne, name: name}, token{kind: tokenMany})
	t.identity.WriteString("?*")
	return nil
}

// unclear is the error of a capture beside another one or a star.
func (t *tokenizer) unclear() *globError {
	return &globError{codeCaptureUnclear, wordsCaptureUnclear(t.text, t.glob)}
}

// parseClass reads what stands between the brackets of a class.
func parseClass(glob, text string) (token, *globError) {
	t := token{kind: tokenClass}
	if text != "" && (text[0] == '!' || text[0] == '^') {
		t.negate, text = true, text[1:]
	}
	if text == "" {
		return t, badGlob(glob, "a [class] is empty")
	}
	for text != "" {
		var s span
		s.lo, text = classRune(text)
		s.hi = s.lo
		if len(text) > 1 && text[0] == '-' {
			s.hi, text = classRune(text[1:])
		}
		if s.hi < s.lo {
			return t, badGlob(glob, "a [class] has a range that runs backwards")
		}
		t.ranges = append(t.ranges, s)
	}
	return t, nil
}

// classRune is the first character of a class, escaped or not, and what follows it.
func classRune(text string) (rune, string) {
	if text[0] == '\\' {
		text = text[1:] // classEnd has seen that something follows
	}
	r, n := utf8.DecodeRuneInString(text)
	return r, text[n:]
}

// fold is a token that matches in lower case what t matches in any case, and perhaps more.
func (t token) fold() token {
	out := t
	out.text = strings.ToLower(t.text)
	if t.kind != tokenClass {
		return out
	}
	if t.negate {
		// Fail closed: a windowed rule takes too many near misses rather than too few.
		return token{kind: tokenOne}
	}
	out.ranges = nil
	for _, s := range t.ranges {
		out.ranges = append(out.ranges, s, span{unicode.ToLower(s.lo), unicode.ToLower(s.hi)}, span{unicode.ToUpper(s.lo), unicode.ToUpper(s.hi)})
	}
	return out
}

// fold is the pattern in lower case, for near misses.
func (p *pattern) fold() *pattern {
	out := *p
	out.repeats = false
	out.segments = make([]segment, 0, len(p.segments))
	for _, s := range p.segments {
		switch s.kind {
		case literal:
			s.text = strings.ToLower(s.text)
		case wildcard:
			tokens := make([]token, 0, len(s.glob.tokens))
			for _, t := range s.glob.tokens {
				tokens = append(tokens, t.fold())
			}
			s.glob = newMatcher(tokens)
		}
		out.segments = append(out.segments, s)
	}
	return &out
}
