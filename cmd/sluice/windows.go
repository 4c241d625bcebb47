package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// defaultDays is how many days people see if they do not say; maxDays is how far a calendar looks.
const (
	defaultDays = 14
	maxDays     = int(window.Horizon / (24 * time.Hour))
)

// windowsCall is what somebody asks `sluice windows`.
type windowsCall struct {
	file string
	at   string
	days int
}

// newWindowsCommand makes `sluice windows`: when each window is open.
func newWindowsCommand(e *env) *cobra.Command {
	var call windowsCall
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "windows",
		Short: "show whether each window is open, until when, and the coming days",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			q, err := e.windows(call)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, viewWindows(q))
			}
			_, err = e.stdout.Write(drawWindows(q, e.colour))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&call.file, "file", "", "another file instead of "+config.File)
	flags.StringVar(&call.at, "at", "", "the instant, RFC 3339 with an offset (default: now)")
	flags.IntVar(&call.days, "days", defaultDays, "how many days to show")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// windowsQuestion is a call, understood.
type windowsQuestion struct {
	calendar *window.Calendar
	at       time.Time
	days     int
}

func (e *env) windows(call windowsCall) (windowsQuestion, error) {
	at, err := e.instant(call.at)
	if err != nil {
		return windowsQuestion{}, err
	}
	if call.days < 1 || call.days > maxDays {
		return windowsQuestion{}, fmt.Errorf("--days %d: want 1 to %d", call.days, maxDays)
	}
	data, file, err := readPolicyFile(".", call.file)
	if err != nil {
		return windowsQuestion{}, err
	}
	policy, findings := config.Parse(data)
	if policy != nil {
		return windowsQuestion{calendar: policy.Calendar, at: at, days: call.days}, nil
	}
	return windowsQuestion{}, invalid(file, findings)
}

// invalid is the error of a broken file: each error of it on a line, with its place.
func invalid(file string, findings []config.Finding) error {
	var lines strings.Builder
	wrong := 0
	for _, f := range findings {
		if isError(f) {
			wrong++
			lines.WriteString("\n" + findingLine(file, f))
		}
	}
	return fmt.Errorf("%s is invalid: %s%s", shown(file), counted(wrong, "1 error", "%d errors"), lines.String())
}

// windowsView is the JSON of `sluice windows`.
type windowsView struct {
	At      jsonTime     `json:"at"`
	Windows []windowView `json:"windows"`
}

type windowView struct {
	Name            window.Name    `json:"name"`
	Timezone        string         `json:"timezone"`
	Open            bool           `json:"open"`
	Until           jsonTime       `json:"until"`
	Releasable      bool           `json:"releasable"`
	ReleasableUntil jsonTime       `json:"releasable_until"`
	FrozenBy        *string        `json:"frozen_by"`
	Intervals       []intervalView `json:"intervals"`
}

type intervalView struct {
	From  jsonTime `json:"from"`
	Until jsonTime `json:"until"`
}

func viewWindows(q windowsQuestion) windowsView {
	v := windowsView{At: jsonTime{q.at}, Windows: []windowView{}}
	for _, n := range q.calendar.Names() {
		s := q.calendar.At(n, q.at)
		w := windowView{
			Name: n, Timezone: q.calendar.Zone(n).String(), Open: s.Open, Until: jsonTime{s.Until},
			Releasable: s.Releasable, ReleasableUntil: jsonTime{s.ReleasableChange}, Intervals: []intervalView{},
		}
		if s.FrozenBy != "" {
			w.FrozenBy = &s.FrozenBy
		}
		for _, i := range q.calendar.Intervals(n, q.at, q.at.Add(time.Duration(q.days)*24*time.Hour)) {
			w.Intervals = append(w.Intervals, intervalView{From: jsonTime{i.From}, Until: jsonTime{i.Until}})
		}
		v.Windows = append(v.Windows, w)
	}
	return v
}
