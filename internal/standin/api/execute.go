package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// arguments are those of one field, with their defaults.
type arguments map[string]any

func (a arguments) text(name string) string {
	s, _ := a[name].(string)
	return s
}

// number is an Int; one of a variable comes as JSON has it.
func (a arguments) number(name string) (n int, there bool) {
	switch v := a[name].(type) {
	case int64:
		return int(v), true
	case float64:
		return int(v), true
	}
	return 0, false
}

// resolver gives a field's value of an object: nil, what JSON has, an object of the next type, or a slice of these.
type resolver func(o any, a arguments) (any, error)

func of[T any](f func(o T) any) resolver {
	return func(o any, _ arguments) (any, error) { return f(o.(T)), nil }
}

func try[T, V any](f func(o T) (V, error)) resolver {
	return func(o any, _ arguments) (any, error) { return f(o.(T)) }
}

func ask[T, V any](f func(o T, a arguments) (V, error)) resolver {
	return func(o any, a arguments) (any, error) { return f(o.(T), a) }
}

// execution is one operation on its way: its answer is written as its fields are resolved, one after the other.
type execution struct {
	vars     map[string]any
	selected map[selectionKey][]*ast.Field
	out      bytes.Buffer
	errs     []object
}

// selectionKey names what is asked of an object of some type.
type selectionKey struct {
	kind string
	set  *ast.Selection
}

// object writes what is asked of an object, and reports whether it did: not if a field is missing that cannot be null.
func (x *execution) object(o any, kind string, set ast.SelectionSet, path []any) bool {
	start := x.out.Len()
	x.out.WriteByte('{') // of a union nothing may be asked: no fragment fits
	for i, f := range x.fieldsOf(kind, set) {
		if i > 0 {
			x.out.WriteByte(',')
		}
		x.out.WriteString(`"` + f.Alias + `":`)
		if !x.field(o, kind, f, append(path, f.Alias)) {
			x.out.Truncate(start)
			return false
		}
	}
	x.out.WriteByte('}')
	return true
}

func (x *execution) field(o any, kind string, f *ast.Field, path []any) bool {
	if f.Name == "__typename" {
		x.out.WriteString(`"` + kind + `"`)
		return true
	}
	resolve := fields[kind][f.Name]
	if strings.HasSuffix(kind, "Connection") {
		resolve = pageFields[f.Name]
	}
	v, err := resolve(o, f.ArgumentMap(x.vars))
	if err != nil {
		v = nil
		x.fail(err, f, path)
	}
	return x.value(v, f.Definition.Type, f.SelectionSet, path)
}

func (x *execution) fail(err error, f *ast.Field, path []any) {
	where := object{"line": f.Position.Line, "column": f.Position.Column}
	e := object{"message": err.Error(), "path": slices.Clone(path), "locations": []object{where}}
	var typed GraphQLError
	if errors.As(err, &typed) {
		e["type"] = typed.Type
	}
	x.errs = append(x.errs, e)
}

// value writes a value of a type, and reports whether it may stand: null may not where the type forbids it.
func (x *execution) value(v any, t *ast.Type, set ast.SelectionSet, path []any) bool {
	start, r := x.out.Len(), reflect.ValueOf(v)
	whole := r.IsValid() && (r.Kind() != reflect.Pointer || !r.IsNil())
	switch {
	case whole && t.Elem != nil:
		x.out.WriteByte('[')
		for i := 0; whole && i < r.Len(); i++ {
			if i > 0 {
				x.out.WriteByte(',')
			}
			whole = x.value(r.Index(i).Interface(), t.Elem, set, append(path, i))
		}
		x.out.WriteByte(']')
	case whole && len(set) > 0:
		whole = x.object(v, kindOf(v, t.NamedType), set, path)
	case whole:
		b, err := json.Marshal(v)
		whole = err == nil // plain values
		x.out.Write(b)
	}
	if !whole {
		x.out.Truncate(start)
		x.out.WriteString("null")
	}
	return whole || !t.NonNull
}

// fieldsOf lists the fields that are asked of an object, those of one name joined.
func (x *execution) fieldsOf(kind string, set ast.SelectionSet) []*ast.Field {
	key := selectionKey{kind, &set[0]}
	list, known := x.selected[key]
	if !known {
		list = collect(kind, set, nil, map[string]int{})
		x.selected[key] = list
	}
	return list
}

func collect(kind string, set ast.SelectionSet, list []*ast.Field, at map[string]int) []*ast.Field {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.InlineFragment:
			if fits(kind, s.TypeCondition) {
				list = collect(kind, s.SelectionSet, list, at)
			}
		case *ast.FragmentSpread:
			if fits(kind, s.Definition.TypeCondition) {
				list = collect(kind, s.Definition.SelectionSet, list, at)
			}
		case *ast.Field:
			i, twice := at[s.Alias]
			if !twice {
				at[s.Alias] = len(list)
				list = append(list, s)
				continue
			}
			both := *list[i]
			both.SelectionSet = slices.Concat(both.SelectionSet, s.SelectionSet)
			list[i] = &both
		}
	}
	return list
}

// fits reports whether an object of some type is what a fragment is about.
func fits(kind, condition string) bool {
	return condition == "" || slices.ContainsFunc(schema.PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == kind })
}
