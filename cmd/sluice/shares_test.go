package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/fluxtrees"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
)

// TestShares: how much of each bound a command takes of a repository of 20,000 files and 500 entry points, in tenths of a percent, which is ten times what it
// takes of one of 2,000 files and 50. It is written down, so that a charge that doubles is noticed, and docs/performance.md has it.
func TestShares(t *testing.T) {
	if race.Enabled {
		t.Skip("too slow with the race detector")
	}
	texts := fluxtrees.Honest(5)
	texts[config.File] = "version: 1\ntimezone: UTC\nlayout:\n  flux: true\n  unmatched: live\n  entrypoints: [{where: flux-system/a1, release: w}]\nwindows: {w: {open: '0 8 * * MON', duration: 1h}}\n"
	dir := clone(t, "main", texts)
	gitOut(t, dir, "checkout", "-q", "-b", "change")
	for name, text := range maps.Clone(texts) { // one of each entry point
		if path := strings.Split(name, "/"); len(path) == 4 && path[2] != "base" && path[3] == "2.yaml" {
			put(t, filepath.Join(dir, name), strings.Replace(text, "value", "other", 1))
		}
	}
	gitOut(t, dir, "commit", "-q", "-a", "-m", "one of each")
	gitOut(t, dir, "checkout", "-q", "main")
	for command, want := range map[string]map[meter.Kind]int64{
		"graph " + dir: {meter.Nodes: 256, meter.Steps: 169, meter.Bytes: 64, meter.Files: 41},
		"check " + dir: {meter.Nodes: 304, meter.Steps: 293, meter.Bytes: 185, meter.Files: 41},
		"classify --base main --head change --repo " + dir: {meter.Nodes: 381, meter.Steps: 291, meter.Bytes: 213, meter.Files: 42},
	} {
		e := &env{stdout: io.Discard, stderr: io.Discard, now: func() time.Time { return time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC) }}
		root := newRoot(e)
		root.SetArgs(append(strings.Fields(command), "--timeout", "1h"))
		if err := root.ExecuteContext(t.Context()); err != nil && !errors.Is(err, errNo) {
			t.Fatal(command, err)
		}
		for _, r := range e.meter.Readings() {
			took, known := want[r.Kind]
			if share := 10 * 1000 * r.Used / r.Limit; known && max(share-took, took-share) > 2 {
				t.Errorf("%s: %s, which is %s for ten times the tree; want %s", strings.Fields(command)[0], r, percent(share), percent(took))
			}
		}
	}
}

func percent(thousandths int64) string {
	return fmt.Sprintf("%d.%d %%", thousandths/10, thousandths%10)
}
