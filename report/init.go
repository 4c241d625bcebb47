package report

import (
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/survey"
)

// Draft is the first file of a repository, and what it means for its tree.
type Draft struct {
	File     string           `json:"file"` // that was written; "-": standard output, and Text has it
	Text     string           `json:"text"`
	Clusters []Cluster        `json:"clusters"`
	Notes    []string         `json:"notes"` // what was not understood
	Findings []config.Finding `json:"findings"`
	Tree     *Tree            `json:"tree"`
}

// DraftOf is a draft, and what was found of it in its tree; of one that is not valid nothing.
func DraftOf(d survey.Draft, found analysis.Inspection) Draft {
	v := Draft{
		Text: string(d.File), Clusters: []Cluster{}, Notes: append([]string{}, d.Notes...),
		Findings: append(append([]config.Finding{}, d.Findings...), found.Findings...), Tree: TreeOf(found),
	}
	for _, c := range d.Clusters {
		v.Clusters = append(v.Clusters, Cluster(c))
	}
	return v
}
