package look

import (
	"reflect"
	"time"
)

// Sizes are found by reflection, so that no field can be forgotten. What several values share, such as a text that GitHub sent once, is
// counted for each: a size is too large rather than too small.

const (
	textOverhead = 8  // of a text, by which allocations are rounded up
	mapOverhead  = 64 // of a map beside its slots
	leastSlots   = 8  // of a map
)

// sizer counts the bytes that a value points to, each pointer once.
type sizer struct{ seen map[uintptr]bool }

// sizeOf is how many bytes of memory a value points to.
func sizeOf(v reflect.Value) int { return (&sizer{}).beyond(v) }

// beyond is what lies behind a value: what the value itself takes is part of whatever holds it.
func (s *sizer) beyond(v reflect.Value) int {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			return 0
		}
		return v.Len() + textOverhead
	case reflect.Pointer:
		return s.behind(v)
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return int(v.Elem().Type().Size()) + s.beyond(v.Elem())
	case reflect.Struct:
		sum := 0
		for i := range v.NumField() {
			sum += s.beyond(v.Field(i))
		}
		return sum
	case reflect.Slice:
		return v.Cap()*int(v.Type().Elem().Size()) + s.elements(v)
	case reflect.Array:
		return s.elements(v)
	case reflect.Map:
		return s.entries(v)
	}
	return 0
}

// behind is what a pointer leads to. Zones are the program's own.
func (s *sizer) behind(v reflect.Value) int {
	if v.IsNil() || v.Type() == reflect.TypeFor[*time.Location]() || s.seen[v.Pointer()] {
		return 0
	}
	if s.seen == nil {
		s.seen = map[uintptr]bool{}
	}
	s.seen[v.Pointer()] = true
	return int(v.Type().Elem().Size()) + s.beyond(v.Elem())
}

func (s *sizer) elements(v reflect.Value) int {
	if flat(v.Type().Elem().Kind()) {
		return 0
	}
	sum := 0
	for i := range v.Len() {
		sum += s.beyond(v.Index(i))
	}
	return sum
}

func (s *sizer) entries(v reflect.Value) int {
	if v.IsNil() {
		return 0
	}
	slot := int(v.Type().Key().Size()+v.Type().Elem().Size()) + 1
	sum := mapOverhead + max(leastSlots, v.Len()*4/3)*slot
	for it := v.MapRange(); it.Next(); {
		sum += s.beyond(it.Key()) + s.beyond(it.Value())
	}
	return sum
}

// flat reports whether values of a kind point to nothing.
func flat(k reflect.Kind) bool { return k <= reflect.Complex128 }
