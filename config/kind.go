package config

import (
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// kind is one kind of value in the file: how it is read into the place it was made for, and what the JSON Schema says of
// it. The tables of keys in keys.go are made of kinds; decoder, schema and documentation are all kept to those tables.
//
// Where a kind was made for a place that holds something already, that is the default.
type kind struct {
	read   func(r *report, n *yaml.Node)
	schema schema
}

// schema is a piece of JSON Schema.
type schema map[string]any

// key is one key of a section.
type key struct {
	name     string
	required bool
	value    kind
}

// text is any text that is not empty.
func text[T ~string](into *T) kind { return checked(into, anyText) }

// anyText accepts every text.
func anyText(string) (says, bool) { return says{}, true }

// checked is a text that check accepts; check says what is wrong with one that it does not.
func checked[T ~string](into *T, check func(string) (says, bool)) kind {
	s := schema{"type": "string", "minLength": 1, "maxLength": MaxText}
	if *into != "" {
		s["default"] = string(*into)
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		word, ok := scalar(r, n, wantText, "!!str")
		if !ok {
			return
		}
		if problem, ok := check(word); !ok {
			r.fail(of(n), problem)
			return
		}
		*into = T(word)
	}}
}

// pattern adds a regular expression to a kind's schema.
func (k kind) pattern(expression string) kind {
	k.schema["pattern"] = expression
	return k
}

// atMost says in a kind's schema how long its text may be, where another package refuses longer ones.
func (k kind) atMost(length int) kind {
	k.schema["maxLength"] = length
	return k
}

// choice is one of several words.
func choice[T ~string](into *T, words ...T) kind {
	k := checked(into, func(word string) (says, bool) { return oneOf(word, words) })
	k.schema = schema{"enum": Strings(words)}
	if *into != "" {
		k.schema["default"] = string(*into)
	}
	return k
}

// either is one of two words, kept as whether it is the first.
func either(into *bool, yes, no string) kind {
	word := no
	if *into {
		word = yes
	}
	k := choice(&word, yes, no)
	choose := k.read
	k.read = func(r *report, n *yaml.Node) {
		choose(r, n)
		*into = word == yes
	}
	return k
}

// number is a whole number in decimal.
func number(into *int, from, to int) kind {
	s := schema{"type": "integer", "minimum": from, "maximum": to}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		digits, ok := scalar(r, n, wantNumber, "!!int")
		if !ok {
			return
		}
		value, err := strconv.Atoi(digits)
		if err != nil || value < from || value > to {
			r.fail(of(n), outOfRange(digits, from, to))
			return
		}
		*into = value
	}}
}

// boolean is true or false.
func boolean(into *bool) kind {
	return kind{schema: schema{"type": "boolean", "default": *into}, read: func(r *report, n *yaml.Node) {
		word, ok := scalar(r, n, wantFlag, "!!bool")
		if ok {
			*into = word[0] == 't' || word[0] == 'T' // the library calls true, True and TRUE a bool, nothing else with a T
		}
	}}
}

// duration is a length of time as Go writes it.
func duration(into *time.Duration, from, to time.Duration) kind {
	return durationOf(wantDuration, into, from, to)
}

// durationOf is a duration whose errors say what is wanted in these words.
func durationOf(want string, into *time.Duration, from, to time.Duration) kind {
	s := schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	if *into != 0 {
		s["default"] = short(*into)
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		word, ok := scalar(r, n, want, "!!str")
		if !ok {
			return
		}
		value, err := time.ParseDuration(word)
		switch {
		case err != nil:
			r.fail(of(n), badDuration(word, want))
		case value < from || value > to:
			r.fail(of(n), durationRange(word, from, to))
		default:
			*into = value
		}
	}}
}

// bounds is how many items a list or section may have.
type bounds struct{ from, to int }

// list is a list of items of one kind.
func list[T any](into *[]T, size bounds, item func(*T) kind) kind {
	var sample T
	s := schema{"type": "array", "maxItems": size.to, "items": item(&sample).schema}
	if size.from > 0 {
		s["minItems"] = size.from
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		if !isKind(r, n, yaml.SequenceNode, wantList) || !fits(r, n, len(n.Content), size) {
			return
		}
		*into = make([]T, len(n.Content))
		for i, child := range n.Content {
			r.within(i, func() { item(&(*into)[i]).read(r, child) })
		}
	}}
}

// named is a section whose keys are names that people choose; name puts the key into the item.
func named[T any](into *[]T, size bounds, name func(*T) kind, item func(*T) kind) kind {
	var sample T
	s := schema{
		"type": "object", "maxProperties": size.to,
		"propertyNames": name(&sample).schema, "additionalProperties": item(&sample).schema,
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		if !isKind(r, n, yaml.MappingNode, wantSection) || !fits(r, n, len(n.Content)/2, size) {
			return
		}
		*into = make([]T, len(n.Content)/2)
		for i := range *into {
			k, value := n.Content[2*i], n.Content[2*i+1]
			if k.Tag == "!!str" { // else inspect has said what is wrong with it
				name(&(*into)[i]).read(r, k)
			}
			r.within(k.Value, func() { item(&(*into)[i]).read(r, value) })
		}
	}}
}

// section is a section with known keys.
func section(keys ...key) kind {
	properties, required := schema{}, []string{}
	for _, k := range keys {
		properties[k.name] = k.value.schema
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return kind{schema: s, read: func(r *report, n *yaml.Node) {
		if isKind(r, n, yaml.MappingNode, wantSection) {
			readKeys(r, n, keys)
		}
	}}
}

// readKeys reads the values of a section. Of a key that occurs twice, which inspect has refused, the last one counts.
func readKeys(r *report, n *yaml.Node, keys []key) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode || name.Tag != "!!str" || magic(name) {
			continue // inspect has said what is wrong with it
		}
		k, known := findKey(keys, name.Value)
		if !known {
			r.fail(of(name), unknownKey(name.Value, keys))
			continue
		}
		r.within(k.name, func() { k.value.read(r, n.Content[i+1]) })
	}
	for _, k := range keys {
		if _, value := child(n, k.name); k.required && value == nil {
			r.fail(of(n), missingKey(k.name))
		}
	}
}

func findKey(keys []key, name string) (key, bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// scalar gives the text of a single value that the YAML library took for one of a tag, or reports the wrong type.
func scalar(r *report, n *yaml.Node, want, tag string) (string, bool) {
	switch {
	case magic(n):
		return "", false
	case n.Kind != yaml.ScalarNode || n.Tag != tag:
		r.fail(of(n), wrongType(n, want))
		return "", false
	case n.Value == "":
		r.fail(of(n), emptyText())
		return "", false
	}
	return n.Value, true
}

func isKind(r *report, n *yaml.Node, k yaml.Kind, want string) bool {
	if magic(n) {
		return false
	}
	if n.Kind != k {
		r.fail(of(n), wrongType(n, want))
		return false
	}
	return true
}

func fits(r *report, n *yaml.Node, length int, size bounds) bool {
	if length > size.to {
		r.fail(of(n), tooMany(length, size.to))
		return false
	}
	if length < size.from {
		r.fail(of(n), tooFew())
		return false
	}
	return true
}

// Strings is words of a type of their own as texts.
func Strings[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
