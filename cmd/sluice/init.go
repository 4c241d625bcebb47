package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/layout"
)

const initHelp = `Looks at the repository in DIR (default: the current directory) and writes its first ` + config.File + `.

What it looks at: directories with -rw, -mw or -window in their names; the clusters, by FluxInstance, gotk-sync.yaml or the directories
below clusters/; what the Flux Kustomizations of each read; branches of this repository that they track; CronJobs that resume and suspend,
with the schedules that patches give them; and schedules of the Flux Operator. What it could not understand stands in the file as comments.

The file says ` + "`mode: observe`" + `: statuses say what would be held, and nothing is held. Nothing is fetched and nothing is run. A file that is
there is not overwritten without --force.

Exit codes: 0 fine; 2 the call or the directory is unusable.`

// initCall is what somebody asks `sluice init`.
type initCall struct {
	dir, file   string
	force, json bool
}

// newInitCommand makes `sluice init [DIR]`: the first file of a repository.
func newInitCommand(e *env) *cobra.Command {
	call := initCall{}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "write the first " + config.File + " for a repository",
		Long:  initHelp,
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			call.dir = "."
			if len(args) == 1 {
				call.dir = args[0]
			}
			return e.init(cmd.Context(), call)
		},
	}
	cmd.Flags().StringVar(&call.file, "file", "", "write to this file, or - for standard output, instead of DIR/"+config.File)
	cmd.Flags().BoolVar(&call.force, "force", false, "overwrite a file that is there")
	cmd.Flags().BoolVar(&call.json, "json", false, "print JSON")
	return cmd
}

// initView is the JSON of `sluice init`.
type initView struct {
	File     string           `json:"file"` // that was written; "-": standard output, and Text has it
	Text     string           `json:"text"`
	Clusters []clusterView    `json:"clusters"`
	Notes    []string         `json:"notes"` // what was not understood
	Findings []config.Finding `json:"findings"`
	Tree     *treeView        `json:"tree"`
}

// clusterView is a cluster that was found.
type clusterView struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Found  string `json:"found"`
}

func (e *env) init(ctx context.Context, call initCall) error {
	if info, err := os.Stat(call.dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", call.dir)
	}
	target := filepath.Join(call.dir, filepath.FromSlash(config.File))
	if call.file != "" {
		target = call.file
	}
	if _, err := os.Lstat(target); err == nil && call.file != standardInput && !call.force {
		return fmt.Errorf("%s is there already; --force overwrites it", shown(target))
	}
	view, err := e.survey(ctx, call.dir)
	if err != nil {
		return err
	}
	view.File = target
	if call.file != standardInput {
		if err := writeFirst(call, target, []byte(view.Text)); err != nil {
			return err
		}
	}
	return e.showInit(view, call)
}

// survey looks at a repository and makes its first file.
func (e *env) survey(ctx context.Context, dir string) (initView, error) {
	tree := untilDone{ctx, os.DirFS(dir)}
	paths, err := listTree(ctx, tree, maxTreeFiles)
	if err != nil {
		return initView{}, err
	}
	read, err := graph.Read(tree)
	if err != nil {
		return initView{}, err
	}
	s := look(read, paths, defaultBranch(ctx, dir))
	if ctx.Err() != nil {
		return initView{}, ctx.Err()
	}
	view := initView{Text: s.text(), Notes: s.notes, Clusters: []clusterView{}}
	policy, findings := config.Parse([]byte(view.Text))
	if policy == nil {
		// The tree is hostile: whatever it made of the file, what is written is valid.
		view.Text = s.bare(findings)
		policy, findings = config.Parse([]byte(view.Text))
	}
	if policy == nil {
		return initView{}, errors.New("no valid file could be made of this tree")
	}
	more, shares := e.surroundings(ctx, policy, []byte(view.Text), dir)
	view.Findings, view.Tree = slices.Concat(findings, more), shares
	for _, c := range s.clusters {
		view.Clusters = append(view.Clusters, clusterView{c.Name, c.Path, c.Branch, foundWords(c)})
	}
	return view, nil
}

// untilDone is a tree that can be read until a context ends.
type untilDone struct {
	ctx  context.Context
	tree fs.FS
}

// Open implements fs.FS.
func (u untilDone) Open(name string) (fs.File, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.tree.Open(name)
}

// writeFirst writes the file, whole or not at all. Within the repository no symbolic link is followed: a tree must not choose which of a
// person's files is written.
func writeFirst(call initCall, target string, data []byte) error {
	if call.file != "" {
		return writeNew(".", target, call.force, data)
	}
	root, err := os.OpenRoot(call.dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	dir := path.Dir(config.File)
	if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory", shown(filepath.Join(call.dir, dir)))
	}
	return replace(root, config.File, call.force, data)
}

