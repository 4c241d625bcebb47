package config

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/window"
)

// entries checks the windowed branches against each other and against the windows.
func (c *compiler) entries() {
	if !c.r.sound("branches") {
		return
	}
	first, sources, names := map[string]int{}, map[string]bool{}, c.windowNames()
	for _, b := range c.doc.branches {
		sources[fold(b.From)] = true
	}
	for i, b := range c.doc.branches {
		if line, seen := first[fold(b.Name)]; seen {
			c.fail(duplicateBranch(b.Name, line), "branches", i, "name")
		} else {
			first[fold(b.Name)] = c.at("branches", i, "name").line
		}
		if sources[fold(b.Name)] {
			c.fail(branchIsSource(b.Name), "branches", i, "name")
		}
		if b.Window != window.Live && !slices.Contains(names, string(b.Window)) {
			c.fail(unknownWindow(string(b.Window), names), "branches", i, "window")
		}
	}
}

// fold makes names of branches comparable where case does not count: on the disks of people and of some servers two
// branches whose names differ by case alone are one.
func fold(name string) string { return strings.ToLower(name) }
