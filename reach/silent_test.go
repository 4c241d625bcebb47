package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestNeverSilent: what the graph does not follow is held all the same, or an error of check.
func TestNeverSilent(t *testing.T) {
	const broken = "error" // of check, instead of a window
	root := "-- clusters/prod/a.yaml --\n" + gitRepository("flux-system", "main") + ks("flux-system", "./clusters/prod", "flux-system")
	listed := "-- apps/kustomization.yaml --\nresources: [a.yaml]\n-- apps/a.yaml --\n" + configMap + "-- apps/b.yaml --\n" + configMap
	held := root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "GitRepository", "own")
	own := func(spec string) string {
		return sourceObject("GitRepository", "own", "{"+fleet+", ref: {branch: main}"+spec+"}")
	}
	artifact := func(copies string) string {
		return root + "-- clusters/prod/held.yaml --\n" + heldKs("./apps", "ExternalArtifact", "x") + object("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", "g",
			"{sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: x, copy: ["+copies+"]}]}")
	}
	modules := func(text string) string {
		return held + own(", recurseSubmodules: true") + "-- apps/kustomization.yaml --\nresources: [../vendor/lib]\n-- .gitmodules --\n" + text
	}
	for name, c := range map[string]struct{ tree, file, want string }{
		"spec.ignore":                   {held + own(", ignore: /apps/kustomization.yaml") + listed, "apps/b.yaml", "weekend"},
		"spec.ignore of something else": {held + own(", ignore: \"/*\\n!/apps\\n\"") + listed, "apps/b.yaml", "-"},
		"spec.ignore with a variable":   {held + own(", ignore: \"${X}\"") + listed, "apps/b.yaml", "weekend"},
		"a source that is read later":   {held + "-- clusters/prod/more.yaml --\n" + ks("more", "./more", "flux-system") + "-- more/own.yaml --\n" + own(", ignore: kustomization.yaml") + listed, "apps/b.yaml", "weekend"},
		".sourceignore":                 {held + own("") + listed + "-- .sourceignore --\nkustomization.yaml\n", "apps/b.yaml", "weekend"},
		".sourceignore, above":          {held + own("") + listed + "-- apps/.sourceignore --\n/kustomization.yaml\n", "apps/b.yaml", "weekend"},
		".sourceignore, beside":         {held + own("") + listed + "-- more/.sourceignore --\nkustomization.yaml\n", "apps/b.yaml", "-"},
		".sourceignore, a lot":          {held + own("") + listed + "-- .sourceignore --\n" + strings.Repeat("x\n", 1001), "apps/b.yaml", "weekend"},
		".sourceignore below":           {held + own("") + "-- apps/sub/kustomization.yaml --\nresources: [a.yaml]\n-- apps/sub/a.yaml --\n" + configMap + "-- apps/sub/b.yaml --\n" + configMap + "-- .sourceignore --\n/apps/*/kustomization.yaml\n", "apps/sub/b.yaml", "weekend"},
		"sparseCheckout":                {held + own(", sparseCheckout: [apps/b]") + listed, "apps/b.yaml", "weekend"},
		"sparseCheckout with all of it": {held + own(", sparseCheckout: [apps]") + listed, "apps/b.yaml", "-"},
		"what a source that includes leaves out": {held + own(", ignore: kustomization.yaml, include: [{repository: {name: flux-system}, fromPath: lib, toPath: apps}]") +
			strings.ReplaceAll(listed, "apps/", "lib/"), "lib/b.yaml", "weekend"},
		"an included source leaves out": {held + own(", include: [{repository: {name: lib}, fromPath: lib, toPath: apps}]") +
			sourceObject("GitRepository", "lib", "{"+fleet+", ref: {branch: main}, ignore: kustomization.yaml}") + strings.ReplaceAll(listed, "apps/", "lib/"), "lib/b.yaml", "weekend"},
		"exclude":                          {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/", exclude: [kustomization.yaml]}`) + listed, "apps/b.yaml", "weekend"},
		"a pattern":                        {artifact(`{from: "@repo/apps/*[ab].yaml", to: "@artifact/"}`) + listed, "apps/b.yaml", "weekend"},
		"a pattern with all of it":         {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}`) + listed, "apps/b.yaml", "-"},
		"an escape in a pattern":           {artifact(`{from: "@repo/ap\\ps/*.yaml", to: "@artifact/"}`) + "-- apps/b.yaml --\n" + configMap, "apps/b.yaml", "weekend"},
		"a file onto a directory":          {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/b.yaml", to: "@artifact/apps"}`) + listed + "-- more/b.yaml --\n" + configMap, "more/b.yaml", "-"},
		"a file onto one without a list":   {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/b.yaml", to: "@artifact/apps"}`) + "-- apps/a.yaml --\n" + configMap + "-- more/b.yaml --\n" + configMap, "more/b.yaml", "weekend"},
		"a list onto a directory":          {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/kustomization.yaml", to: "@artifact/apps"}`) + listed + "-- more/kustomization.yaml --\nresources: [b.yaml]\n", "apps/b.yaml", "weekend"},
		"what lies below an exclude":       {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/**", to: "@artifact/apps/", exclude: [a.yaml]}`) + listed + "-- more/a.yaml --\n" + configMap, "apps/a.yaml", broken},
		"what is merged":                   {artifact(`{from: "@repo/apps/**", to: "@artifact/apps/"}, {from: "@repo/more/a.yaml", to: "@artifact/apps/a.yaml", strategy: Merge}`) + listed + "-- more/a.yaml --\n" + configMap, "apps/a.yaml", broken},
		"what is unpacked":                 {artifact(`{from: "@repo/apps/x.tgz", to: "@artifact/apps/", strategy: Extract}`) + "-- apps/x.tgz --\nx\n", "apps/x.tgz", broken},
		"a name that Flux leaves out":      {held + own(", ignore: \"!.sops.yaml\"") + "-- apps/.sops.yaml --\n" + configMap, "apps/.sops.yaml", broken},
		"the same, left out":               {held + own("") + "-- apps/.sops.yaml --\n" + configMap, "apps/.sops.yaml", "-"},
		"a directory that Flux leaves out": {held + own("") + "-- apps/.github/a.yaml --\n" + configMap + "-- .sourceignore --\n!.github/\n", "apps/.github/a.yaml", broken},
		"a file of that, in a list":        {held + own("") + "-- apps/kustomization.yaml --\nresources: [.github/a.yaml]\n-- apps/.github/a.yaml --\n" + configMap + "-- .sourceignore --\n!.github/\n", "apps/.github/a.yaml", "weekend"},
		"the root's list":                  {strings.Replace(held, "main\"}}", "main\"}, ignore: /clusters/prod/kustomization.yaml}", 1) + own("") + "-- clusters/prod/kustomization.yaml --\nresources: [a.yaml]\n", "clusters/prod/held.yaml", "weekend"},
		"the root's list, of a source alone": {strings.Replace(strings.Replace(held, "main\"}}", "main\"}, sparseCheckout: [clusters/prod/h]}", 1), ks("flux-system", "./clusters/prod", "flux-system"), "", 1) + own("") +
			"-- clusters/prod/kustomization.yaml --\nresources: [a.yaml]\n", "clusters/prod/held.yaml", "weekend"},
		"a submodule in quotes":          {modules("[submodule \"lib\"]\n\tpath = \"vendor/lib\" # lib\n\turl = x\n"), "vendor/lib", "weekend"},
		"a submodule and a comment":      {modules("[submodule \"lib\"]\n\tpath = vendor/lib ; lib\n\turl = x\n"), "vendor/lib", "weekend"},
		"a submodule in one line":        {modules("[submodule \"lib\"] path = vendor/lib\n"), "vendor/lib", broken},
		"a submodule in parts":           {modules("[submodule \"lib\"]\n\tpath = vend\"or/l\"ib\n"), "vendor/lib", "weekend"},
		"submodules that cannot be read": {modules("[submodule \"lib\n\tpath = vendor/lib\n"), "vendor/lib", broken},
	} {
		t.Run(name, func(t *testing.T) {
			if got := silent(t, c.tree, c.file); got != c.want {
				t.Errorf("%s: %s, want %s", c.file, got, c.want)
			}
		})
	}
}

// silent is whether a path waits, or check has an error; "-": neither.
func silent(t *testing.T, text, file string) string {
	t.Helper()
	p := parse(t, sourcesFile)
	tree, err := graph.Read(fluxtrees.Parse([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	g := New(p, tree.Clusters(p.Clusters))
	if slices.ContainsFunc(g.Problems(tree.Problems, nil), func(n config.Note) bool { return n.Level == config.LevelHold }) {
		return "error"
	}
	reads, _ := g.Reads(file)
	holds, _ := g.Holds(file)
	if strings.Contains(fmt.Sprint(reads.Releases, holds.Releases), "weekend") {
		return "weekend"
	}
	return "-"
}
