package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what is read at each scrape.
type State struct {
	Budgets   []Budget
	Verdicts  map[Verdict]int
	Warnings  map[string]int    // by code
	Windows   map[string]Window // by name, those of all repositories together
	Debts     int               // successes of ours that have an end, or may get one
	Overdue   int               // of them that should be gone
	OldestDue time.Duration     // since the oldest that is due, and not done, was due; 0: nothing is
	Waiting   int               // repositories that wait for a look
	Running   int               // looks under way
	Known     int               // repositories
	Skew      time.Duration     // our clock minus GitHub's
	Ready     bool
	Lagging   int // repositories that are not up to date
}

// Verdict is a kind of verdict on one kind of thing.
type Verdict struct{ Of, Kind string } // of pull requests or branches

// Window is the windows of one name in the files of default branches.
type Window struct {
	Open          int // repositories in which it is open
	Held, Waiting int // pull requests and windowed branches that need it
}

// Budget is what an installation may still send to GitHub.
type Budget struct {
	Installation int64
	Resource     string // GitHub's name, core or graphql; or merges
	Limit, Left  int
	Renewed      time.Time // when the hour ends
}

// collector reads the state at each scrape.
type collector struct{ read func() State }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	budgetLimit  = desc("sluice_github_budget_limit", "Requests (core), points (graphql) or merges that GitHub grants an installation.", "installation", "resource")
	budgetLeft   = desc("sluice_github_budget_remaining", "What is left of it, estimated from GitHub's last answer.", "installation", "resource")
	budgetEnds   = desc("sluice_github_budget_reset_timestamp_seconds", "When GitHub resets it.", "installation", "resource")
	verdicts     = desc("sluice_verdicts", "Pull requests and windowed branches, by their verdict at the last reconciliation.", "kind", "of")
	warnings     = desc("sluice_warnings", "What operators should know, by its code, at the last reconciliation.", "code")
	windowOpen   = desc("sluice_window_open", "Repositories in which a window is open, and not frozen.", "window")
	windowHeld   = desc("sluice_window_held", "Pull requests and windowed branches that need a window and are held.", "window")
	windowWaits  = desc("sluice_window_waiting", "Pull requests and windowed branches that need a window and wait for something else.", "window")
	debts        = desc("sluice_greens", "Green statuses that sluice set and will withdraw when their reason ends.")
	overdue      = desc("sluice_greens_overdue", "Green statuses that should have been withdrawn and are still there.")
	oldest       = desc("sluice_oldest_due_seconds", "Time since the oldest release that is due, and not done, was due.")
	waiting      = desc("sluice_looks_waiting", "Repositories that wait for a reconciliation.")
	running      = desc("sluice_looks_running", "Reconciliations in progress.")
	repositories = desc("sluice_repositories", "Repositories that the App is installed in.")
	lagging      = desc("sluice_repositories_lagging", "Repositories that are not up to date.")
	offset       = desc("sluice_clock_offset_seconds", "Our clock minus GitHub's.")
	ready        = desc("sluice_ready", "Whether the service can do its work, as /readyz has it.")
)

func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		budgetLimit, budgetLeft, budgetEnds, verdicts, warnings, windowOpen, windowHeld, windowWaits, debts, overdue, oldest, waiting, running, repositories, lagging, offset, ready,
	} {
		to <- d
	}
}

func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.read()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, b := range s.Budgets {
		id := strconv.FormatInt(b.Installation, 10)
		gauge(budgetLimit, float64(b.Limit), id, b.Resource)
		gauge(budgetLeft, float64(b.Left), id, b.Resource)
		if !b.Renewed.IsZero() {
			gauge(budgetEnds, float64(b.Renewed.Unix()), id, b.Resource)
		}
	}
	for v, n := range s.Verdicts {
		gauge(verdicts, float64(n), v.Kind, v.Of)
	}
	for code, n := range s.Warnings {
		gauge(warnings, float64(n), code)
	}
	for name, w := range s.Windows {
		gauge(windowOpen, float64(w.Open), name)
		gauge(windowHeld, float64(w.Held), name)
		gauge(windowWaits, float64(w.Waiting), name)
	}
	for d, n := range map[*prometheus.Desc]int{
		debts: s.Debts, overdue: s.Overdue, waiting: s.Waiting, running: s.Running, repositories: s.Known, lagging: s.Lagging,
	} {
		gauge(d, float64(n))
	}
	gauge(oldest, s.OldestDue.Seconds())
	gauge(offset, s.Skew.Seconds())
	healthy := 0.0
	if s.Ready {
		healthy = 1
	}
	gauge(ready, healthy)
}
