package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/api"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/store"
)

// historyCall is the flags of `sluice history`.
type historyCall struct {
	pull         int
	branch       string
	since        string
	statuses     bool
	json, export bool
	server       string
}

const historyLong = `Who did what, when and why, in the order of time: what sluice did; what people did by a comment, a freeze, a change of the rules, or past sluice; what Flux said of it.
Read from the service's database, also while the service runs, or asked of a running service with --server; nothing is asked of GitHub. Times are in UTC.

With --export each act is one line of JSON, for those who keep it elsewhere; without OWNER/REPO those of all repositories, also of such as are gone.`

// newHistoryCommand makes `sluice history`.
func newHistoryCommand(e *env) *cobra.Command {
	var call historyCall
	cmd := &cobra.Command{
		Use:   "history OWNER/REPO",
		Short: "show who did what, when and why",
		Long:  historyLong,
		Example: `  sluice history acme/fleet --since 24h
  sluice history acme/fleet --pull 468
  sluice history --export --since 2026-10-01 >october.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && !call.export {
				return errors.New("history needs one repository: OWNER/REPO")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := e.asked(call, args)
			if err != nil {
				return err
			}
			if call.server != "" {
				if call.export {
					return errors.New("--export reads the database: not with --server")
				}
				r, err := remoteOf(cmd, call.server, args[0])
				if err != nil {
					return err
				}
				return e.historyAt(cmd.Context(), r, call, asked.Since)
			}
			s, err := readSettings(cmd.Flags())
			if err != nil {
				return err
			}
			return e.history(cmd.Context(), s.Database, asked, call)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&call.pull, "pull", 0, "only what is about this pull request")
	flags.StringVar(&call.branch, "branch", "", "only what is about this branch, the base of what was merged or a windowed one")
	flags.StringVar(&call.since, "since", "", "only what was done since: 24h, or an instant such as 2026-11-23T08:00 or 2026-11-23 in UTC, or with an offset")
	flags.BoolVar(&call.statuses, "statuses", false, "also each status that was written; --export has them")
	flags.BoolVar(&call.json, "json", false, "print JSON")
	flags.BoolVar(&call.export, "export", false, "print each act as one line of JSON")
	cmd.MarkFlagsMutuallyExclusive("json", "export")
	addSetting(flags, "database")
	addServer(cmd, &call.server)
	return cmd
}

// asked is what a call asks for.
func (e *env) asked(call historyCall, args []string) (store.Asked, error) {
	q := store.Asked{Pull: call.pull, Branch: plan.Branch(call.branch), Statuses: call.statuses || call.export}
	if call.pull < 0 {
		return q, fmt.Errorf("--pull %d: want the number of a pull request", call.pull)
	}
	if len(args) == 1 {
		var err error
		if q.Owner, q.Name, err = repoName(args[0]); err != nil {
			return q, err
		}
	}
	if ago, err := time.ParseDuration(call.since); err == nil && ago >= 0 {
		q.Since = e.now().UTC().Add(-ago)
	} else if call.since != "" {
		m, err := e.moment(call.since)
		if err != nil {
			return q, fmt.Errorf("--since %q: want 24h, or 2026-11-23T08:00 or 2026-11-23 in UTC, or RFC 3339 with an offset, like 2026-11-23T08:00:00+01:00", call.since)
		}
		if q.Since = m.exact; q.Since.IsZero() {
			q.Since = m.local.In(time.UTC)
		}
	}
	return q, nil
}

// historyPage is how many acts are read at once: while they are printed nothing is kept of the database, however long the reader takes.
const historyPage = 1000

func (e *env) history(ctx context.Context, database string, q store.Asked, call historyCall) error {
	r, err := store.OpenReader(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing was written
	all := report.History{Acts: []report.Act{}}
	lines := json.NewEncoder(e.stdout)
	lines.SetEscapeHTML(false)
	show := func(a store.Act) error {
		switch {
		case call.export:
			return lines.Encode(api.ActOf(a))
		case call.json:
			all.Acts = append(all.Acts, api.ActOf(a))
			return nil
		}
		_, err := fmt.Fprintln(e.stdout, sayAct(api.ActOf(a)))
		return err
	}
	for q.Most = historyPage; ; {
		found, err := r.History(ctx, q)
		if errors.Is(err, store.ErrUnknown) {
			return fmt.Errorf("%s/%s: the database %s has nothing of it", q.Owner, q.Name, database)
		}
		for _, a := range found {
			err = cmp.Or(err, show(a))
		}
		if err != nil {
			return err
		}
		if len(found) < historyPage {
			break
		}
		q.After = found[len(found)-1].Place()
	}
	if call.json {
		return printJSON(e.stdout, all)
	}
	return nil
}

// sayAct is an act for people, whoever wrote what is in it.
func sayAct(a report.Act) string {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return plan.Clean(*s)
	}
	words := []string{a.At.UTC().Format("2006-01-02 15:04:05Z"), cmp.Or(text(a.By), "somebody"), plan.Clean(a.Act)}
	if a.Outcome != string(store.Done) {
		words = append(words, plan.Clean(a.Outcome))
	}
	if a.PullRequest != nil {
		words = append(words, fmt.Sprintf("#%d", *a.PullRequest))
	}
	for _, text := range []string{text(a.Branch), plan.SHA(text(a.SHA)).Short()} {
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.TrimSuffix(strings.Join(words, " ")+": "+plan.Clean(a.Reason), ": ")
}

// repoName reads OWNER/REPO.
func repoName(text string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(text, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q: want OWNER/REPO", text)
	}
	return owner, name, nil
}
