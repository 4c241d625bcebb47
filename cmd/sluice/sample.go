package main

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/deploy/flux"
)

// The repository of the walk-through is the sample of deploy/flux, nginx with a live and a windowed side on one cluster, but
// for its window, which opens every few minutes, and its checks: there is no CI.

// demoFiles is every file of the repository, by path.
func demoFiles(opening time.Time) (map[string]string, error) {
	files := map[string]string{}
	sample := flux.Sample()
	err := fs.WalkDir(sample, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sample, path)
		files[path] = string(text)
		return err
	})
	cycle := int(demoCycle / time.Minute)
	files[config.File] = fmt.Sprintf(demoRules, fmt.Sprintf("%d-59/%d * * * *", opening.Minute()%cycle, cycle))
	return files, err
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
`

// The files that the people of the demo change.
const (
	demoPages   = "clusters/cluster-1/apps/nginx-rt/pages.yaml"
	demoService = "clusters/cluster-1/apps/nginx-rw/service.yaml"
	demoSources = "clusters/cluster-1/flux/sources.yaml"
)

// edited is a file of the repository with one text put in another's place.
func edited(files map[string]string, path, old, text string) (string, error) {
	if !strings.Contains(files[path], old) {
		return "", fmt.Errorf("the sample's %s has no %q", path, old)
	}
	return strings.Replace(files[path], old, text, 1), nil
}
