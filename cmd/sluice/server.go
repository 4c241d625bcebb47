package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/report"
	"github.com/sluicegate/sluice/window"
)

// remote is a running service, asked with the caller's own token.
type remote struct {
	base  *url.URL // of a repository
	token string   // "": none; it may do without
}

// Bounds of what a service is believed.
const (
	answerMost = 64 << 20
	waitMost   = time.Minute
)

// addServer makes a command ask a running service.
func addServer(cmd *cobra.Command, server *string) {
	cmd.Flags().StringVar(server, "server", "", "ask a running service at this URL, with GH_TOKEN or what gh auth token gives")
	if cmd.Flags().Lookup("github.url") == nil {
		addSetting(cmd.Flags(), "github.url")
	}
}

// remoteOf is the service at an address, for questions about a repository.
func remoteOf(cmd *cobra.Command, server, repository string) (*remote, error) {
	owner, name, err := repoName(repository)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil {
		return nil, errors.New("--server: want a URL such as https://sluice.example.com, without a name or password in it")
	}
	near := base.Hostname() == "localhost"
	if a, err := netip.ParseAddr(base.Hostname()); err == nil {
		near = a.IsLoopback()
	}
	if base.Scheme == "http" && !near {
		return nil, fmt.Errorf("--server %s: want https: your token would travel in clear", server)
	}
	s, err := readSettings(cmd.Flags())
	if err != nil {
		return nil, err
	}
	token, err := personalToken(cmd.Context(), s.GitHubURL)
	if err != nil && !near {
		return nil, err
	}
	return &remote{base.JoinPath("api", "v1", "repos", owner, name), token}, nil
}

// get asks, and reads the answer.
func (r *remote) get(ctx context.Context, path string, q url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, waitMost)
	defer cancel()
	at := r.base.JoinPath(path)
	at.RawQuery = q.Encode()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	if r.token != "" {
		ask.Header.Set("Authorization", "Bearer "+r.token)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // which could lead the token elsewhere
	answer, err := c.Do(ask)
	var unreached *net.OpError
	switch {
	case errors.As(err, &unreached):
		return fmt.Errorf("%s does not answer: %w", r.base.Host, unreached)
	case err != nil:
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	body := json.NewDecoder(io.LimitReader(answer.Body, answerMost))
	if answer.StatusCode != http.StatusOK {
		var p report.Problem
		if err := body.Decode(&p); err != nil || p.Detail == "" {
			return fmt.Errorf("%s answered %s: is this sluice's admin.listen?", r.base.Host, answer.Status)
		}
		return fmt.Errorf("%s answered %s: %s", r.base.Host, answer.Status, plan.Text(plan.Clean(p.Detail)))
	}
	if err := body.Decode(into); err != nil {
		return fmt.Errorf("%s answered what is not understood: %w", r.base.Host, err)
	}
	return nil
}

// planAt shows what a running service decided at its last look.
func (e *env) planAt(ctx context.Context, r *remote, asJSON bool) error {
	var v report.Standing
	if err := r.get(ctx, "", nil, &v); err != nil {
		return err
	}
	for i := range v.Pulls {
		v.Pulls[i].Text = v.Pulls[i].Reason
	}
	for i := range v.Branches {
		v.Branches[i].Text = v.Branches[i].Reason
	}
	for _, says := range v.Warnings {
		about, text, _ := strings.Cut(says, ": ")
		v.Notes = append(v.Notes, plan.Note{About: about, Says: text})
	}
	if asJSON {
		if err := printJSON(e.stdout, v); err != nil {
			return err
		}
	} else {
		if v.At.IsZero() {
			return fmt.Errorf("%s has not looked at %s yet", r.base.Host, v.Repository)
		}
		fmt.Fprintf(e.stdout, "as of the last look, %s\n", v.At.UTC().Format(time.RFC3339))
		if err := e.showPlan(v.Plan, false); err != nil {
			return err
		}
	}
	return answer(v.Stays())
}

// windowsAt shows when windows are open, as a running service has them.
func (e *env) windowsAt(ctx context.Context, r *remote, call windowsCall, asJSON bool) error {
	q := url.Values{"days": {strconv.Itoa(call.days)}}
	if call.at != "" {
		at, err := e.moment(call.at)
		switch {
		case err != nil:
			return err
		case at.exact.IsZero():
			return fmt.Errorf("--at %q: with --server it needs an offset, like 2026-11-23T08:00:00+01:00", call.at)
		}
		q.Set("at", at.exact.Format(time.RFC3339))
	}
	var v report.Windows
	if err := r.get(ctx, "windows", q, &v); err != nil {
		return err
	}
	if call.name != "" {
		if v.Windows = slices.DeleteFunc(v.Windows, func(w report.Window) bool { return w.Name != call.name }); len(v.Windows) == 0 {
			return fmt.Errorf("%s has no window %q", r.base.Host, call.name)
		}
	}
	if asJSON {
		return printJSON(e.stdout, v)
	}
	for _, w := range v.Windows {
		zone, err := window.LoadZone(w.Timezone)
		if err != nil {
			zone = time.UTC
		}
		state := "closed"
		if w.Open {
			state = "open"
		}
		if w.FrozenBy != nil {
			state += ", frozen by " + plan.Clean(*w.FrozenBy)
		}
		if !w.Until.IsZero() {
			state += " until " + plan.Clock(w.Until.Time, zone)
		}
		fmt.Fprintf(e.stdout, "%s: %s\n", plan.Clean(string(w.Name)), state)
		for _, i := range w.Intervals {
			until := "no end in sight"
			if !i.Until.IsZero() {
				until = plan.Clock(i.Until.Time, zone)
			}
			fmt.Fprintf(e.stdout, "  %s – %s\n", plan.Clock(i.From.Time, zone), until)
		}
	}
	return nil
}

// historyAt shows who did what, as a running service has it.
func (e *env) historyAt(ctx context.Context, r *remote, call historyCall, since time.Time) error {
	q := url.Values{}
	for key, text := range map[string]string{"branch": call.branch, "pull": strconv.Itoa(call.pull), "since": since.UTC().Format(time.RFC3339), "statuses": strconv.FormatBool(call.statuses)} {
		q.Set(key, text)
	}
	if call.pull == 0 {
		q.Del("pull")
	}
	if since.IsZero() {
		q.Del("since")
	}
	all := report.History{Acts: []report.Act{}}
	for {
		var page report.HistoryPage
		if err := r.get(ctx, "history", q, &page); err != nil {
			return err
		}
		all.Acts = append(all.Acts, page.Acts...)
		if page.Next == nil || len(page.Acts) == 0 {
			break
		}
		q.Set("after", *page.Next)
	}
	slices.Reverse(all.Acts)
	if call.json {
		return printJSON(e.stdout, all)
	}
	for _, a := range all.Acts {
		if _, err := fmt.Fprintln(e.stdout, sayAct(a)); err != nil {
			return err
		}
	}
	return nil
}
