package config

import "github.com/sluicegate/sluice/window"

// Lines says where things stand in the file, from 1, for links to it. Nothing is decided on it.
type Lines struct {
	Windows  map[window.Name]int
	Branches map[string]int
}

func (c *compiler) lines() Lines {
	l := Lines{Windows: map[window.Name]int{}, Branches: map[string]int{}}
	for _, w := range c.doc.windows {
		l.Windows[w.Name] = c.at("windows", string(w.Name)).line
	}
	for i, b := range c.doc.branches {
		l.Branches[b.Name] = c.at("branches", i).line
	}
	return l
}
