package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/report"
)

// dotGraph prints the graph for Graphviz: clusters with their entry points, and the files that those read. Arrows go from what reads to what is
// read; a broken arrow from a file to an entry point says that it changes that. With paths only what is about these is shown.
func dotGraph(run *meter.Meter, to io.Writer, l report.References, v report.Graph) error {
	d := dotWriter{run: run, w: bufio.NewWriter(to), nodes: map[string]string{}, edges: map[string]bool{}}
	d.line("digraph sluice {")
	d.line("  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];")
	var only map[string]bool
	if v.Paths != nil {
		only = map[string]bool{}
		for _, p := range v.Paths {
			only[p.Path] = true
		}
	}
	for i := range l.Clusters {
		here, _ := l.Entries(&l.Clusters[i])
		d.cluster(i, l.Clusters[i].Name, here)
	}
	for i := range l.Clusters {
		here, _ := l.Entries(&l.Clusters[i])
		d.reads(here, only)
		d.changes(&l.Clusters[i], only)
	}
	d.line("}")
	if d.full {
		return fmt.Errorf("--dot: more than %d arrows; name some files with --path", report.MaxGraphRows)
	}
	return errors.Join(d.err, d.w.Flush())
}

// dotWriter writes Graphviz's text. Names stand in labels only: a node is called by a number.
type dotWriter struct {
	run   *meter.Meter
	w     *bufio.Writer
	err   error // of the run, or of who reads it: nothing more is drawn
	nodes map[string]string
	edges map[string]bool
	full  bool
}

func (d *dotWriter) line(format string, args ...any) {
	text := fmt.Sprintf(format+"\n", args...)
	if d.take(meter.Bytes, len(text)); d.err == nil && !d.full {
		_, d.err = d.w.WriteString(text)
	}
}

// take charges the run, whose end is that of the drawing.
func (d *dotWriter) take(k meter.Kind, n int) {
	if d.err == nil {
		d.err = d.run.Take(k, n, "--dot")
	}
}

// quoted is a text as Graphviz shows it, whatever stands in it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(shown(s)) + `"`
}

// node is what a node is called; it is written when it is first asked for.
func (d *dotWriter) node(key, label, style string) string {
	if name, ok := d.nodes[key]; ok {
		return name
	}
	name := fmt.Sprintf("n%d", len(d.nodes))
	d.nodes[key] = name
	d.take(meter.Nodes, 1)
	d.line("  %s [label=%s%s];", name, quoted(label), style)
	return name
}

func (d *dotWriter) file(file string) string { return d.node("file\x00"+file, file, "") }

func (d *dotWriter) entry(e graph.Entry) string {
	return d.nodes["entry\x00"+e.Cluster.Name+"\x00"+report.EntryName(e.Kustomization)]
}

func (d *dotWriter) edge(from, to, style string) {
	line := fmt.Sprintf("  %s -> %s%s;", from, to, style)
	if d.edges[line] {
		return
	}
	d.take(meter.Nodes, 1)
	if d.edges[line] = true; len(d.edges) > report.MaxGraphRows {
		d.full = true
	}
	d.line("%s", line)
}

// cluster writes a cluster's entry points.
func (d *dotWriter) cluster(i int, name string, entries []graph.Entry) {
	d.line("  subgraph cluster_%d {\n  label=%s;", i, quoted(name))
	for _, e := range entries {
		label := entryShown(report.EntryName(e.Kustomization)) + ": " + e.Path()
		if e.Branch() != "" {
			label += " (" + e.Branch() + ")"
		}
		d.node("entry\x00"+name+"\x00"+report.EntryName(e.Kustomization), label, ", shape=ellipse")
	}
	d.line("  }")
}

// reads writes what the entry points of a cluster read.
func (d *dotWriter) reads(entries []graph.Entry, only map[string]bool) {
	for _, e := range entries {
		for _, file := range e.Files() {
			if only != nil && !only[file] {
				continue
			}
			for _, edge := range e.Chain(file) {
				from, why := d.entry(e), ""
				if edge.By != "" {
					from = d.file(edge.By)
				}
				if edge.Why != "" {
					why = " [label=" + quoted(edge.Why) + "]"
				}
				d.edge(from, d.file(edge.File), why)
			}
			if d.take(meter.Steps, 1); d.err != nil || d.full {
				return
			}
		}
	}
}

// changes writes what changes the entry points of a cluster beside what they read.
func (d *dotWriter) changes(c *graph.Cluster, only map[string]bool) {
	for _, in := range c.Influences() {
		if of := d.entry(in.Of); of != "" && (only == nil || only[in.File]) {
			d.edge(d.file(in.File), of, " [style=dashed, label="+quoted(in.Why)+"]")
		}
	}
}
