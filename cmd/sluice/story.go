package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/standin"
)

// tell plays the people and says what happens, in plain words: a live merge, a hold, an opening and a merge.
func (d *demo) tell(ctx context.Context) error {
	minute := openingMinute(d.now())
	if err := d.prepare(minute); err != nil {
		return err
	}
	fmt.Fprintf(d.out, demoIntro, d.repo, d.service.admin.Addr(), d.repo.CloneURL(), minute)
	if err := d.liveChange(ctx); err != nil {
		return err
	}
	if err := d.windowedChange(ctx); err != nil {
		return err
	}
	log, err := d.repo.Log("main")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nWhat stands in git now, on main:\n")
	for _, entry := range log {
		fmt.Fprintf(d.out, "  %.7s  %s\n", entry.SHA, firstLine(entry.Message))
	}
	return nil
}

const demoIntro = `sluice demo: the service as it is, and a stand-in GitHub over real git, on this machine alone.

  repository   %s: nginx, split into nginx-rt (live) and nginx-rw (windowed)
  the page     http://%s
  git          git clone %s
  its rules    .github/sluice.yaml: the window "demo" opens on %s, for one minute, and releases
               nothing in its last ten seconds

`

// prepare makes the repository of the walk-through, protected as it should be: our status is required, from our App alone.
func (d *demo) prepare(minute string) error {
	repo, err := d.github.CreateRepo("acme", "fleet", demoFiles(minute))
	if err != nil {
		return err
	}
	d.repo = repo
	repo.SetPermission("alice", standin.Write)
	repo.SetPermission("bob", standin.Write)
	repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: demoApp}}})
	return nil
}

// openingMinute says which minutes the window opens on: the next full minute that leaves time to watch the hold.
func openingMinute(now time.Time) string {
	next := now.Truncate(time.Minute).Add(time.Minute)
	if next.Sub(now) < demoHold {
		next = next.Add(time.Minute)
	}
	if next.UTC().Minute()%2 == 0 {
		return "every even minute"
	}
	return "every odd minute"
}

// demoHold is how long the windowed change should be seen to be held, at least.
const demoHold = 25 * time.Second

func (d *demo) liveChange(ctx context.Context) error {
	n, err := d.open(standin.NewPull{
		By: "alice", Title: "nginx-rt: three replicas", Head: "three-replicas",
		Change: &standin.Change{Message: "nginx-rt: three replicas", Write: map[string]string{
			"apps/nginx/nginx-rt/deployment.yaml": demoDeployment(3),
		}},
	}, "It changes a live path only, so sluice merges it whatever the clock says.")
	if err != nil {
		return err
	}
	return d.watch(ctx, n)
}

func (d *demo) windowedChange(ctx context.Context) error {
	n, err := d.open(standin.NewPull{
		By: "bob", Title: "nginx-rw: another port", Head: "another-port",
		Change: &standin.Change{Message: "nginx-rw: another port", Write: map[string]string{
			"apps/nginx/nginx-rw/service.yaml": demoService(8080),
		}},
	}, "It changes a windowed path, and the window is shut: sluice holds it until the window opens.")
	if err != nil {
		return err
	}
	return d.watch(ctx, n)
}

func (d *demo) open(p standin.NewPull, why string) (int, error) {
	n, err := d.repo.OpenPull(p)
	if err != nil {
		return 0, err
	}
	d.say("%s opens #%d %q. %s", p.By, n, p.Title, why)
	return n, nil
}

const (
	watchEvery = 100 * time.Millisecond
	// watchMost is how long a pull request of the demo may take at most: two minutes to the opening, and some.
	watchMost = 150 * time.Second
)

// watch says what becomes of a pull request until it is merged.
func (d *demo) watch(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, watchMost)
	defer cancel()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	told := 0
	for {
		p, err := d.repo.Pull(n)
		if err != nil {
			return err
		}
		statuses := d.repo.Statuses(p.HeadSHA) // newest first
		slices.Reverse(statuses)
		for _, s := range statuses[told:] {
			d.say("  status %s on #%d: %s", s.State, n, s.Description)
		}
		told = len(statuses)
		if p.Merged {
			d.say("  #%d is merged by %s: main is at %.7s", n, p.MergedBy.Login, p.MergeSHA)
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("#%d was not merged within %s: run with --log.level info to see why", n, watchMost)
			}
			return ctx.Err()
		case err := <-d.ended:
			d.ended <- err
			return fmt.Errorf("the service ended: %w", err)
		case <-tick.C:
		}
	}
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "%s  %s\n", d.now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// invite tells how to go on by hand.
func (d *demo) invite() {
	fmt.Fprintf(d.out, `
Go on by hand, as a person with write access:

  git clone -c http.extraHeader="Authorization: token person:alice" %s
  # push a branch, then:
  curl -s -H "Authorization: token person:alice" %s/repos/%s/pulls \
    -d '{"title":"mine","head":"my-branch","base":"main"}'

Ctrl-C ends it and removes everything.
`, d.repo.CloneURL(), d.service.settings.GitHubURL, d.repo)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
