package flux

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	deploy "github.com/sluicegate/sluice/deploy/flux"
)

// understood is what stands in the schemas of Flux's CRDs. False: it is no demand on an object, or one that is looked at
// elsewhere. A keyword that is not here fails the test, for it might demand something.
var understood = map[string]bool{
	"type": true, "properties": true, "required": true, "additionalProperties": true, "items": true, "enum": true,
	"pattern": true, "minimum": true, "minLength": true, "maxLength": true, "minItems": true,
	"description": false, "default": false,
	"format":                     false, // of status fields alone, which nobody writes
	"x-kubernetes-list-type":     false, // of oidcProviders alone
	"x-kubernetes-list-map-keys": false,
	"x-kubernetes-validations":   false, // TestRulesInCEL
}

// schemas are the CRDs' schemas by apiVersion and kind, made strict: no object has a field that its schema does not name.
type schemas struct {
	kinds map[string]*jsonschema.Schema
	cel   map[string]string // message of each rule in CEL: the kind and where it stands
}

// of refuses what fits no schema.
func (s schemas) validate(o object) error {
	kind := o.text("apiVersion") + " " + o.text("kind")
	schema, ok := s.kinds[kind]
	if !ok {
		return fmt.Errorf("%q is no kind that these CRDs serve", kind)
	}
	return schema.Validate(map[string]any(o))
}

// load reads every CRD beside this file.
func load(t *testing.T) schemas {
	t.Helper()
	out := schemas{kinds: map[string]*jsonschema.Schema{}, cel: map[string]string{}}
	files, err := fs.Glob(os.DirFS("crds"), "*.yaml")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(path.Join("crds", name))
		if err != nil {
			t.Fatal(err)
		}
		crds, err := decode(data)
		if err != nil || len(crds) != 1 {
			t.Fatal(name, err)
		}
		out.add(t, crds[0])
	}
	return out
}

// add compiles each version that a CRD serves.
func (s schemas) add(t *testing.T, crd object) {
	t.Helper()
	kind := crd.text("spec", "names", "kind")
	for _, v := range crd.at("spec", "versions").([]any) {
		version := object(v.(map[string]any))
		if version.at("served") != true {
			continue
		}
		full := crd.text("spec", "group") + "/" + version.text("name") + " " + kind
		schema := version.at("schema", "openAPIV3Schema").(map[string]any)
		if err := s.strict(schema, kind); err != nil {
			t.Fatal(err)
		}
		schema["properties"].(map[string]any)["metadata"] = metadata()
		schema["required"] = []any{"apiVersion", "kind", "metadata", "spec"}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("crd.json", schema); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile("crd.json")
		if err != nil {
			t.Fatal(err)
		}
		s.kinds[full] = compiled
	}
}

