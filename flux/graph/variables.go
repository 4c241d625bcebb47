package graph

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Variables is what Flux fills in for variables in what a Kustomization makes, as far as it is known: of `substitute` and of what `substituteFrom` names.
type Variables struct {
	Values  map[string]string
	Unknown map[string]bool // that are set, and to what is not known or not shown: they are encrypted, too long, or stand in a Secret
	Open    bool            // any other variable may be set as well

	secret map[string]string // of Secrets, among those that are unknown
}

// Variables is what Flux fills in for variables in what the Kustomization makes.
func (k *Kustomization) Variables() Variables {
	if k.vars == nil {
		return Variables{Values: k.Substitute, Open: len(k.SubstituteFrom) > 0}
	}
	return *k.vars
}

// variablesOf collects variables as Flux does: those of the objects of substituteFrom, of which later ones win, then those that the
// Kustomization itself holds. What an object may say that stands in no file, nil, or that was not read whole, is not known, nor what it may override.
func variablesOf(t *Tree, own map[string]string, from []*thing) Variables {
	v := Variables{Values: map[string]string{}, Unknown: map[string]bool{}, secret: map[string]string{}}
	put := func(key, value string, unknown bool, into map[string]string) {
		delete(v.Values, key)
		delete(v.secret, key)
		delete(v.Unknown, key)
		value = strings.ReplaceAll(value, "\n", "")
		long := len(value) > MaxAlias
		if unknown || long {
			v.Unknown[key] = true
		}
		if into != nil && !long {
			into[key] = value
		}
	}
	for _, c := range from {
		var values map[string]string
		if c != nil {
			values = c.values(t)
		}
		if c == nil || c.unread {
			v.Open = true
			for key := range v.Values {
				v.Unknown[key] = true
			}
			clear(v.Values)
			clear(v.secret)
		}
		if c == nil {
			continue
		}
		for key, value := range values {
			if c.Kind == "Secret" {
				put(key, value, true, v.secret)
			} else {
				put(key, value, false, v.Values)
			}
		}
		for key := range c.hidden {
			put(key, "", true, nil)
		}
	}
	for key, value := range own {
		put(key, value, false, v.Values)
	}
	return v
}

// none reports whether Flux would fill in nothing.
func (v *Variables) none() bool { return v == nil || len(v.Values)+len(v.Unknown) == 0 && !v.Open }

// Expand fills variables into a text as Flux would, as far as their values are known and short; others stay as they are. A value is not looked
// at again, and where all of them together would be longer than any name or path that matters here, none is filled in.
func (v *Variables) Expand(s string) string {
	if v.none() || !strings.Contains(s, "${") || len(s) > maxExpanded {
		return s
	}
	if out := v.fill(s, 0); len(out) <= maxExpanded {
		return out
	}
	return s
}

// expandLines fills variables into a text of any length, line by line; ok is false where a line, or all of them, would be too long.
func (v *Variables) expandLines(s string) (text string, ok bool) {
	if v.none() || !strings.Contains(s, "${") {
		return s, true
	}
	var out strings.Builder
	for line := range strings.Lines(s) {
		if out.WriteString(v.Expand(line)); out.Len() > 8*len(s) || len(line) > maxExpanded && strings.Contains(line, "${") {
			return s, false
		}
	}
	return out.String(), true
}

// maxExpanded is how long a text with its variables may be, and what one of them stands for, in bytes.
const maxExpanded = 4 * MaxAlias

// fill fills in what stands in a text. ${X}, which nothing sets, stays too, where Flux would put nothing: a path without it leads elsewhere.
func (v *Variables) fill(s string, depth int) string {
	var out strings.Builder
	for s != "" && out.Len() <= maxExpanded {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i:]
		end := closing(s)
		switch {
		case strings.HasPrefix(s, "$${"):
			out.WriteString("${")
			s = s[3:]
		case !strings.HasPrefix(s, "${") || end < 0:
			out.WriteByte('$')
			s = s[1:]
		default:
			if value, ok := v.eval(s[2:end], depth); ok {
				out.WriteString(value)
			} else {
				out.WriteString(s[:end+1])
			}
			s = s[end+1:]
		}
	}
	out.WriteString(s)
	return out.String()
}

