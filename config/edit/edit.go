// Package edit changes one window or freeze of the rules file, byte by byte: every line that an edit does not touch stays as it is, with its
// comments, its order and its style.
//
// An encoder would write the whole file anew. So the file's nodes say where things stand, and bytes are replaced there. Whether that was right is
// not left to the one who replaces: what comes out is parsed again, must be valid, and must say what was asked for and nothing else than before. Else
// there is no new file, but an error.
package edit

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/config"
)

// Section is where in the file an entry stands.
type Section string

// The sections that have entries with names.
const (
	Windows Section = "windows"
	Freezes Section = "freezes"
)

// keys are those of an entry in the order in which they are written; the schema has the same.
var keys = map[Section][]string{
	Windows: {"description", "open", "close", "duration", "nth", "dates", "timezone", "cutoff"},
	Freezes: {"name", "from", "until", "timezone", "windows", "reason"},
}

// Entry names a window or a freeze.
type Entry struct {
	Section Section
	Name    string
}

// Fields are an entry's, in the file's own words, as JSON has them: texts, numbers ([encoding/json.Number]), booleans, lists and sections. One that is nil is
// taken away.
type Fields map[string]any

// NoEntryError is the error of removing what the file does not have.
type NoEntryError struct{ Entry }

// Error implements error.
func (e *NoEntryError) Error() string {
	return fmt.Sprintf("there is no %s %q", strings.TrimSuffix(string(e.Section), "s"), e.Name)
}

// Invalid is the error of a file that would not be valid, or is not.
type Invalid struct {
	Findings []config.Finding // with lines and columns of Text
	Text     []byte
	Before   bool // it is the file before the edit
}

// Error implements error.
func (e *Invalid) Error() string {
	for _, f := range e.Findings {
		if f.IsError() {
			return fmt.Sprintf("%s would be invalid: line %d:%d: %s", config.File, f.Line, f.Column, f.Message)
		}
	}
	return config.File + " would be invalid"
}

// errByHand is the error of a file that is written in a way that no splice is known for.
func errByHand(line int) error {
	return fmt.Errorf("line %d cannot be edited automatically: edit it by hand", line)
}

// Set gives an entry the fields, and makes it if there is none of its name. Of one that is there the other fields stay, or go if the fields are the whole of it.
func Set(src []byte, e Entry, fields Fields, whole bool) ([]byte, error) {
	return run(src, e, func(f *file, was Fields) error {
		now := Fields{}
		if !whole {
			maps.Copy(now, was)
		}
		for k, v := range fields {
			if v == nil {
				delete(now, k)
			} else {
				now[k] = plain(v)
			}
		}
		if e.Section == Freezes {
			now["name"] = e.Name
		}
		f.want = now
		return f.set(e, was, now)
	})
}

// Remove takes an entry away, and with the last one its section.
func Remove(src []byte, e Entry) ([]byte, error) {
	return run(src, e, func(f *file, was Fields) error {
		if was == nil {
			return &NoEntryError{e}
		}
		return f.remove(e)
	})
}

// Get is the fields of an entry of a valid file; nil if there is none. They can be set as they are.
func Get(src []byte, e Entry) (Fields, error) {
	f, err := valid(src)
	if err != nil {
		return nil, err
	}
	was, _ := f.entry(e)
	return was, nil
}

// valid opens a file that is valid.
func valid(src []byte) (*file, error) {
	if policy, findings := config.Parse(src); policy == nil {
		return nil, &Invalid{findings, src, true}
	}
	return open(src)
}

// run edits a file that is valid into one that is, and says what was wanted.
func run(src []byte, e Entry, change func(f *file, was Fields) error) ([]byte, error) {
	f, err := valid(src)
	if err != nil {
		return nil, err
	}
	// YAML ends a line at a lone \r, too, and nothing else that counts lines does.
	if at := bytes.IndexByte(bytes.ReplaceAll(src, []byte("\r\n"), []byte(" \n")), '\r'); at >= 0 {
		return nil, errByHand(1 + bytes.Count(src[:at], []byte("\n")))
	}
	was, _ := f.entry(e)
	if err := change(f, was); err != nil {
		return nil, err
	}
	out := f.spliced()
	if policy, findings := config.Parse(out); policy == nil {
		return nil, &Invalid{findings, out, false}
	}
	if got, err := open(out); err != nil || !reflect.DeepEqual(value(got.root), f.wanted(e)) {
		return nil, errByHand(f.lineOf(e))
	}
	return out, nil
}

// entry is the fields of an entry, and its node; nil if there is none.
func (f *file) entry(e Entry) (Fields, *yaml.Node) {
	_, section := pair(f.root, string(e.Section))
	if section == nil {
		return nil, nil
	}
	var n *yaml.Node
	if e.Section == Windows {
		_, n = pair(section, e.Name)
	} else {
		i := slices.IndexFunc(section.Content, func(item *yaml.Node) bool { return nameOf(item) == e.Name })
		if i < 0 {
			return nil, nil
		}
		n = section.Content[i]
	}
	if n == nil {
		return nil, nil
	}
	fields, _ := value(n).(map[string]any)
	return fields, n
}

func nameOf(item *yaml.Node) string {
	if _, name := pair(item, "name"); name != nil {
		return name.Value
	}
	return ""
}

// wanted is what the file is to say.
func (f *file) wanted(e Entry) any {
	root := value(f.root).(map[string]any) //nolint:forcetypeassert // the file is valid
	switch section := root[string(e.Section)].(type) {
	case map[string]any:
		delete(section, e.Name)
		if f.want != nil {
			section[e.Name] = map[string]any(f.want)
		}
		if len(section) == 0 && !f.keeps {
			delete(root, string(e.Section))
		}
	case []any:
		i := slices.IndexFunc(section, func(v any) bool { m, _ := v.(map[string]any); return m["name"] == e.Name })
		switch {
		case i < 0:
			section = append(section, map[string]any(f.want))
		case f.want == nil:
			section = slices.Delete(section, i, i+1)
		default:
			section[i] = map[string]any(f.want)
		}
		root[string(e.Section)] = section
		if len(section) == 0 && !f.keeps {
			delete(root, string(e.Section))
		}
	default:
		if e.Section == Windows {
			root[string(e.Section)] = map[string]any{e.Name: map[string]any(f.want)}
		} else {
			root[string(e.Section)] = []any{map[string]any(f.want)}
		}
	}
	return root
}