// writeNew writes a file that a person named.
func writeNew(_, target string, force bool, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(target))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	return replace(root, filepath.Base(target), force, data)
}

// replace writes a file beside its place and moves it there. Without force a link makes the last step, which fails where something stands.
func replace(root *os.Root, name string, force bool, data []byte) error {
	beside := name + ".new"
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer root.Remove(beside) //nolint:errcheck // it is gone where all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if !force {
		return root.Link(beside, name)
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", shown(name))
	}
	return root.Rename(beside, name)
}

func (e *env) showInit(v initView, call initCall) error {
	if call.json {
		if call.file != standardInput {
			v.Text = ""
		}
		return printJSON(e.stdout, v)
	}
	out := e.stdout
	if call.file == standardInput {
		if _, err := e.stdout.Write([]byte(v.Text)); err != nil {
			return err
		}
		out = e.stderr
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: written%s\n", shown(v.File), counted(len(v.Notes), "; 1 thing to look at stands in it as a comment",
		"; %d things to look at stand in it as comments"))
	if len(v.Clusters) == 0 {
		fmt.Fprintf(&b, "no cluster was found: name them under `clusters`\n")
	}
	for _, c := range v.Clusters {
		fmt.Fprintf(&b, "cluster %s: %s (%s)\n", c.Name, shown(c.Path), c.Found)
	}
	for _, f := range v.Findings {
		fmt.Fprintln(&b, findingLine(v.File, f))
	}
	if v.Tree != nil && v.Tree.Files > 0 {
		fmt.Fprintln(&b)
		if err := v.Tree.print(&b); err != nil {
			return err
		}
	}
	fmt.Fprint(&b, initNext)
	_, err := out.Write(b.Bytes())
	return err
}

const initNext = `
Next:
  1. review the file: the hours, and what is live
  2. sluice check             whenever you changed it
  3. commit it to the default branch
  4. install the App (docs/install.md); mode: observe holds nothing, mode: enforce does
  Without a service: sluice render suspend or flux prints manifests, sluice promote moves branches from CI
`

// foundWords is how a cluster was found.
func foundWords(c graph.Cluster) string {
	if c.Place.File == "" {
		return oneLine(c.Found)
	}
	return oneLine(c.Found + ": " + c.Place.String())
}

// text is the file.
func (s *survey) text() string {
	var y yamlText
	y.line(0, "# When which paths of this repository may change. `sluice init` made it of what stands in the tree: review it.")
	y.line(0, "version: 1")
	y.line(0, "mode: observe # statuses say what would be held, and nothing is held; enforce holds, and merges what may go")
	y.line(0, "%s", s.zoneLine())
	y.line(0, "# pull_requests: {live: status, window: status} # under enforce: people merge, and sluice only says what may go")
	y.line(0, "")
	s.writeWindows(&y)
	y.line(0, "")
	s.writeLayout(&y)
	s.writeClusters(&y)
	s.writeBranches(&y)
	s.writeNotes(&y)
	return y.String()
}

// bare is a file that says as little as one can, where the tree's own would be invalid.
func (s *survey) bare(findings []config.Finding) string {
	var y yamlText
	y.line(0, "version: 1")
	y.line(0, "mode: observe")
	y.comment(0, "Nothing more could be made of this tree:")
	for _, f := range findings {
		y.comment(0, "  %s", f.Message)
	}
	return y.String()
}

// zoneLine is the file's zone: the one that most windows have.
func (s *survey) zoneLine() string {
	zone, most := "", 0
	for _, w := range s.windows {
		n := 0
		for _, o := range s.windows {
			if o.zone == w.zone {
				n++
			}
		}
		if n > most && w.zone != "" {
			zone, most = w.zone, n
		}
	}
	s.zone = zone
	switch {
	case zone != "":
		return "timezone: " + value(zone)
	case s.windows[0].placeholder:
		return "timezone: UTC # put yours in, such as Europe/Berlin"
	}
	s.zone = "UTC"
	return "timezone: UTC # a CronJob without timeZone runs in that of kube-controller-manager, which is UTC in most clusters: look whether it is in yours"
}

func (s *survey) writeWindows(y *yamlText) {
	y.line(0, "windows:")
	for _, w := range s.windows {
		if w.placeholder {
			y.comment(1, "An example: %s says when changes may reach a cluster. Put your hours in, or `duration: 8h` instead of a close.", s.source())
		}
		for i, from := range w.from {
			if i == maxSources {
				y.comment(1, "and %d more", len(w.from)-i)
				break
			}
			y.comment(1, "%s", from)
		}
		w.write(y, s.zone)
	}
}

