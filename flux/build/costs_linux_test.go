package build

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicegate/sluice/internal/race"
)

// greedy draws a tree of one kind of which kustomize makes much: so many of something, each so long.
func greedy(kind, n, long int) fstest.MapFS {
	switch kind % 4 {
	case 0: // operations that copy what they copied
		ops := "- {op: add, path: /data, value: {a: " + strings.Repeat("x", long+1) + "}}\n"
		for i := range n {
			ops += fmt.Sprintf("- {op: copy, from: /data, path: /data/b%d}\n", i)
		}
		return archive(resourceA + configMap + "-- app/kustomization.yaml --\nresources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, path: p.yaml}]\n-- app/p.yaml --\n" + ops)
	case 1: // one file, many times
		return archive("-- app/kustomization.yaml --\nconfigMapGenerator:\n- name: a\n  files:\n" + many("  - k%d=../big\n", n+1) + "-- big --\n" + strings.Repeat("x", 64*long+1) + "\n")
	case 2: // what doubles with each level
		return archive(doubling(n%12+1) + fmt.Sprintf("-- d%d/l/a.yaml --\n%s", n%12+1, configMap))
	}
	return archive(resourceA + list(n*long%2000))
}

// FuzzMemory: whatever is built, no child process has more than twice what it may, beside what it has before it reads anything.
func FuzzMemory(f *testing.F) {
	if race.Enabled {
		f.Skip("the race detector takes its own")
	}
	for kind := range 4 {
		f.Add(kind, 24, 200)
	}
	const limit, own = 64 << 20, 64 << 20
	f.Fuzz(func(t *testing.T, kind, many, long int) {
		tree := greedy(kind&0xff, many&0x3f, long&0xfff)
		results, err := Run(t.Context(), command(), tree, all(t, tree), []Entry{{Path: "app"}}, Limits{Memory: limit, Entry: 2 * time.Second})
		if err != nil || len(results) != 1 {
			t.Fatal(err)
		}
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
			t.Fatal(err)
		}
		if peak := used.Maxrss << 10; peak > 2*limit+own {
			t.Errorf("a child had %d MiB: %s", peak>>20, results[0].Err)
		}
	})
}
