package graph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// fields is what a spec may say of the objects that decide what Flux reads, section by section: all versions of their APIs that kustomize-controller 1.10, source-controller 1.10
// and source-watcher 2.3 serve. A field of these that is not followed here is left out: that it decides nothing would be a guess.
var fields = map[string][]string{
	"Kustomization": strings.Fields("buildMetadata commonMetadata components decryption deletionPolicy dependsOn force healthCheckExprs healthChecks ignore" +
		" ignoreMissingComponents images interval kubeConfig namePrefix nameSuffix patches patchesJson6902 patchesStrategicMerge path postBuild prune" +
		" retryInterval serviceAccountName sourceRef suspend targetNamespace timeout validation wait"),
	"Kustomization.postBuild":                strings.Fields("substitute substituteFrom substituteStrategy"),
	"Kustomization.postBuild.substituteFrom": strings.Fields("kind name optional"),
	"Kustomization.sourceRef":                strings.Fields("apiVersion kind name namespace"),
	"GitRepository": strings.Fields("accessFrom gitImplementation ignore include interval provider proxySecretRef recurseSubmodules ref secretRef" +
		" serviceAccountName sparseCheckout suspend timeout url verify"),
	"GitRepository.include": strings.Fields("fromPath repository toPath"),
	"GitRepository.ref":     strings.Fields("branch commit name semver tag"),
	"OCIRepository": strings.Fields("certSecretRef ignore insecure interval layerSelector provider proxySecretRef ref secretRef serviceAccountName" +
		" suspend timeout url verify"),
	"OCIRepository.ref": strings.Fields("digest name semver semverFilter tag"), // name is what an instance is synced to
	"HelmChart": strings.Fields("accessFrom chart ignoreMissingValuesFiles interval reconcileStrategy sourceRef suspend valuesFile valuesFiles" +
		" verify version"),
	"ArtifactGenerator":                strings.Fields("artifacts commonMetadata managedNamespaces serviceAccountName sources"),
	"ArtifactGenerator.sources":        strings.Fields("alias kind name namespace"),
	"ArtifactGenerator.artifacts":      strings.Fields("copy name namespace originRevision revision"),
	"ArtifactGenerator.artifacts.copy": strings.Fields("exclude from optional strategy to"),
	externalArtifact:                   strings.Fields("sourceRef"),
}

// unfollowed is what is not followed of an object that decides what Flux reads: a field that is not known here, and what keeps Flux from applying it as it is written.
func unfollowed(d *manifest.Doc, object Object) (out []manifest.Problem) {
	if says := d.Apart("metadata"); says != "" {
		out = append(out, manifest.Problem{Place: d.Place, Text: wordApart(object, says)})
	}
	if object.Kind == helmRelease && manifest.At(manifest.Chart(manifest.At(d.Node, "spec")), manifest.KeyFlux) != nil {
		out = append(out, manifest.Problem{Place: d.Place, Text: wordReleasesFlux(object, "its values")})
	}
	title := ""
	if object.Kind == "Kustomization" {
		title = (&Kustomization{Object: object}).title()
	}
	var walk func(n *manifest.Node, section string)
	walk = func(n *manifest.Node, section string) {
		is, known := fields[section]
		for i := 0; known && i < len(n.Content); i++ {
			key := n.Content[i]
			switch {
			case n.Kind == manifest.SequenceNode:
				walk(key, section)
				continue
			case slices.Contains(is, key.Value):
				walk(n.Content[i+1], section+"."+key.Value)
			case manifest.Unfilled(key.Value) == "" && !strings.HasPrefix(key.Value, "$") && len(out) < maxUnfollowed: // those have problems of their own
				out = append(out, manifest.Problem{Place: d.At(key), Text: wordField(object, "spec"+strings.TrimPrefix(section+"."+key.Value, object.Kind)), Of: title})
			}
			i++
		}
	}
	if spec := manifest.At(d.Node, "spec"); spec != nil {
		walk(spec, object.Kind)
	}
	return out
}

// maxUnfollowed is how many problems are kept of one object.
const maxUnfollowed = 8

// keepsBack says what keeps Flux from applying what a Kustomization applies as that is written.
func (t *Tree) keepsBack(d *manifest.Doc, k Object) {
	if says := d.Apart("spec", "commonMetadata"); says != "" {
		t.Problem(d.Line("spec", "commonMetadata"), wordApart(k, "commonMetadata with "+says))
	}
	for _, rule := range t.List(d, "spec", "ignore") {
		of := &manifest.Doc{Place: d.Place, Node: rule, Vars: d.Vars}
		paths := t.Texts(of, "paths")
		if len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !harmless.MatchString(path) }) {
			continue
		}
		p := manifest.Problem{Place: d.At(rule), Text: wordKeepsBack(k)}
		group, kind := of.Text("target", "group"), of.Text("target", "kind")
		switch core := group == "" || meets(group, ""); {
		case (core || meets(group, manifest.GroupKustomize, manifest.GroupSource, manifest.GroupOperator, manifest.GroupArtifacts, manifest.GroupHelm)) &&
			(kind == "" || meets(kind, "Kustomization", "GitRepository", "OCIRepository", "HelmChart", "HelmRepository", helmRelease, "FluxInstance", "ArtifactGenerator", externalArtifact, resourceSet, inputProvider)):
			t.Note(p)
		case core && meets(kind, "ConfigMap", "Secret", manifest.ServiceAccount): // of what it makes these are values
			p.Of = (&Kustomization{Object: k}).title()
			t.Note(p)
		}
	}
}

// meets reports whether an expression of a rule's target may mean one of some names: it is for the whole of one. One that is long or counts may mean any.
func meets(expression string, names ...string) bool {
	if len(expression) > 2*len(manifest.GroupKustomize) || strings.Contains(expression, "{") { // a variable, too
		return true
	}
	is, err := regexp.Compile("^(?:" + expression + ")$")
	return err != nil || slices.ContainsFunc(names, is.MatchString)
}

// harmless is the fields that decide nothing here if they stay as they are in the cluster.
var harmless = regexp.MustCompile(`^/(status|metadata|spec/(suspend|interval|retryInterval|timeout|replicas))(/|$)`)
