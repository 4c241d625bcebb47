package graph

// Expand fills variables into a text as Flux would, as far as their values are known. Where it would become longer than any name or path
// that matters here, it stays as it is.
func Expand(s string, vars map[string]string) string { return expand(s, &variables{values: vars}) }
