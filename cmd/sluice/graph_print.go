package main

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/report"
)

// maxUnreachedLines bounds what is listed of the files that nobody reads; the sum is of all.
const maxUnreachedLines = 10

// printGraph shows the graph for people.
func printGraph(to io.Writer, v report.Graph) error {
	w := bufio.NewWriter(to)
	if v.Paths != nil {
		for i, p := range v.Paths {
			if i > 0 {
				fmt.Fprintln(w)
			}
			printPath(w, p)
		}
		return w.Flush()
	}
	for _, c := range v.Clusters {
		if err := printCluster(w, c); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	printSum(w, v)
	return w.Flush()
}

// text is an optional text as a terminal may see it.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return shown(*s)
}

// printCluster shows a cluster: a line for each entry point.
func printCluster(w io.Writer, c report.GraphCluster) error {
	found := c.Found
	if c.At != nil {
		found += ", " + text(c.At)
	}
	fmt.Fprintf(w, "%s: %s (%s)\n", shown(c.Name), shown(c.Path), found)
	needs := slices.ContainsFunc(c.Entries, func(e report.GraphEntry) bool { return e.Releases != nil })
	differs := slices.ContainsFunc(c.Entries, func(e report.GraphEntry) bool { return e.Files > 0 && reach.Names(e.Releases) != e.Needs })
	optional := func(cells ...string) []string {
		if needs && differs {
			return cells
		} else if needs {
			return cells[:1]
		}
		return nil
	}
	rows := table{slices.Concat([]string{"  entry point", "path", "source"}, optional("release", "by the graph"), []string{"files"})}
	for _, e := range c.Entries {
		release := optional(shown(e.Needs), shown(reach.Names(e.Releases)))
		rows.row(slices.Concat([]string{"  " + entryShown(e.Name), shown(e.Path), sourceShown(e)}, release, []string{countShown(e)})...)
	}
	return rows.print(w)
}

// entryShown is an entry point by its name.
func entryShown(name string) string {
	if name == "" {
		return "the root"
	}
	return shown(name)
}

// sourceShown is where an entry point reads: the branch, or what the source is.
func sourceShown(e report.GraphEntry) string {
	switch {
	case e.Branch != nil && !e.Leaf:
		return text(e.Branch)
	case e.URL != nil && e.Leaf:
		return strings.TrimSpace(text(e.URL) + " " + text(e.Branch))
	case e.Source != nil:
		return text(e.Source)
	}
	return "not known"
}

// countShown is how many files an entry point reads, or why none.
func countShown(e report.GraphEntry) string {
	if e.Note != nil {
		return "none: " + *e.Note
	}
	return fmt.Sprint(e.Files)
}

// printSum is what is left to say of all: what nobody reads, and what was not understood.
func printSum(w io.Writer, v report.Graph) {
	if len(v.Clusters) == 0 {
		fmt.Fprintln(w, "No cluster found: list them under `clusters` in .github/sluice.yaml.")
	}
	switch {
	case v.Files == 0:
	case v.UnreachedFiles == 0:
		fmt.Fprintf(w, "Each of the %d files is read.\n", v.Files)
	case v.UnreachedFiles == 1:
		fmt.Fprintf(w, "No cluster reads 1 of %d files:\n", v.Files)
	default:
		fmt.Fprintf(w, "No cluster reads %d of %d files:\n", v.UnreachedFiles, v.Files)
	}
	for i, u := range v.Unreached {
		if i == maxUnreachedLines {
			fmt.Fprintf(w, "  and %d more; --json lists them\n", len(v.Unreached)-i)
			break
		}
		fmt.Fprintf(w, "  %s%s\n", shown(u.Path), counted(u.Files-1, " (2 files)", " (%d files)"))
	}
	for i, leaf := range v.Leaves {
		if i == 0 {
			fmt.Fprint(w, "\nThe graph ends here:\n")
		}
		printProblem(w, leaf.GraphProblem)
	}
	for i, p := range v.Problems {
		if i == 0 {
			fmt.Fprint(w, "\nNot read:\n")
		}
		printProblem(w, p)
	}
}

// printProblem shows what is wrong, and where.
func printProblem(w io.Writer, p report.GraphProblem) {
	place := ""
	if p.File != "" {
		place = fmt.Sprintf("%s:%d: ", shown(p.File), p.Line)
	}
	fmt.Fprintf(w, "  %s%s\n", place, shown(p.Message))
}

// printPath shows who reads a file and what it changes.
func printPath(w io.Writer, p report.GraphPath) {
	fmt.Fprintln(w, shown(p.Path))
	if len(p.Readers)+len(p.Changes) == 0 {
		fmt.Fprintln(w, "  no cluster reads it")
	}
	if p.Needs != "" {
		fmt.Fprintf(w, "  release: %s%s\n", shown(p.Needs), inBrackets(&p.Rule))
	}
	if text := reach.Names(p.Releases); p.Releases != nil && text != p.Needs {
		fmt.Fprintf(w, "  by the graph: %s\n", shown(text))
	}
	for _, r := range p.Readers {
		fmt.Fprintf(w, "  read in %s by %s%s\n    %s\n", shown(r.Cluster), entryShown(r.Entry), inBrackets(r.Branch), chainShown(r))
	}
	for _, c := range p.Changes {
		fmt.Fprintf(w, "  changes %s in %s, as %s applies it\n    line %d: %s\n", entryShown(c.Entry), shown(c.Cluster), entryShown(c.By), c.Line, shown(c.Text))
	}
}

// inBrackets is an optional text behind another one.
func inBrackets(s *string) string {
	if s == nil || *s == "" {
		return ""
	}
	return " (" + text(s) + ")"
}

// chainShown is the way from a file to the entry point: each file with the field of the next one that names it, and at last the directory that the
// entry point reads. What names the files there is known from that directory.
func chainShown(r report.GraphReader) string {
	steps := []string{}
	for i, s := range r.Chain {
		if i > 0 && s.By == nil && path.Dir(s.File) == r.Path {
			break
		}
		step := shown(s.File)
		if s.By != nil && s.Why != nil && *s.Why != "resources" {
			step += inBrackets(s.Why)
		}
		steps = append(steps, step)
	}
	return strings.Join(append(steps, shown(r.Path)), " ← ")
}
