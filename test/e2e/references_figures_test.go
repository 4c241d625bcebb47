package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestFigureOthers measures what other repositories see of one with 500 entry points and 20,000 files: how long a pull request of theirs takes to its first status
// while a base that all of them read is merged there, and another change of it opened, beside the same with nothing to read.
func TestFigureOthers(t *testing.T) {
	figure(t)
	points, files, asked, times := some(500), 38, 10, some(100)
	w := newCluster(t)
	other := w.create("acme", "other", map[string]string{".github/sluice.yaml": rules(shutForYears), "apps/a-rw/x": "0\n"})
	tree := map[string]string{}
	for i := range points {
		name := fmt.Sprintf("app%03d", i)
		tree["clusters/one/"+name+".yaml"] = strings.ReplaceAll(kustomizationOf, "NAME", name)
		list := []string{"../base"}
		for j := range files {
			file := fmt.Sprintf("o%02d.yaml", j)
			list = append(list, file)
			tree["apps/"+name+"/"+file] = object(fmt.Sprintf("%s-%d", name, j), "0")
		}
		tree["apps/"+name+"/kustomization.yaml"] = "nameSuffix: -" + name + "\n" + resources(list...)
	}
	fleet := w.repo
	write := func(files map[string]string) { w.commit("main", standin.Change{Message: "more", Write: files}) }
	write(tree)
	w.serve(noPace, noResync)
	var pulls []int
	for i := range asked {
		pulls = append(pulls, w.change(fmt.Sprint("held", i), map[string]string{fmt.Sprintf("apps/slow/%d.yaml", i): object(fmt.Sprint("slow", i), "0"), "apps/slow/own.yaml": object("slow", fmt.Sprint(i+1))}))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by weekend until ")
	}
	first := func(name string) (took []time.Duration) {
		w.repo = other
		for i := range times {
			began := time.Now()
			n := w.open(fmt.Sprint(name, i), fmt.Sprintf("apps/%s%d-rw/x", name, i))
			w.eventually("it has a status", func() bool { return w.status(n) != "" })
			took = append(took, time.Since(began))
		}
		w.repo = fleet
		return took
	}
	quiet := first("quiet")
	write(map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	base := w.change("base", map[string]string{"apps/base/shared.yaml": object("shared", "2")}) // all are built before and after
	began := time.Now()
	amid := first("amid")
	lasted := time.Since(began)
	w.hasStatus(base, "pending: held by weekend until ")
	all := w.repo.Statuses(w.pull(base).HeadSHA) // the newest first
	beside("first status of another repository, beside a base that 500 entry points read: p99", quantile(amid, .99), quantile(quiet, .99)).print()
	beside("the same: p50", quantile(amid, .5), quantile(quiet, .5)).print()
	row("the change of the base: answered", fmt.Sprintf("%s after it was opened, of the %s that this took", all[0].At.Sub(began).Round(time.Millisecond), lasted.Round(time.Millisecond)))
}
