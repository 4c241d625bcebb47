package config

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/window"
)

// entries checks the windowed branches against each other and against the windows, as far as they were read.
func (c *compiler) entries() {
	first, sources, names := map[string]int{}, map[string]bool{}, c.windowNames()
	for _, b := range c.doc.branches {
		sources[fold(b.From)] = true
	}
	for i, b := range c.doc.branches {
		line, seen := first[fold(b.Name)]
		switch {
		case b.Name == "":
		case seen:
			c.fail(duplicateBranch(b.Name, line), "branches", i, "name")
		default:
			first[fold(b.Name)] = c.at("branches", i, "name").line
		}
		if b.Name != "" && sources[fold(b.Name)] {
			c.fail(branchIsSource(b.Name), "branches", i, "name")
		}
		if b.Window != "" && b.Window != window.Live && !slices.Contains(names, string(b.Window)) {
			c.fail(unknownWindow(string(b.Window), names), "branches", i, "window")
		}
	}
}

// clusters checks that no two clusters have one name.
func (c *compiler) clusters() {
	first := map[string]int{}
	for i, cluster := range c.doc.clusters {
		line, seen := first[fold(cluster.Name)]
		switch {
		case cluster.Name == "":
		case seen:
			c.fail(duplicateCluster(cluster.Name, line), "clusters", i, "name")
		default:
			first[fold(cluster.Name)] = c.at("clusters", i, "name").line
		}
	}
}

// fold makes names of branches comparable where case does not count: on the disks of people and of some servers two
// branches whose names differ by case alone are one.
func fold(name string) string { return strings.ToLower(name) }
