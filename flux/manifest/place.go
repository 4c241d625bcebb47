package manifest

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// Place is where something stands in the repository.
type Place struct {
	File string // relative to the root, with slashes
	Line int    // from 1
}

// String is the place as compilers print one; "" for no place.
func (p Place) String() string {
	if p.File == "" {
		return ""
	}
	file := p.File
	if strings.ContainsFunc(file, unicode.IsControl) {
		file = strconv.Quote(file)
	}
	return fmt.Sprintf("%s:%d", file, p.Line)
}

// Problem is something that was not read, and why.
type Problem struct {
	Place
	Text string
	// Refused: kustomize refuses it as well, so that Flux applies nothing of it. What stands behind any other problem is not known.
	Refused bool
	// Variable is the name of the variable whose value is not known, where that is the problem.
	Variable string
	// Of is the Flux Kustomization that alone may be made of more by it, as NAMESPACE/NAME; "": any may.
	Of string
}

// Cause is what problems of one kind have in common: the variable, or what is said before what is special of each.
func (p Problem) Cause() string {
	if p.Variable != "" {
		return p.Variable
	}
	if i := strings.IndexAny(p.Text, `:"`); i >= 0 {
		return p.Text[:i]
	}
	return p.Text
}

// String is the problem as compilers print one.
func (p Problem) String() string { return strings.TrimPrefix(p.Place.String()+": "+p.Text, ": ") }

// Ref names another object; without a namespace it is in the same one.
type Ref struct{ Kind, Namespace, Name string }

// String is kind, namespace and name, without what a terminal obeys.
func (r Ref) String() string {
	return Printable(r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
}

// Compare orders references by kind, namespace and name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}

// Statement is what is said of a field that may be absent, and where: by a patch or in the object itself.
type Statement struct {
	Value string // as written
	Place Place  // none: nothing says it
}

// Set reports whether anything says it.
func (s Statement) Set() bool { return s.Place.File != "" }

// Clean is a path of the repository as Flux reads it: whatever leads out of the tree is led back to its root.
func Clean(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}
