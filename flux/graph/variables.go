package graph

import (
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// Variables is what Flux fills in for variables in what the Kustomization makes.
func (k *Kustomization) Variables() manifest.Variables {
	if k.vars == nil {
		return manifest.Variables{Values: k.Substitute, Open: len(k.SubstituteFrom) > 0}
	}
	return *k.vars
}

// variablesOf collects variables as Flux does: those of the objects of substituteFrom, of which later ones win, then those that the
// Kustomization itself holds. What an object may say that stands in no file, nil, or that was not read whole, is not known, nor what it may override.
func variablesOf(t *Tree, own map[string]string, from []*thing) manifest.Variables {
	v := manifest.Variables{Values: map[string]string{}, Unknown: map[string]bool{}, Secret: map[string]string{}}
	put := func(key, value string, unknown bool, into map[string]string) {
		delete(v.Values, key)
		delete(v.Secret, key)
		delete(v.Unknown, key)
		value = strings.ReplaceAll(value, "\n", "")
		long := len(value) > manifest.MaxAlias
		if unknown || long {
			v.Unknown[key] = true
		}
		if into != nil && !long {
			into[key] = value
		}
	}
	for _, c := range from {
		var values map[string]string
		if c != nil {
			values = c.values(t)
		}
		if c == nil || c.unread {
			v.Open = true
			for key := range v.Values {
				v.Unknown[key] = true
			}
			clear(v.Values)
			clear(v.Secret)
		}
		if c == nil {
			continue
		}
		bytes := 0
		for _, value := range values {
			bytes += len(value)
		}
		if t.Hold(c.File, len(values)+len(c.hidden), bytes) { // each entry point has variables of its own
			v.Open = true
			return v
		}
		for key, value := range values {
			if c.Kind == "Secret" {
				put(key, value, true, v.Secret)
			} else {
				put(key, value, false, v.Values)
			}
		}
		for key := range c.hidden {
			put(key, "", true, nil)
		}
	}
	for key, value := range own {
		put(key, value, false, v.Values)
	}
	return v
}
