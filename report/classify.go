package report

import (
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Classification is what a change needs to be released, and whether it may be.
type Classification struct {
	Verdict  plan.Kind        `json:"verdict"`
	Reason   string           `json:"reason"`
	Until    Instant          `json:"until"`
	Releases []layout.Release `json:"releases"`
	Paths    []Path           `json:"paths"`
	Findings []config.Finding `json:"findings"` // warnings, of no line
	Text     string           `json:"-"`        // the whole reason
}

// Path is what a path needs, and by which rule.
type Path struct {
	Path     string           `json:"path"`
	Releases []layout.Release `json:"releases"`
	Rule     string           `json:"rule"`
}

// charge charges the run for a row that is shown.
func (p Path) charge(run *meter.Meter) error {
	n := len(p.Path) + len(p.Rule)
	for _, r := range p.Releases {
		n += len(r)
	}
	return run.Take(meter.Bytes, n, p.Path)
}

// wordRulesFile is why the file itself needs nothing, whatever it says.
const wordRulesFile = "built in: the rules"

// ClassificationOf is a verdict on a change, as long as the run goes on: whoever proposes it says how many paths it has.
func ClassificationOf(run *meter.Meter, c gate.Change, verdict plan.Verdict) (Classification, error) {
	v := Classification{
		Verdict: verdict.Kind, Reason: verdict.Reason, Text: verdict.Text(), Until: Instant{Time: verdict.Until}, Releases: listed(verdict.Releases),
		Paths: []Path{}, Findings: []config.Finding{},
	}
	seen := map[string]bool{}
	for _, f := range c.Files {
		for _, path := range f.Names() {
			if seen[path] {
				continue
			}
			seen[path] = true
			if err := run.Take(meter.Nodes, 1, path); err != nil {
				return v, err
			}
			class := c.Policy.Layout.Classify(path)
			if path == config.File {
				class = layout.Class{Rule: wordRulesFile}
			}
			row := Path{Path: path, Releases: listed(class.Releases), Rule: class.Rule}
			if err := row.charge(run); err != nil {
				return v, err
			}
			v.Paths = append(v.Paths, row)
		}
	}
	return v, nil
}

// listed is a list that JSON shows as one even if it is empty.
func listed(releases []layout.Release) []layout.Release {
	return append([]layout.Release{}, releases...)
}

// Stays reports whether the change is held, waiting or blocked.
func (v Classification) Stays() bool { return stays(v.Verdict) }
