package flux

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// unknownFields lists the fields of one of Kubernetes' own objects that Kubernetes' schema, as kustomize carries it, does
// not know. Kinds that are not in it (Flux's) have none here: their own schemas are asked.
func unknownFields(o object) []string {
	schema := openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: o.text("apiVersion"), Kind: o.text("kind")})
	if schema == nil {
		if strings.Contains(o.text("apiVersion"), ".toolkit.fluxcd.io/") {
			return nil
		}
		return []string{"at all: the kind is not known"}
	}
	out := unknown(schema, map[string]any(o), "")
	slices.Sort(out)
	return out
}

func unknown(schema *openapi.ResourceSchema, v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, field := range v {
			s := schema.Field(k)
			if s == nil {
				out = append(out, at+"."+k)
				continue
			}
			out = append(out, unknown(s, field, at+"."+k)...)
		}
	case []any:
		s := schema.Elements()
		for _, item := range v {
			if s == nil {
				return append(out, at+"[]")
			}
			out = append(out, unknown(s, item, at+"[]")...)
		}
	}
	return out
}

func TestUnknownFields(t *testing.T) {
	const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, labels: {any: thing}}
spec:
  replica: 2
  template:
    spec:
      containers:
        - {name: nginx, imagee: nginx, ports: [{containerPort: 80}]}
`
	objects, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := unknownFields(objects[0]); !slices.Equal(got, []string{".spec.replica", ".spec.template.spec.containers[].imagee"}) {
		t.Error(got)
	}
	if got := unknownFields(object{"apiVersion": "apps/v2", "kind": "Deployment"}); len(got) != 1 {
		t.Error(got)
	}
}

// TestKubernetesManifests: what is applied with kubectl has no field that Kubernetes does not know.
func TestKubernetesManifests(t *testing.T) {
	kinds := 0
	for _, name := range []string{"sluice.yaml", "promote.yaml"} {
		data, err := os.ReadFile("../../deploy/kubernetes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, o := range objects {
			kinds++
			for _, bad := range unknownFields(o) {
				t.Errorf("%s: %s: no field %s", name, o.name(), bad)
			}
		}
	}
	if kinds != 6 {
		t.Errorf("%d objects", kinds)
	}
}