// source is what says nothing of hours.
func (s *survey) source() string {
	if s.unclear {
		return "nothing that was understood"
	}
	return "nothing in the tree"
}

// maxSources is how many places a comment of a window names.
const maxSources = 4

// write writes a window. A zone that is the file's own is left out.
func (w firstWindow) write(y *yamlText, zone string) {
	y.line(1, "%s:", value(w.name))
	y.line(2, "open: %s", quoteAlways(w.open))
	if w.duration != "" {
		y.line(2, "duration: %s", w.duration)
	} else {
		y.line(2, "close: %s", quoteAlways(w.close))
	}
	if w.cutoff != "" {
		y.line(2, "cutoff: %s # the default would leave nothing of it", w.cutoff)
	}
	if w.zone != "" && w.zone != zone {
		y.line(2, "timezone: %s", value(w.zone))
	} else if w.zone == "" && zone != "" && zone != "UTC" {
		y.line(2, "timezone: UTC # its jobs name none: that of kube-controller-manager, which is UTC in most clusters")
	}
}

func (s *survey) writeLayout(y *yamlText) {
	y.line(0, "layout:")
	if s.preset != layout.NoPreset {
		y.line(1, "preset: %s # by the names of directories", s.preset)
		if len(s.side.branches) > 0 {
			y.line(1, "branches: %s # windowed changes are merged at once; these branches hold them", values(branchGlobs(s.side.branches)))
		} else {
			more := ""
			if len(s.rules) > 0 && s.rules[len(s.rules)-1].last {
				more = " # where the rules say nothing else"
			}
			y.line(1, "window: %s%s", value(s.side.windows[0]), more)
		}
	}
	if len(s.rules) == 0 {
		y.line(1, "rules: []")
	} else {
		y.line(1, "rules: # the first that matches a path counts")
	}
	for _, r := range s.rules {
		y.comment(2, "%s", r.comment)
		if len(r.paths) == 1 {
			y.line(2, "- paths: %s", quotedList(r.paths))
		} else {
			y.line(2, "- paths:")
			for _, p := range r.paths {
				y.line(4, "- %s", quoteAlways(p))
			}
		}
		y.line(3, "release: %s", r.needs.release())
	}
	y.line(1, "unmatched: ignore # the rest is none of sluice's business")
}

// release is needs as the file has them.
func (n needs) release() string {
	switch {
	case len(n.windows) == 1:
		return value(n.windows[0])
	case len(n.windows) > 1:
		return values(n.windows) + " # all of them must be open"
	case len(n.branches) > 0:
		return "{branches: " + values(branchGlobs(n.branches)) + "}"
	case n.ignore:
		return "ignore"
	}
	return "live"
}

// allBranches is the pattern for more branches than a rule may name.
const allBranches = "rw/*"

// branchGlobs is patterns that mean branches.
func branchGlobs(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if out[i] = name; name != allBranches { // which is no name that a branch may have
			out[i] = globText(name)
		}
	}
	return out
}

func (s *survey) writeClusters(y *yamlText) {
	if len(s.clusters) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "clusters: # what Flux is pointed at in each")
	for _, c := range s.clusters {
		entry := fmt.Sprintf("name: %s, path: %s", value(c.Name), value(c.Path))
		if whole := entry + ", branch: " + value(c.Branch); c.Branch != "" && valid("clusters: [{"+whole+"}]") {
			entry = whole
		}
		if !valid("clusters: [{" + entry + "}]") {
			s.note("the file cannot have the cluster %s: its path is %q", c.Name, c.Path)
			continue
		}
		y.line(1, "- {%s} # %s", entry, foundWords(c))
	}
}

func (s *survey) writeBranches(y *yamlText) {
	if len(s.branches) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "branches:")
	for _, b := range s.branches {
		at := b.at
		if at == "" {
			at = "No GitRepository tracks it yet: see docs/windowed-branches.md, before enforce. What it holds would be applied at once."
			s.note("branch %s holds what clusters share whose windows are never open together, and no GitRepository tracks it yet", b.name)
		}
		y.comment(1, "%s", at)
		y.line(1, "- {name: %s, from: %s, window: %s}", value(b.name), value(b.from), value(b.window))
	}
}

func (s *survey) writeNotes(y *yamlText) {
	for _, t := range s.gone {
		s.note("a job suspends the Flux Kustomization %s, which stands in no file that a cluster is known to read", t)
	}
	if len(s.notes) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "# To look at:")
	for i, n := range s.notes {
		if i == maxNotes {
			y.comment(0, "- and %d more", len(s.notes)-i)
			break
		}
		y.comment(0, "- %s", n)
	}
}

// maxNotes is how many notes the file has.
const maxNotes = 50

func quoteAlways(text string) string { return strconv.Quote(text) }

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = quoteAlways(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
