package flux

import (
	"fmt"
	"io/fs"
)

// Demo is every file of the demo's repository, by path: the sample, nginx with a live and a windowed side on one cluster, but for its window,
// which opens for a minute when a cron expression says, and its checks: there is no CI.
func Demo(opens string) (map[string]string, error) {
	demo := map[string]string{}
	sample := Sample()
	err := fs.WalkDir(sample, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sample, path)
		demo[path] = string(text)
		return err
	})
	demo[".github/sluice.yaml"] = fmt.Sprintf(demoRules, opens)
	return demo, err
}

const demoRules = `version: 1
timezone: UTC

windows:
  demo:
    description: One minute in three
    open: "%s"
    duration: 1m
    cutoff: 10s

layout:
  preset: rt-rw
  branches: ["rw/*"] # windowed changes are merged at once; these branches hold them
  rules:
    - paths: ["clusters/*/infra/**"]
      release: live
    - paths: ["clusters/*/flux/**"] # which branch a cluster follows: read from main at once, so the window itself holds it
      release: demo

branches:
  - name: rw/cluster-1
    from: main
    window: demo
    checks: none # there is no CI here

pull_requests:
  method: squash
  settle: 3s # there is no CI here: wait three seconds for checks, not two minutes

override:
  by: ["user:alice"] # may release one thing now although its window is closed
`
