package graph

// Variables is what Flux fills in for variables in what a Kustomization makes, as far as it is known: of `substitute` and of what `substituteFrom` names.
type Variables struct {
	Values  map[string]string
	Unknown map[string]bool // that are set, and to what is not known or not shown: they are encrypted, too long, or stand in a Secret
	Open    bool            // any other variable may be set as well
}

// Variables is what Flux fills in for variables in what the Kustomization makes.
func (k *Kustomization) Variables() Variables {
	if k.vars == nil {
		return Variables{Values: k.Substitute, Open: len(k.SubstituteFrom) > 0}
	}
	unknown := map[string]bool{}
	for name := range k.vars.secret {
		unknown[name] = true
	}
	for name := range k.vars.hidden {
		unknown[name] = true
	}
	return Variables{k.vars.values, unknown, k.vars.open}
}

// None reports whether Flux would fill in nothing.
func (v Variables) None() bool { return len(v.Values)+len(v.Unknown) == 0 && !v.Open }

// Expand fills variables into a text as Flux would, as far as their values are known. Where it would become longer than any name or path
// that matters here, it stays as it is.
func (v Variables) Expand(s string) string {
	return expand(s, &variables{values: v.Values, hidden: v.Unknown, open: v.Open})
}
