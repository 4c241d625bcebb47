package githubapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// walker compares data with the selections that asked for it.
type walker struct {
	schema   *ast.Schema
	vars     map[string]any
	problems []string
}

func (w *walker) errorf(path, format string, args ...any) {
	w.problems = append(w.problems, path+": "+fmt.Sprintf(format, args...))
}

// asked is one key of an object that a query may or must get.
type asked struct {
	field *ast.Field
	sub   ast.SelectionSet // of all fields under this key
	maybe bool             // only asked of some types, and the object's type is not known
}

// object checks a value against the selections on def, an object, interface or union.
func (w *walker) object(def *ast.Definition, set ast.SelectionSet, value any, path string) {
	data, ok := value.(map[string]any)
	if !ok {
		w.errorf(path, "is %T, want an object of type %s", value, def.Name)
		return
	}
	concrete := w.concrete(def, set, data)
	keys := map[string]*asked{}
	w.collect(set, concrete, false, keys)
	for key, a := range keys {
		got, present := data[key]
		if !present {
			if !a.maybe {
				w.errorf(path, "%q was asked for and is missing", key)
			}
			continue
		}
		w.value(a.field.Definition.Type, a, got, path+"."+key)
	}
	for key := range data {
		if keys[key] == nil {
			w.errorf(path, "%q was not asked for", key)
		}
	}
}

// concrete is the object's own type if it can be told: from def, or from what __typename says; else nil.
func (w *walker) concrete(def *ast.Definition, set ast.SelectionSet, data map[string]any) *ast.Definition {
	if def.Kind == ast.Object {
		return def
	}
	for _, sel := range set {
		f, ok := sel.(*ast.Field)
		if !ok || f.Name != "__typename" {
			continue
		}
		name, ok := data[f.Alias].(string)
		if found := w.schema.Types[name]; ok && found != nil && slices.Contains(w.schema.GetPossibleTypes(def), found) {
			return found
		}
	}
	return nil
}

// collect gathers the keys of set that an object of type concrete gets; with concrete nil, those it may get.
func (w *walker) collect(set ast.SelectionSet, concrete *ast.Definition, maybe bool, keys map[string]*asked) {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if !w.included(sel.Directives) {
				continue
			}
			a := keys[sel.Alias]
			if a == nil {
				a = &asked{field: sel, maybe: maybe}
				keys[sel.Alias] = a
			}
			a.maybe = a.maybe && maybe
			a.sub = append(a.sub, sel.SelectionSet...)
		case *ast.InlineFragment:
			w.fragment(sel.TypeCondition, sel.Directives, sel.SelectionSet, concrete, maybe, keys)
		case *ast.FragmentSpread:
			w.fragment(sel.Definition.TypeCondition, sel.Directives, sel.Definition.SelectionSet, concrete, maybe, keys)
		}
	}
}

func (w *walker) fragment(on string, dirs ast.DirectiveList, set ast.SelectionSet, concrete *ast.Definition, maybe bool, keys map[string]*asked) {
	if !w.included(dirs) {
		return
	}
	if on == "" {
		w.collect(set, concrete, maybe, keys)
		return
	}
	if concrete == nil {
		w.collect(set, nil, true, keys)
		return
	}
	if slices.Contains(w.schema.GetPossibleTypes(w.schema.Types[on]), concrete) {
		w.collect(set, concrete, maybe, keys)
	}
}

func (w *walker) included(dirs ast.DirectiveList) bool {
	if d := dirs.ForName("skip"); d != nil && d.ArgumentMap(w.vars)["if"] == true {
		return false
	}
	if d := dirs.ForName("include"); d != nil && d.ArgumentMap(w.vars)["if"] != true {
		return false
	}
	return true
}

func (w *walker) value(t *ast.Type, a *asked, value any, path string) {
	if value == nil {
		if t.NonNull {
			w.errorf(path, "is null, but the type is %s", t)
		}
		return
	}
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			w.errorf(path, "is %T, want a list", value)
			return
		}
		for i, v := range list {
			w.value(t.Elem, a, v, fmt.Sprintf("%s[%d]", path, i))
		}
		return
	}
	def := w.schema.Types[t.NamedType]
	if def == nil {
		return // __typename and its like
	}
	switch {
	case def.IsCompositeType():
		w.object(def, a.sub, value, path)
	case def.Kind == ast.Enum:
		if name, ok := value.(string); !ok || def.EnumValues.ForName(name) == nil {
			w.errorf(path, "%v is no value of the enum %s", value, def.Name)
		}
	default:
		w.scalar(def.Name, value, path)
	}
}

var (
	sha40  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	absURL = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)
)

// scalar checks the scalars whose form GitHub's schema describes; the others pass.
func (w *walker) scalar(name string, value any, path string) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	_, isBool := value.(bool)
	ok := true
	switch name {
	case "Int":
		_, err := number.Int64()
		ok = isNumber && err == nil
	case "Float":
		ok = isNumber
	case "Boolean":
		ok = isBool
	case "String", "ID", "HTML", "BigInt", "Base64String":
		ok = isText
	case "GitObjectID":
		ok = isText && sha40.MatchString(text)
	case "DateTime", "PreciseDateTime", "GitTimestamp":
		_, err := time.Parse(time.RFC3339, text)
		ok = isText && err == nil
	case "URI":
		ok = isText && (absURL.MatchString(text) || strings.HasPrefix(text, "/"))
	}
	if !ok {
		w.errorf(path, "%v is no %s", value, name)
	}
}
