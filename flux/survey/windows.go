package survey

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
)

// firstWindow is a window of the draft.
type firstWindow struct {
	name        string
	open, close string   // crons
	duration    string   // instead of close
	cutoff      string   // "": the default
	zone        string   // "": the tree does not say
	from        []string // what it was read from, for people
	clusters    []string
	targets     []string // of Flux Kustomizations: NAMESPACE/NAME, or NAME
	scope       scope    // what it holds beside them
	stem        string   // what its name may be
	placeholder bool     // nothing that was understood says when it is open
}

// example is a window of which it is not known when it is open.
func example() firstWindow {
	return firstWindow{stem: "maintenance-window", open: "0 8 * * MON", close: "0 16 * * THU", placeholder: true}
}

// scope is what CronJobs and schedules hold in a cluster beside the Flux Kustomizations that they name.
type scope int

const (
	onlyTargets scope = iota // nothing
	unclear                  // what directory names say; all where they say nothing
	everything
)

// same reports whether two windows are open at the same times for the same things.
func (w firstWindow) same(o firstWindow) bool {
	return w.open == o.open && w.close == o.close && w.duration == o.duration && w.zone == o.zone && w.placeholder == o.placeholder &&
		w.scope == o.scope && slices.Equal(w.targets, o.targets)
}

// maxWindowJobs is how many CronJobs that open or close windows a cluster may have.
const maxWindowJobs = 2 * config.MaxWindows

// windowsOf is the windows that the CronJobs and schedules of a cluster say, and notes on what was not understood. What jobs hold of which it
// was not understood when is held by an example.
func (s *survey) windowsOf(c graph.Cluster) (windows []firstWindow, notes []string) {
	var opens, closes, lost []windowJob
	for _, job := range c.CronJobs {
		if len(opens)+len(closes)+len(lost) >= maxWindowJobs {
			notes = append(notes, fmt.Sprintf(noteManyJobs, c.Name, maxWindowJobs))
			lost = append(lost, windowJob{job: job, scope: everything})
			break
		}
		j, problem := s.windowJob(job)
		if problem != "" {
			notes = append(notes, problem)
		}
		switch j.verb {
		case opening:
			opens = append(opens, j)
		case closing:
			closes = append(closes, j)
		case nothing:
			if problem != "" {
				lost = append(lost, j)
			}
		}
	}
	for _, open := range opens {
		if s.spent(open.job.File, 0, 1) { // a window is tried out
			break
		}
		i := slices.IndexFunc(closes, func(c windowJob) bool {
			return c.stem == open.stem && c.job.Namespace == open.job.Namespace || len(opens) == 1 && len(closes) == 1
		})
		if i < 0 {
			notes, lost = append(notes, fmt.Sprintf(noteNoClose, open.job.Schedule.Place, open.job.Name)), append(lost, open)
			continue
		}
		w, problem := pair(open, closes[i], c.Name)
		if problem != "" {
			notes, lost = append(notes, problem), append(lost, open, closes[i])
		}
		closes = slices.Delete(closes, i, i+1)
		if problem != "" {
			continue
		}
		windows = append(windows, w)
	}
	for _, j := range closes {
		notes, lost = append(notes, fmt.Sprintf(noteNoOpen, j.job.Schedule.Place, j.job.Name)), append(lost, j)
	}
	scheduled, more := s.schedulesOf(c)
	windows = append(windows, scheduled...)
	if w := lostTo(windows, lost, c.Name); len(w.targets) > 0 || w.scope > onlyTargets {
		windows = append(windows, w)
	}
	return windows, append(notes, more...)
}

// lostTo is an example of a window for what jobs hold of which it was not understood when, and no other window of the cluster holds.
func lostTo(windows []firstWindow, lost []windowJob, cluster string) firstWindow {
	out, held := example(), onlyTargets
	known := map[string]bool{}
	for _, w := range windows {
		held = max(held, w.scope)
		for _, t := range w.targets {
			known[t] = true
		}
	}
	for _, j := range lost {
		if j.scope > held {
			out.scope = max(out.scope, j.scope)
		}
		for _, t := range j.targets {
			if !known[t] {
				known[t], out.targets = true, append(out.targets, t)
			}
		}
		if from := cmp.Or(j.job.Schedule.Place, j.job.Place).String(); !slices.Contains(out.from, from) {
			out.from = append(out.from, from)
		}
	}
	slices.Sort(out.targets)
	out.clusters = []string{cluster}
	return out
}

