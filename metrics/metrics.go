package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// The bounds of histograms, in seconds. A status is due within a minute at worst, a merge within its opening.
var (
	quick = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	slow  = []float64{.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}
)

// countedFor is how long what was counted is sent again before it is counted anew: scrapes are many seconds apart.
const countedFor = time.Second

// Set is every metric of one service. Its methods are safe for concurrent use, and cheap.
type Set struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	looks      *prometheus.HistogramVec
	statuses   prometheus.Histogram
	releases   prometheus.Histogram
	overrides  prometheus.Counter
}

// New makes the metrics of a service. read gives what is read at each scrape; it must not wait for GitHub.
func New(version string, read func() State) *Set {
	s := &Set{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_github_requests_total", Help: "Requests to GitHub by route and answer; the answer of one that got none is \"none\".",
		}, []string{"route", "code"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_webhook_requests_total", Help: "Deliveries by event and answer; those that nobody signed are of the event \"unsigned\".",
		}, []string{"event", "code"}),
		looks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_look_duration_seconds", Help: "Time from the beginning of a look at a repository to its end, by its end.", Buckets: quick,
		}, []string{"end"}),
		statuses: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_event_to_status_seconds", Help: "Time from the first event that a look answers to the first status that it writes.", Buckets: quick,
		}),
		releases: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_due_to_done_seconds", Help: "Time from when a pull request or branch was due to its merge or move.", Buckets: slow,
		}),
		overrides: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_overrides_total", Help: "Merges and moves that people released although a window was closed.",
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sluice_build_info", Help: "Always 1; the version is its label.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	s.registry.MustRegister(build, s.requests, s.deliveries, s.looks, s.statuses, s.releases, s.overrides, collector{read},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Handler answers GET /metrics. However many ask, and however slowly they read, one counts at a time, and all share what he counted.
func (s *Set) Handler() http.Handler {
	var turn sync.Mutex
	var last []*dto.MetricFamily
	var at time.Time
	return promhttp.HandlerFor(prometheus.GathererFunc(func() (_ []*dto.MetricFamily, err error) {
		turn.Lock()
		defer turn.Unlock()
		if time.Since(at) < countedFor {
			return last, nil
		}
		if last, err = s.registry.Gather(); err == nil {
			at = time.Now()
		}
		return last, err
	}), promhttp.HandlerOpts{})
}

// Request counts a request to GitHub; code 0 is one without an answer.
func (s *Set) Request(route string, code int) { s.requests.WithLabelValues(route, answer(code)).Inc() }

// Delivery counts a delivery and our answer to it.
func (s *Set) Delivery(event string, code int) {
	s.deliveries.WithLabelValues(event, answer(code)).Inc()
}

// Look counts a look at a repository, by how it ended and how long it took.
func (s *Set) Look(end string, took time.Duration) {
	s.looks.WithLabelValues(end).Observe(took.Seconds())
}

// Status counts a status that answers an event, by the time since that event.
func (s *Set) Status(since time.Duration) { s.statuses.Observe(since.Seconds()) }

// Release counts a merge or a move, by the time since it was due, and whether people released it although a window is closed.
func (s *Set) Release(since time.Duration, overridden bool) {
	s.releases.Observe(since.Seconds())
	if overridden {
		s.overrides.Inc()
	}
}

// answer is an HTTP status code as a label.
func answer(code int) string {
	if code == 0 {
		return "none"
	}
	return strconv.Itoa(code)
}