// closing is where the brace that a text begins with ends; -1: nowhere.
func closing(s string) int {
	open := 0
	for i := range len(s) {
		switch {
		case s[i] == '{' && i > 0 && s[i-1] == '$':
			open++
		case s[i] == '}':
			if open--; open <= 0 {
				return i
			}
		}
	}
	return -1
}

// expression takes apart what stands between the braces.
var expression = regexp.MustCompile(`^(#?)([A-Za-z_][A-Za-z0-9_]*)(?:(:?=|:[-?+]|:|\^\^?|,,?|##?|%%?|//|/#|/%|/)((?s:.*)))?$`)

// eval is the value of an expression; ok is false if it is not known.
func (v *Variables) eval(text string, depth int) (value string, ok bool) {
	m := expression.FindStringSubmatch(text)
	if m == nil || depth > MaxNested {
		return "", false
	}
	value, set := v.Values[m[2]]
	op, arg := m[3], m[4]
	if !set && (v.Unknown[m[2]] || v.Open) {
		return "", false // nobody knows whether it is set, or to what
	}
	if strings.Contains(arg, "${") {
		arg = v.fill(arg, depth+1)
	}
	switch {
	case m[1] != "":
		return strconv.Itoa(len(value)), set && op == ""
	case op == "=" || len(op) == 2 && op[0] == ':':
		if value == "" {
			value = arg
		}
		return value, !strings.Contains(value, "${")
	case !set:
		return "", false
	}
	value, ok = shape(value, op, arg)
	return value, ok && len(value) <= maxExpanded
}

// shape does to a value what an operator says; ok is false if it is not known here.
func shape(value, op, arg string) (string, bool) {
	switch op {
	case "":
		return value, true
	case "^^":
		return strings.ToUpper(value), arg == ""
	case ",,":
		return strings.ToLower(value), arg == ""
	case "^", ",":
		first, n := utf8.DecodeRuneInString(value)
		to := unicode.ToUpper
		if op == "," {
			to = unicode.ToLower
		}
		return string(to(first)) + value[n:], arg == "" && value != ""
	case ":":
		return part(value, arg)
	case "#", "##":
		return strings.TrimPrefix(value, arg), !strings.ContainsAny(arg, `*?[\`)
	case "%", "%%":
		return strings.TrimSuffix(value, arg), !strings.ContainsAny(arg, `*?[\`)
	}
	from, to, _ := strings.Cut(arg, "/")
	rest := value
	switch op {
	case "/":
		rest = strings.Replace(value, from, to, 1)
	case "//":
		rest = strings.ReplaceAll(value, from, to)
	case "/#":
		if after, found := strings.CutPrefix(value, from); found {
			rest = to + after
		}
	case "/%":
		if before, found := strings.CutSuffix(value, from); found {
			rest = before + to
		}
	}
	return rest, from != "" && !strings.Contains(arg, `\`)
}

// part is what ${X:POSITION} and ${X:POSITION:LENGTH} stand for.
func part(value, arg string) (string, bool) {
	from, length, limited := strings.Cut(arg, ":")
	start, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil {
		return "", false
	}
	if start < 0 {
		start = max(0, len(value)+start)
	}
	value = value[min(start, len(value)):]
	if !limited {
		return value, true
	}
	n, err := strconv.Atoi(strings.TrimSpace(length))
	if err != nil {
		return "", false
	}
	if n < 0 {
		n = max(0, len(value)+n)
	}
	return value[:min(n, len(value))], true
}

// unfilled is the name of the first variable that a text still has; "" if there is none.
func unfilled(s string) string {
	_, rest, found := strings.Cut(s, "${")
	if !found {
		return ""
	}
	rest = strings.TrimPrefix(rest, "#")
	return rest[:min(len(rest), max(1, len(variableName.FindString(rest))))]
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// disabled reports whether an object says that nothing is to be filled in.
func (d *doc) disabled() bool {
	const key = fluxKustomize + "/substitute"
	return scalar(at(d.node, "metadata", "annotations", key)) == "disabled" || scalar(at(d.node, "metadata", "labels", key)) == "disabled"
}

// encrypted reports whether a value is what SOPS makes of one.
func encrypted(value string) bool { return strings.HasPrefix(value, "ENC[") }

// decoded is a value of a Secret's data.
func decoded(value string) (string, bool) {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	return string(text), err == nil && utf8.Valid(text) && !slices.Contains(text, 0)
}