// verb is what a job does to a window.
type verb int

const (
	nothing verb = iota
	opening
	closing
)

// windowJob is a CronJob that opens or closes a window.
type windowJob struct {
	job     *graph.CronJob
	verb    verb
	stem    string // of its name, without the verb
	targets []string
	scope   scope
	cron    string
	zone    string
}

// flags is options of a command line, with their values or without.
const flags = `(?:-\S+\s+(?:[^-\s]\S*\s+)?)*?`

var (
	// fluxCommand and kubectlCommand are how people suspend and resume, with the Flux command line and with kubectl.
	fluxCommand    = regexp.MustCompile(`\bflux\s+` + flags + `(resume|suspend)\s+` + flags + `(kustomizations?|ks|helmreleases?|hr|sources?\s+\S+)\s+([^;&|\n]*)`)
	kubectlCommand = regexp.MustCompile(`\bkubectl\s+` + flags + `patch\s+` + flags + `([A-Za-z0-9.]+)[\s/]+([^;&|\n]*?)suspend["'\\]*\s*(?:,\s*["'\\]*value["'\\]*\s*)?:\s*["'\\]*(true|false)`)
	inNamespace    = regexp.MustCompile(`(?:^|\s)(?:-n|--namespace)[ =]\s*(\S+)`)
	allFlag        = regexp.MustCompile(`(?:^|\s)(?:--all|-A|--all-namespaces)(?:$|[\s=])`)
	openWord       = regexp.MustCompile(`(?i)(^|[-_.])(open|start|resume|unsuspend|begin)($|[-_.])`)
	closeWord      = regexp.MustCompile(`(?i)(^|[-_.])(close|stop|suspend|end)($|[-_.])`)
	zonePrefix     = regexp.MustCompile(`^(?:CRON_TZ|TZ)=(\S+)\s+`)
)

// commandStep is how many bytes of a command are looked through in the time of a step.
const commandStep = 128

// windowJob is readWindowJob for a run, which is charged for it.
func (s *survey) windowJob(job *graph.CronJob) (windowJob, string) {
	if s.spent(job.File, 0, 1+len(job.Command)/commandStep) {
		return windowJob{}, ""
	}
	return readWindowJob(job)
}

// readWindowJob understands a CronJob; a zero one if it is about something else, and a problem if it is about windows and is not clear.
func readWindowJob(job *graph.CronJob) (windowJob, string) {
	j := windowJob{job: job, cron: strings.Join(strings.Fields(job.Schedule.Value), " "), zone: job.TimeZone.Value}
	say := func(format string, args ...any) string {
		return fmt.Sprintf("%s: CronJob %s ", cmp.Or(job.Schedule.Place.String(), job.String()), job.Name) + fmt.Sprintf(format, args...)
	}
	named := nameVerb(job.Name)
	verb, targets, beside := commandVerb(job.Command)
	j.targets, j.scope = targets, beside
	switch {
	case verb == nothing && (named == nothing || !strings.Contains(strings.ToLower(job.Name), "window")):
		return windowJob{}, ""
	case job.Suspend.Value == "true":
		return j, say(jobSuspended)
	case strings.Contains(j.cron, "${"):
		return j, say(jobVariable, j.cron)
	}
	j.verb = verb
	if m := zonePrefix.FindStringSubmatch(j.cron); m != nil {
		j.zone, j.cron = cmp.Or(j.zone, m[1]), j.cron[len(m[0]):]
	}
	j.stem = strings.Trim(closeWord.ReplaceAllString(openWord.ReplaceAllString(job.Name, "-"), "-"), "-_.")
	if named != nothing && j.verb != nothing && named != j.verb {
		j.verb = named
		return j, say(jobOpposite)
	}
	if j.verb == nothing && job.Command != "" {
		j.verb = named
		return j, say(jobCommand)
	}
	j.verb = cmp.Or(j.verb, named)
	return j, ""
}

