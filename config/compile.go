package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Verify gives the findings that Parse gives, and instead of the policy what a file is asked for that is to take the place of another one, if
// that is valid. It compiles no layout, so that what it needs goes by the length of the file, whatever stands in it.
func Verify(data []byte, base *Policy, during window.Interval) (*Outline, []Finding) {
	r := newReport()
	c := read(data, r)
	if c != nil {
		c.lay = func(spec layout.Spec) (*layout.Layout, []layout.Problem) { return nil, layout.Check(spec) }
		c.compile()
	}
	if r.errors > 0 {
		return nil, r.sorted()
	}
	p := &Policy{Mode: c.doc.mode, Calendar: c.calendar, Windows: c.doc.digests()}
	return p.Proposed(base, during), r.sorted()
}

// Parse compiles a file. The policy is nil when any finding is an error. Findings come sorted by position, at most a few
// dozen. Parse never panics, depends on nothing but the bytes, and takes milliseconds for whatever they are.
func Parse(data []byte) (*Policy, []Finding) {
	r := newReport()
	c := read(data, r)
	if c != nil {
		c.compile()
	}
	if r.errors > 0 {
		return nil, r.sorted() // there is no half-valid policy
	}
	return c.policy(), r.sorted()
}

// compiler makes a policy out of a document. What has an error is left out, and the rest is looked at all the same, so that all of a
// file's errors are shown at once; but not what follows from an error, which is no news.
type compiler struct {
	root     *yaml.Node
	doc      *document
	r        *report
	calendar *window.Calendar // nil: a window or freeze has an error
	lay      func(layout.Spec) (*layout.Layout, []layout.Problem)
	layout   *layout.Layout // nil: so has the layout, or nobody asked for it
	points   []EntryPoint
}

// read decodes the file; nil if it cannot be read at all.
func read(data []byte, r *report) *compiler {
	root := parseText(data, r)
	if root == nil || !inspectFile(root, r) {
		return nil
	}
	doc := newDocument()
	doc.file().read(r, root)
	return &compiler{root: root, doc: doc, r: r, lay: layout.New}
}

func (c *compiler) compile() {
	c.zones()
	c.windows()
	c.paths()
	c.clusters()
	c.entries()
	c.globs()
	c.together()
}

// policy puts the compiled parts together.
func (c *compiler) policy() *Policy {
	return &Policy{
		Mode: c.doc.mode, Zone: c.doc.zone, Calendar: c.calendar, Windows: c.doc.digests(), Layout: c.layout,
		PullRequests: c.doc.pulls, Clusters: c.doc.clusters, Branches: c.doc.branches, Lines: c.lines(),
		Flux: c.doc.layout.flux, EntryPoints: c.points, Consistency: c.doc.checks, Override: c.doc.override,
	}
}

// zones gives the file's zone to the windows and freezes that have none. Package window says where one is missing. Where the file's has an
// error, another one serves to see the others.
func (c *compiler) zones() {
	zone := c.doc.zone
	if zone == nil && !c.r.sound("timezone") {
		zone = time.UTC
	}
	for i := range c.doc.windows {
		c.doc.windows[i].Zone = cmp.Or(c.doc.windows[i].Zone, zone)
	}
	for i := range c.doc.freezes {
		c.doc.freezes[i].Zone = cmp.Or(c.doc.freezes[i].Zone, zone)
	}
}

// windows compiles the calendar.
func (c *compiler) windows() {
	freezes, indices := c.soundFreezes()
	calendar, problems := window.New(c.soundWindows(), freezes)
	for i := range problems {
		if problems[i].Freeze >= 0 {
			problems[i].Freeze = indices[problems[i].Freeze]
		}
	}
	c.calendarProblems(problems)
	if c.r.sound("windows") && c.r.sound("freezes") && c.r.sound("timezone") {
		c.calendar = calendar
	}
}

// soundFreezes is the freezes that were read without an error and close no window with one, and their indices.
func (c *compiler) soundFreezes() (sound []window.Freeze, indices []int) {
	for i, f := range c.doc.freezes {
		wrong := func(name window.Name) bool { return !c.r.sound("windows", string(name)) }
		if c.r.sound("freezes", i) && !slices.ContainsFunc(f.Windows, wrong) {
			sound, indices = append(sound, f), append(indices, i)
		}
	}
	return sound, indices
}

// soundWindows is the windows that have no error so far, each name once.
func (c *compiler) soundWindows() []window.Spec {
	var out []window.Spec
	seen := map[window.Name]bool{}
	for _, w := range c.doc.windows {
		if w.Name != "" && !seen[w.Name] && c.r.sound("windows", string(w.Name)) {
			out = append(out, w)
		}
		seen[w.Name] = true
	}
	return out
}

func (c *compiler) calendarProblems(problems []window.Problem) {
	for _, p := range problems {
		way := []any{"windows", string(p.Window)}
		if p.Freeze >= 0 {
			way = []any{"freezes", p.Freeze}
		}
		c.report(says{p.Code, p.Message}, p.Warning, append(way, fieldSteps(p.Field)...)...)
	}
}

// fieldSteps takes the field of a problem apart: "dates[1].from" is dates, 1, from.
func fieldSteps(field string) []any {
	var steps []any
	for _, word := range regexp.MustCompile(`[^.\[\]]+`).FindAllString(field, -1) {
		if i, err := strconv.Atoi(word); err == nil {
			steps = append(steps, i)
		} else {
			steps = append(steps, word)
		}
	}
	return steps
}

// windowNames is the names that the file gives windows, also those whose windows have errors.
func (c *compiler) windowNames() []string {
	var names []string
	if _, windows := child(c.root, "windows"); windows != nil && windows.Kind == yaml.MappingNode {
		for i := 0; i < len(windows.Content); i += 2 {
			names = append(names, windows.Content[i].Value)
		}
	}
	return names
}

// report reports a problem that another package found.
func (c *compiler) report(s says, warning bool, way ...any) {
	if warning {
		c.r.on(way, func() { c.r.warn(c.at(way...), s) })
		return
	}
	c.fail(s, way...)
}

// fail reports an error of what a way leads to.
func (c *compiler) fail(s says, way ...any) {
	c.r.on(way, func() { c.r.fail(c.at(way...), s) })
}

// at is the place of a value of the file. A window is best known by its key.
func (c *compiler) at(way ...any) place {
	key, value := locate(c.root, way...)
	if len(way) == 2 && way[0] == "windows" {
		return of(key)
	}
	return of(value)
}

// isCapture reports whether a path's segment fills in a release.
func isCapture(release string) bool { return strings.HasPrefix(release, "{") }
