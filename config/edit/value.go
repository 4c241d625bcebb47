package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// other is a scalar that is no text.
type other struct{ tag, text string }

// value is what a node says.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = value(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, child := range n.Content {
			out = append(out, value(child))
		}
		return out
	}
	if tag := n.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
		return other{tag, n.Value}
	}
	return n.Value
}

// plain is a value of JSON as [value] has it.
func plain(v any) any {
	switch v := v.(type) {
	case string, other:
		return v
	case bool:
		return other{"!!bool", fmt.Sprintf("%t", v)}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, field := range v {
			out[k] = plain(field)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	case nil:
		return other{"!!null", "null"}
	}
	text := fmt.Sprintf("%v", v)
	if strings.ContainsAny(text, ".eE") {
		return other{"!!float", text}
	}
	return other{"!!int", text}
}

// write writes a value on one line.
func write(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var out []string
		for _, k := range ordered(v, "from", "until") {
			out = append(out, text(k)+": "+write(v[k]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, write(item))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case other:
		return v.text
	}
	return text(fmt.Sprintf("%v", v))
}

// field is a key with its value on one line. What stands for a cron is in quotes, as it is everywhere.
func field(key string, v any) string {
	if s, ok := v.(string); ok && (key == "open" || key == "close") {
		return text(key) + ": " + quoted(s)
	}
	return text(key) + ": " + write(v)
}

// ordered is the keys of a section: some first, then the others.
func ordered(v map[string]any, first ...string) (out []string) {
	for _, k := range first {
		if _, has := v[k]; has {
			out = append(out, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(first, k) {
			out = append(out, k)
		}
	}
	return out
}

var safe = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9 ._/+:*-]*[A-Za-z0-9._/*])?$`)

// text is a text as YAML has it: without quotes where that means the same, in a list, too.
func text(s string) string {
	var doc yaml.Node
	if safe.MatchString(s) && yaml.Unmarshal([]byte("["+s+"]"), &doc) == nil {
		if list := doc.Content[0].Content; len(list) == 1 && list[0].Kind == yaml.ScalarNode && list[0].ShortTag() == "!!str" && list[0].Value == s {
			return s
		}
	}
	return quoted(s)
}

// quoted is a text in double quotes.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // a text of JSON is one of YAML
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// like is a value on one line in the quotes of the one whose place it takes.
func like(was *yaml.Node, v any) string {
	s, isText := v.(string)
	switch {
	case !isText || was.Kind != yaml.ScalarNode:
	case was.Style&yaml.DoubleQuotedStyle != 0:
		return quoted(s)
	case was.Style&yaml.SingleQuotedStyle != 0 && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' }):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return write(v)
}