func nameVerb(name string) verb {
	opens, closes := openWord.MatchString(name), closeWord.MatchString(name)
	switch {
	case opens == closes:
		return nothing
	case opens:
		return opening
	}
	return closing
}

// commandVerb is what a command does, to which Flux Kustomizations, and to what else. One that does nothing known leaves that unclear.
func commandVerb(command string) (v verb, targets []string, beside scope) {
	command = strings.ReplaceAll(command, "\\\n", " ")
	add := func(whole, kind, arguments string, resumes bool) {
		names, more, ok := suspends(strings.ToLower(kind), whole, arguments)
		if !ok {
			return
		}
		if v = closing; resumes {
			v = opening
		}
		targets, beside = append(targets, names...), max(beside, more)
	}
	for _, m := range fluxCommand.FindAllStringSubmatch(command, -1) {
		add(m[0], m[2], m[3], m[1] == "resume")
	}
	for _, m := range kubectlCommand.FindAllStringSubmatch(command, -1) {
		add(m[0], m[1], m[2], m[3] == "false")
	}
	if v == nothing {
		return nothing, nil, unclear
	}
	slices.Sort(targets)
	return v, slices.Compact(targets), beside
}

// suspends is what a command suspends or resumes: Kustomizations by their names, and what else; false: nothing of Flux.
func suspends(kind, whole, arguments string) (targets []string, beside scope, ok bool) {
	switch {
	case strings.HasPrefix(kind, "source"), strings.Contains(kind, "repositor"), strings.HasPrefix(kind, "bucket"):
		return nil, everything, true // whatever uses the source
	case strings.HasPrefix(kind, "helmrelease"), kind == "hr":
		return nil, unclear, true // which files make it is not known here
	case !strings.HasPrefix(kind, "kustomization") && kind != "ks":
		return nil, onlyTargets, false
	}
	namespace := ""
	if m := inNamespace.FindStringSubmatch(whole); m != nil {
		namespace = m[1] + "/"
	}
	for _, name := range strings.Fields(inNamespace.ReplaceAllString(arguments, " ")) {
		switch {
		case strings.HasPrefix(name, "-") && len(targets) > 0:
			return targets, beside, true // what follows may be a flag's value
		case strings.HasPrefix(name, "-"):
		case strings.ContainsAny(namespace+name, "$`{"):
			beside = unclear // a variable
		default:
			targets = append(targets, namespace+name)
		}
	}
	if allFlag.MatchString(arguments) || len(targets) == 0 && beside == onlyTargets {
		return nil, everything, true
	}
	return targets, beside, true
}

// pair makes a window of two jobs.
func pair(open, closed windowJob, cluster string) (firstWindow, string) {
	from := fmt.Sprintf("%s, %s", open.job.Schedule.Place, closed.job.Schedule.Place)
	if open.zone != closed.zone {
		return firstWindow{}, fmt.Sprintf(noteZones, from, open.zone, closed.zone)
	}
	w := firstWindow{
		open: open.cron, close: closed.cron, zone: open.zone, from: []string{from}, clusters: []string{cluster},
		targets: slices.Compact(slices.Sorted(slices.Values(append(open.targets, closed.targets...)))), stem: open.stem,
		scope: max(open.scope, closed.scope),
	}
	w = w.cut()
	if problem := w.problem(); problem != "" {
		return firstWindow{}, fmt.Sprintf(notePair, from, w.open, w.close, problem)
	}
	return w, ""
}

