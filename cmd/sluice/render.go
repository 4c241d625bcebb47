package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/reach"
	"github.com/sluicegate/sluice/flux/render"
)

const renderSuspendHelp = `Prints for each cluster of DIR (default: the current directory) what runs "sluice suspend" there, so that the cluster holds its windows
itself, also when it is cut off from GitHub: the file as a ConfigMap, and for each namespace that has windowed Flux Kustomizations a ServiceAccount that
may get and patch these alone, and a Deployment, or with --kind CronJob a CronJob that runs each minute. All of it but the Roles stands in flux-system, or in
--namespace. Where several namespaces or another one than flux-system have a part in it, comments and stderr say who could touch what.

Held are the Flux Kustomizations whose source tracks a windowed branch, and those of whose files every one is windowed. What is windowed
in part is named in a comment.

Exit codes: 0 fine; 1 a manifest in Git sets suspend of a Kustomization that is held, which Flux would restore, or with flux: true something
may be missing, as part of the tree was not read, or something windowed reads no file (the manifests are printed, and stderr says what);
2 the call, the file or DIR is unusable.`

const renderFluxHelp = `Prints for each cluster of DIR (default: the current directory) the GitRepositories of the live and of each windowed side, its Flux
Kustomizations with the source that is theirs, and the Receiver, Provider and Alert that connect them with the forge: what
docs/windowed-branches.md sets up by hand. Documents of Flux Kustomizations stay as they stand in the tree but for their source.

The repository's URL is that of the cluster's root in the tree, else the remote origin of DIR; --url wins over both.

Exit codes: 0 fine; 1 with flux: true something may be missing, as part of the tree was not read, or something windowed reads no file (the
manifests are printed, and stderr says what); 2 the call, the file, DIR or the URL is unusable.`

// renderCall is what somebody asks `sluice render`.
type renderCall struct {
	file, cluster string
	kind, image   string
	namespace     string
	url           string
}

// newRenderCommand makes `sluice render`: native manifests from the same file.
func newRenderCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render",
		Short: "print manifests made from the file and the tree",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; %s", args[0], meant(args[0], names(cmd.Commands()), "`sluice render --help` lists them"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRenderSuspendCommand(e), newRenderFluxCommand(e))
	return cmd
}

func newRenderSuspendCommand(e *env) *cobra.Command {
	call := renderCall{}
	cmd := &cobra.Command{
		Use:   "suspend [DIR]",
		Short: "print manifests by which each cluster holds its windows itself, with suspend",
		Long:  renderSuspendHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := render.Kind(call.kind)
			if kind != render.Deployment && kind != render.CronJob {
				return fmt.Errorf("--kind %q: want %s or %s", call.kind, render.Deployment, render.CronJob)
			}
			in, references, err := e.renderInput(cmd.Context(), call, args)
			if err != nil {
				return err
			}
			out, err := render.Suspend(in, render.Call{Kind: kind, Image: call.image, Namespace: call.namespace})
			if err != nil {
				return err
			}
			wrong, err := render.Contradictions(in)
			if err != nil {
				return err
			}
			if _, err := e.stdout.Write(out.Manifests); err != nil {
				return err
			}
			for _, sentence := range out.Reach {
				fmt.Fprintln(e.stderr, "sluice: "+sentence)
			}
			if bytes.Contains(out.Manifests, []byte(render.ImagePlaceholder)) {
				fmt.Fprintf(e.stderr, "sluice: %s is only a placeholder: set your image with --image, or nothing runs\n", call.image)
			}
			for _, h := range wrong {
				fmt.Fprintln(e.stderr, "sluice: "+h.Contradiction())
			}
			return answer(!e.whole(references) || !out.Clean)
		},
	}
	call.common(cmd)
	cmd.Flags().StringVar(&call.kind, "kind", string(render.Deployment), "Deployment: at the instant of a change; CronJob: each minute")
	cmd.Flags().StringVar(&call.image, "image", render.ImagePlaceholder+"sluice:"+imageTag(debug.ReadBuildInfo()), "the image of sluice")
	cmd.Flags().StringVar(&call.namespace, "namespace", "flux-system", "the namespace in which it runs: who may write there may change the windows")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]cobra.Completion{"Deployment", "CronJob"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return e.metered(cmd)
}

