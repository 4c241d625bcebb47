package graph

import (
	"encoding/json"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Made is what a directory makes of objects as it is read, with what a Flux Kustomization adds, each as JSON by its name, and what is not known of them.
func Made(t *Tree, dir string, adds *Kustomization) (objects map[string]string, unsure []manifest.Problem, err error) {
	r := t.newWalk().result(dir, adds)
	objects = map[string]string{}
	for _, d := range r.Docs {
		if d.Gone {
			continue
		}
		var v any
		if err := d.Node.YAML().Decode(&v); err != nil {
			return nil, nil, err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		ref := kustomize.ID(d)
		objects[ref.Kind+" "+ref.Namespace+"/"+ref.Name] = string(text)
	}
	return objects, r.Unsure, nil
}