// strict closes every object of a schema to fields that it does not name, in place.
func (s schemas) strict(schema map[string]any, at string) error {
	for k := range schema {
		if _, ok := understood[k]; !ok {
			return fmt.Errorf("%s: the keyword %s is not understood", at, k)
		}
	}
	rules, _ := schema["x-kubernetes-validations"].([]any)
	for _, r := range rules {
		s.cel[object(r.(map[string]any)).text("message")] = at
	}
	if schema["type"] == "object" && schema["additionalProperties"] == nil {
		schema["additionalProperties"] = false
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		if err := s.strict(p.(map[string]any), at+"."+name); err != nil {
			return err
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if sub, ok := schema[k].(map[string]any); ok {
			if err := s.strict(sub, at+"[]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// metadata is as much of every object's metadata as people write; the CRDs leave it to Kubernetes.
func metadata() map[string]any {
	name := map[string]any{"type": "string", "pattern": `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`, "maxLength": 253}
	texts := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	return map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"name", "namespace"},
		"properties": map[string]any{"name": name, "namespace": name, "labels": texts, "annotations": texts},
	}
}

// manifests are the Flux objects by file: of the sample, and beside it.
func manifests(t *testing.T) map[string][]object {
	t.Helper()
	out := map[string][]object{}
	from := os.DirFS("../../deploy/flux")
	for _, p := range paths(t, from) {
		if path.Ext(p) != ".yaml" {
			continue
		}
		data, err := fs.ReadFile(from, p)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(data)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		for _, o := range objects {
			if strings.Contains(o.text("apiVersion"), ".toolkit.fluxcd.io/") {
				out[p] = append(out[p], o)
			}
		}
	}
	return out
}

func TestFluxObjectsFitTheirSchemas(t *testing.T) {
	s, n := load(t), 0
	for file, objects := range manifests(t) {
		for _, o := range objects {
			n++
			if err := s.validate(o); err != nil {
				t.Errorf("%s: %s: %v", file, o.name(), err)
			}
			if o.text("metadata", "namespace") != "flux-system" {
				t.Errorf("%s: %s is not in flux-system", file, o.name())
			}
		}
	}
	if n != 10 {
		t.Errorf("%d Flux objects, want 10: has a file or an apiVersion lost its name?", n)
	}
}

// TestBadManifestsFail: what the test above is for, on the manifests themselves.
func TestBadManifestsFail(t *testing.T) {
	s := load(t)
	for _, bad := range []struct{ file, from, to string }{
		{"sources.yaml", "branch: main", "brunch: main"},
		{"sources.yaml", "interval: 1m", "intervall: 1m"},
		{"sources.yaml", "interval: 1m", "interval: 1 minute"},
		{"sources.yaml", "toolkit.fluxcd.io/v1\n", "toolkit.fluxcd.io/v1beta9\n"},
		{"sources.yaml", "kind: GitRepository", "kind: GitRepositry"},
		{"sources.yaml", "  url: ssh:", "  url: git:"},
		{"sources.yaml", "  namespace: flux-system", "  namespce: flux-system"},
		{"sources.yaml", "spec:", "specs:"},
		{"kustomizations.yaml", "prune: true", "prune: yes please"},
		{"kustomizations.yaml", "  prune: true\n", ""},
		{"kustomizations.yaml", "readyExpr:", "readyExpression:"},
		{"kustomizations.yaml", "kind: GitRepository", "kind: GitRepositry"},
		{"receiver.yaml", "type: github", "type: github-app"},
		{"receiver.yaml", "kind: GitRepository", "kind: Gitrepository"},
		{"report.yaml", "commitStatusExpr:", "commitStatusExpression:"},
		{"report.yaml", "eventSeverity: info", "eventSeverity: warning"},
		{"report.yaml", "v1beta3", "v1"},
	} {
		data, err := fs.ReadFile(deploy.Sample(), "clusters/cluster-1/flux/"+bad.file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), bad.from) {
			t.Errorf("%s: no %q in it", bad.file, bad.from)
			continue
		}
		objects, err := decode([]byte(strings.ReplaceAll(string(data), bad.from, bad.to)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(objects, func(o object) bool { return s.validate(o) != nil }) {
			t.Errorf("%s: %q instead of %q fits", bad.file, bad.to, bad.from)
		}
	}
}

// TestRulesInCEL: rules that no schema can say are written in CEL, which is not evaluated here. Each is named, so that a new
// one is seen, and those that our objects could break are looked at.
func TestRulesInCEL(t *testing.T) {
	s := load(t)
	want := []string{
		"exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified", // of two rules; we set no kubeConfig
		"generic-oidc receivers must define at least one oidcProvider",                               // we have none
		"oidcProviders can only be set when type is generic-oidc",
		"secretRef cannot be set when type is generic-oidc",
		"secretRef is required when type is not generic-oidc",                // below
		"serviceAccountName can only be set when provider is 'azure'",        // we set none
		"spec.commitStatusExpr is only supported for the 'github', 'gitlab'", // below
	}
	got := slices.Sorted(maps.Keys(s.cel))
	if len(got) != len(want) {
		t.Errorf("%d rules in CEL, want %d: %q", len(got), len(want), got)
	}
	for i := range min(len(got), len(want)) {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("a rule in CEL that is not known: %q at %s", got[i], s.cel[got[i]])
		}
	}
	for file, objects := range manifests(t) {
		for _, o := range objects {
			for _, field := range []string{"kubeConfig", "oidcProviders", "serviceAccountName", "provider"} {
				if o.at("spec", field) != nil {
					t.Errorf("%s: %s sets %s, of which a rule in CEL speaks", file, o.name(), field)
				}
			}
			if o.text("kind") == "Receiver" && o.text("spec", "secretRef", "name") == "" {
				t.Errorf("%s: %s has no secretRef", file, o.name())
			}
			if o.at("spec", "commitStatusExpr") != nil && o.text("spec", "type") != "github" {
				t.Errorf("%s: %s has commitStatusExpr, and is not of type github", file, o.name())
			}
		}
	}
}