// schedulesOf is the windows of a cluster's ResourceSetInputProviders. The operator looks while any of them is open, sluice's windows have
// one schedule each: of several the first counts.
func (s *survey) schedulesOf(c graph.Cluster) (windows []firstWindow, notes []string) {
	for _, p := range c.Inputs {
		for i, at := range p.Schedule {
			if s.spent(at.File, 0, 1) {
				break
			}
			w := firstWindow{open: at.Cron, duration: at.Window, zone: at.TimeZone, from: []string{at.String()}, clusters: []string{c.Name}, stem: p.Name, scope: unclear}
			w = w.cut()
			switch problem := w.problem(); {
			case problem != "":
				notes = append(notes, fmt.Sprintf(noteSchedule, at.Place, p.Name, at.Cron, at.Window, problem))
			case i > 0 && len(windows) > 0:
				notes = append(notes, fmt.Sprintf(noteSecond, at.Place, p.Name, at.Cron, at.TimeZone, at.Window))
			default:
				windows = append(windows, w)
			}
		}
	}
	return windows, notes
}

// cut is the window with the longest cutoff that leaves something of it: a demonstration may be open for minutes.
func (w firstWindow) cut() firstWindow {
	for _, cutoff := range []string{"", "1m", "0s"} {
		short := w
		if short.cutoff = cutoff; short.problem() == "" {
			return short
		}
	}
	return w
}

// problem is why a window cannot stand in the file as it is; "" if it can.
func (w firstWindow) problem() string {
	var b yamlText
	b.line(0, "version: 1")
	b.line(0, "timezone: UTC")
	b.line(0, "windows:")
	w.name = "window"
	w.write(&b, "")
	_, findings := config.Parse([]byte(b.String()))
	for _, f := range findings {
		if f.IsError() {
			return strings.TrimPrefix(f.Message, "windows.window.")
		}
	}
	return ""
}

// gather puts equal windows of several clusters together. What is beyond the number that a file may have is one, an example, and holds whole clusters.
func (s *survey) gather(clusters []graph.Cluster) (windows []firstWindow, notes []string) {
	rest := example()
	rest.scope = everything
	for _, c := range clusters {
		found, more := s.windowsOf(c)
		notes = append(notes, more...)
		for _, w := range found {
			i := slices.IndexFunc(windows, w.same)
			switch {
			case i < 0 && len(windows) < config.MaxWindows-1:
				windows = append(windows, w)
				continue
			case i < 0:
				rest.clusters = append(rest.clusters, w.clusters...)
				continue
			}
			windows[i].clusters = append(windows[i].clusters, w.clusters...)
			if !slices.Equal(windows[i].from, w.from) {
				windows[i].from = append(windows[i].from, w.from...)
			}
		}
	}
	if len(rest.clusters) > 0 {
		rest.clusters = slices.Compact(rest.clusters)
		windows, notes = append(windows, rest), append(notes, fmt.Sprintf(noteManyWindows, config.MaxWindows))
	}
	return windows, slices.Compact(slices.Sorted(slices.Values(notes)))
}

// genericStem is a name that says nothing.
var genericStem = regexp.MustCompile(`^(job|cronjob|window|apps?)?$`)

// nameWindows gives windows names: what the tree calls the only one, the cluster's of one that is a cluster's alone, else both.
func nameWindows(windows []firstWindow) {
	used := map[string]bool{}
	for i := range windows {
		w := &windows[i]
		if genericStem.MatchString(w.stem) {
			w.stem = "maintenance-window"
		}
		alone := len(w.clusters) == 1 && !slices.ContainsFunc(windows, func(o firstWindow) bool {
			return !o.same(*w) && slices.Contains(o.clusters, w.clusters[0])
		})
		name := w.stem
		switch {
		case len(windows) == 1:
		case alone:
			name = w.clusters[0]
		case len(w.clusters) == 1:
			name = w.clusters[0] + "-" + w.stem
		}
		name = windowName(name)
		w.name = name
		for n := 2; used[w.name]; n++ {
			w.name = fmt.Sprintf("%s-%d", name[:min(len(name), config.MaxName-4)], n)
		}
		used[w.name] = true
	}
}

// notInName is what no name of a window holds.
var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// windowName makes a name that a window may have.
func windowName(name string) string {
	name = strings.TrimLeft(notInName.ReplaceAllString(name, "-"), "-._")
	name = name[:min(len(name), config.MaxName)]
	switch strings.ToLower(name) {
	case "", "live", "ignore", "none", "all":
		return strings.TrimLeft(name+"-window", "-")
	}
	return name
}
