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

// variables is what an entry point fills in for variables.
type variables struct {
	values map[string]string
	secret map[string]string // of Secrets: they are never shown
	hidden map[string]bool   // encrypted, or too long
	open   bool              // an object that may hold any variable stands in no file
}

// variablesOf collects variables as Flux does: those of the objects of substituteFrom, of which later ones win, then those that the
// Kustomization itself holds. What one of the objects holds is known even where another one stands in no file.
func variablesOf(t *Tree, own map[string]string, from []*thing, missing bool) *variables {
	v := &variables{values: map[string]string{}, secret: map[string]string{}, hidden: map[string]bool{}, open: missing}
	put := func(into map[string]string, key, value string) {
		delete(v.values, key)
		delete(v.secret, key)
		delete(v.hidden, key)
		if value = strings.ReplaceAll(value, "\n", ""); len(value) > MaxAlias {
			v.hidden[key] = true
			return
		}
		into[key] = value
	}
	for _, c := range from {
		for key, value := range c.values(t) {
			into := v.values
			if c.Kind == "Secret" {
				into = v.secret
			}
			put(into, key, value)
		}
		for key := range c.hidden {
			put(v.values, key, "")
			delete(v.values, key)
			v.hidden[key] = true
		}
		v.open = v.open || c.unread
	}
	for key, value := range own {
		put(v.values, key, value)
	}
	return v
}

// none reports whether Flux would fill in nothing.
func (v *variables) none() bool {
	return v == nil || len(v.values)+len(v.secret)+len(v.hidden) == 0 && !v.open
}

// get is the value of a variable; set is false if nothing sets it, and known if it cannot be known whether something does, or to what.
func (v *variables) get(name string) (value string, set, known bool) {
	if value, ok := v.values[name]; ok {
		return value, true, true
	}
	if _, ok := v.secret[name]; ok || v.hidden[name] || v.open {
		return "", ok, false
	}
	return "", false, true
}

// expand fills in the variables that have a short value here; others stay as they are. A value is not looked at again, and where all of
// them together would be long, none is filled in.
func expand(s string, v *variables) string {
	if v.none() || !strings.Contains(s, "${") || len(s) > MaxAlias*4 {
		return s
	}
	if out := v.fill(s, 0); len(out) <= MaxAlias*4 {
		return out
	}
	return s
}

// fill fills in what stands in a text. ${X}, which nothing sets, stays too, where Flux would put nothing: a path without it leads elsewhere.
func (v *variables) fill(s string, depth int) string {
	var out strings.Builder
	for s != "" && out.Len() <= MaxAlias*4 {
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
func (v *variables) eval(text string, depth int) (value string, ok bool) {
	m := expression.FindStringSubmatch(text)
	if m == nil || depth > MaxNested {
		return "", false
	}
	value, set, known := v.get(m[2])
	op, arg := m[3], m[4]
	if !known {
		return "", false
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
	return shape(value, op, arg)
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
