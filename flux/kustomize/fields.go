package kustomize

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// fields is what is read of a kustomization.yaml. kustomize takes each in whatever case it is written.
var fields = []string{
	"additionalValuesFiles", "annotationSelector", "annotations", "apiVersion", "bases", "behavior", "chartHome", "chartName", "chartRepoUrl", "chartVersion",
	"commonAnnotations", "commonLabels", "components", "configMapGenerator", "configurations", "crds", "env", "envs", "fields", "files", "generatorOptions",
	"generators", "group", "helmChartInflationGenerator", "helmCharts", "helmGlobals", "kind", "labelSelector", "labels", "literals", "name", "namePrefix",
	"nameSuffix", "namespace", "openapi", "options", "pairs", "patch", "patches", "patchesJson6902", "patchesStrategicMerge", "path", "replacements", "repo",
	"resources", "secretGenerator", "select", "target", "targets", "transformers", "validators", "values", "valuesFile", "vars", "version",
}

// folded writes the fields of a kustomization.yaml as they are known, and gives those that it has twice: which of them counts is not known.
func folded(n *manifest.Node) []*manifest.Node {
	var twice []*manifest.Node
	seen := map[string]*manifest.Node{}
	for i, child := range n.Content {
		if n.Kind != manifest.MappingNode {
			twice = append(twice, folded(child)...)
			continue
		}
		if i%2 == 1 {
			key := n.Content[i-1].Value
			if free := key == "pairs" || key == "commonLabels" || key == "commonAnnotations" || key == "labels" || key == "annotations"; !free || child.Kind == manifest.SequenceNode {
				twice = append(twice, folded(child)...)
			}
			continue
		}
		if f := slices.IndexFunc(fields, func(field string) bool { return strings.EqualFold(field, child.Value) }); f >= 0 {
			child.Value = fields[f]
		}
		value := n.Content[i+1]
		if before := seen[child.Value]; before != nil {
			twice = append(twice, child)
			if before.Kind == manifest.SequenceNode && value.Kind == manifest.SequenceNode { // who reads both misses nothing
				value.Content = slices.Concat(before.Content, value.Content)
			}
		}
		seen[child.Value] = value
	}
	return twice
}
