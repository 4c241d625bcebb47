package main

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/report"
)

// TestHostileBranchOfACluster: what cannot be shown as it stands is quoted, and nothing beside it.
func TestHostileBranchOfACluster(t *testing.T) {
	var out strings.Builder
	view := report.Coverage{Clusters: []report.Cluster{{Name: "prod", Path: "clusters/prod", Branch: "ma\x1bin", Found: "gotk-sync"}}}
	printCoverage(&out, &view)
	if want := "\ncluster prod: clusters/prod at \"ma\\x1bin\" (gotk-sync)\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
