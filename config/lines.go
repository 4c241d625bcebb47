package config

import "github.com/sluicegate/sluice/window"

// Lines says where things stand in the file, from 1, for links to it. Nothing is decided on it.
type Lines struct {
	Windows  map[window.Name]int
	Branches map[string]int
	Rules    []int // of the layout, in their order
}

// LineOf is the line of the layout's rule that decides a path; 0: none does.
func (p *Policy) LineOf(path string) int {
	if i := p.Layout.Rule(path); i >= 0 && i < len(p.Lines.Rules) {
		return p.Lines.Rules[i]
	}
	return 0
}

func (c *compiler) lines() Lines {
	l := Lines{Windows: map[window.Name]int{}, Branches: map[string]int{}}
	for _, w := range c.doc.windows {
		l.Windows[w.Name] = c.at("windows", string(w.Name)).line
	}
	for i, b := range c.doc.branches {
		l.Branches[b.Name] = c.at("branches", i).line
	}
	for i := range c.doc.layout.rules {
		l.Rules = append(l.Rules, c.at("layout", "rules", i).line)
	}
	return l
}