func newRenderFluxCommand(e *env) *cobra.Command {
	call := renderCall{}
	cmd := &cobra.Command{
		Use:   "flux [DIR]",
		Short: "print the Flux objects of each cluster's live and windowed side",
		Long:  renderFluxHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, references, err := e.renderInput(cmd.Context(), call, args)
			if err != nil {
				return err
			}
			out, err := render.Flux(in, call.url, e.reading(dirOf(args)).URL)
			if err != nil {
				return err
			}
			if _, err := e.stdout.Write(out); err != nil {
				return err
			}
			return answer(!e.whole(references))
		},
	}
	call.common(cmd)
	cmd.Flags().StringVar(&call.url, "url", "", "the repository's URL, whatever the tree says")
	return e.metered(cmd)
}

// whole reports whether nothing of what is windowed may be missing in what is printed, and says what is not known.
func (e *env) whole(g *reach.Graph) bool {
	out := true
	for _, n := range append(g.Nothing(nil), g.Hidden(nil)...) {
		if n.Level == config.LevelHold {
			out = false
			fmt.Fprintln(e.stderr, "sluice: "+n.String())
		}
	}
	return out
}

// common is the flags of both.
func (c *renderCall) common(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.file, "file", "", fileUsage+", instead of DIR/"+config.File)
	cmd.Flags().StringVar(&c.cluster, "cluster", "", "this cluster alone")
}

// maxNamed is how many clusters the error of a wrong name has.
const maxNamed = 10

// renderInput reads the file and the tree, and what the references say of it.
func (e *env) renderInput(ctx context.Context, call renderCall, args []string) (render.Input, *reach.Graph, error) {
	dir := dirOf(args)
	data, file, err := e.readPolicyFile(ctx, dir, call.file)
	if err != nil {
		return render.Input{}, nil, err
	}
	policy, err := e.within(parsePolicy(file, data))
	if err != nil {
		return render.Input{}, nil, err
	}
	read, err := e.reading(dir).Read(ctx, os.DirFS(dir), policy.Clusters)
	if err != nil {
		return render.Input{}, nil, fmt.Errorf("read %s: %w", dir, err)
	}
	in := render.Input{Policy: policy, File: data, Tree: read.Files, Graph: read.Graph, Clusters: read.Clusters}
	if len(in.Clusters) == 0 {
		return render.Input{}, nil, errors.New("no cluster found in " + shown(dir) + ": list them under `clusters` in " + config.File)
	}
	g := reach.New(policy, in.Clusters)
	if g.Err() != nil {
		return render.Input{}, nil, g.Err()
	}
	if policy.Flux {
		in.Policy = policy.With(g)
	}
	if call.cluster == "" {
		return in, g, nil
	}
	var known []string
	for _, c := range in.Clusters {
		known = append(known, shown(c.Name))
	}
	if in.Only = call.cluster; !slices.ContainsFunc(in.Clusters, func(c graph.Cluster) bool { return c.Name == in.Only }) {
		return render.Input{}, nil, fmt.Errorf("--cluster %q: there is none of this name; %s", call.cluster, meant(call.cluster, known, "known are "+strings.Join(known[:min(len(known), maxNamed)], ", ")))
	}
	return in, g, nil
}

// release is the form of a version that has an image.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// imageTag is the tag of this version's image.
func imageTag(info *debug.BuildInfo, ok bool) string {
	if v := built(info, ok).Version; release.MatchString(v) {
		return v
	}
	return "VERSION"
}
