package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sluicegate/sluice/deploy/flux"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

const demoBranch = "rw/cluster-1"

// story plays the people and says what happens, in plain words: a live merge; a change that is held; one that is merged at once
// while the windowed branch waits with its windowed half; and the opening.
func (d *demo) story(ctx context.Context) error {
	opening := openingMinute(d.now())
	files, err := d.prepare(opening)
	if err != nil {
		return err
	}
	d.introduce(opening)
	if err := d.play(ctx, files); err != nil {
		return err
	}
	for _, branch := range []string{"main", demoBranch} {
		log, err := d.repo.Log(branch)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "\nCommits on %s now:\n", branch)
		for _, entry := range log {
			fmt.Fprintf(d.out, "  %.7s  %s\n", entry.SHA, plan.Clean(firstLine(entry.Message)))
		}
	}
	return nil
}

const demoIntro = `sluice-demo: the real service and a stand-in GitHub over real git, on this machine only.

  repository   %s: nginx, split into nginx-rt (live) and nginx-rw (windowed); the cluster reads
               nginx-rt from main and nginx-rw from %s
  GitHub       %s
  the page     http://%s
  git          git clone %s
  rules        .github/sluice.yaml: the window "demo" opens at %s and every three minutes, for one minute; nothing is released
               in its last ten seconds

What sluice would do now, asked from another terminal, and afterwards who did what:

  %s
  %s

`

// introduce says what there is, and where.
func (d *demo) introduce(opening time.Time) {
	fmt.Fprintf(d.out, demoIntro, d.repo, demoBranch, d.settings.PeopleURL()+"/"+d.repo.String(), d.service.Page(), d.repo.CloneURL(),
		opening.Format("15:04 MST"), strings.Join([]string{
			"SLUICE_GITHUB_URL=" + shellWord(d.settings.GitHubURL), fmt.Sprintf("SLUICE_GITHUB_APP_ID=%d", d.settings.AppID),
			"SLUICE_GITHUB_PRIVATE_KEY_FILE=" + shellWord(d.key), sluice(os.Args[0]), "plan", d.repo.String(),
		}, " "), strings.Join([]string{sluice(os.Args[0]), "history", d.repo.String(), "--database", shellWord(d.settings.Database)}, " "))
}

// sluice is how a shell calls sluice: the program that lies beside this one, or that of the clone.
func sluice(demo string) string {
	beside := filepath.Join(filepath.Dir(demo), "sluice")
	if _, err := os.Stat(beside); err != nil {
		return "go run ./cmd/sluice"
	}
	if !strings.Contains(beside, string(filepath.Separator)) { // or a shell would look for it elsewhere
		beside = "." + string(filepath.Separator) + beside
	}
	return shellWord(beside)
}

// shellWord is a word for a shell.
func shellWord(word string) string {
	if !strings.ContainsFunc(word, func(c rune) bool {
		return !strings.ContainsRune("_./:=-+", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// prepare makes the repository of the walk-through, protected as it should be: our status is required, from our App alone, of main and of the windowed branch, which
// nobody else may move.
func (d *demo) prepare(opening time.Time) (map[string]string, error) {
	files, err := flux.Demo(opens(opening))
	if err != nil {
		return nil, err
	}
	repo, err := d.github.CreateRepo("acme", "fleet", files)
	if err != nil {
		return nil, err
	}
	d.repo = repo
	repo.SetPermission("alice", standin.Write)
	repo.SetPermission("bob", standin.Write)
	repo.SetPermission("flux", standin.Write)
	repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: string(plan.ContextFor("main")), App: demoApp}}})
	err = repo.Push("alice", demoBranch, repo.Tip("main"))
	repo.Protect("rw/*", standin.Rules{Restrict: true, Bypass: []string{"sluice"}})
	repo.Protect(demoBranch, standin.Rules{Checks: []standin.RequiredCheck{{Context: string(plan.PromoteContextFor(demoBranch)), App: demoApp}}})
	d.moves = len(repo.Moves())
	return files, err
}

// openingMinute is the minute from which on the window opens every demoCycle: the next full one that leaves time to watch what
// waits. The cycle is long enough that the window is closed until then.
func openingMinute(now time.Time) time.Time {
	next := now.UTC().Truncate(time.Minute).Add(time.Minute)
	if next.Sub(now) < demoHold {
		next = next.Add(time.Minute)
	}
	return next
}

// opens is the cron expression by which the window of the demo opens.
func opens(opening time.Time) string {
	cycle := int(demoCycle / time.Minute)
	return fmt.Sprintf("%d-59/%d * * * *", opening.Minute()%cycle, cycle)
}

// demoCycle is how often the window of the demo opens. It divides an hour.
const demoCycle = 3 * time.Minute

// demoHold is how long what is windowed should be seen to wait, at least.
const demoHold = 35 * time.Second

// The files that the people of the demo change.
const (
	demoPages   = "clusters/cluster-1/apps/nginx-rt/pages.yaml"
	demoService = "clusters/cluster-1/apps/nginx-rw/service.yaml"
	demoSources = "clusters/cluster-1/flux/sources.yaml"
)

// edited is a file of the repository with one text put in another's place.
func edited(files map[string]string, path, old, text string) (string, error) {
	if !strings.Contains(files[path], old) {
		return "", fmt.Errorf("the sample's %s has no %q", path, old)
	}
	return strings.Replace(files[path], old, text, 1), nil
}

// play opens the pull requests of the story and watches until the last of what they cause has happened.
func (d *demo) play(ctx context.Context, files map[string]string) error {
	live, err := edited(files, demoPages, "Good morning", "Good afternoon")
	if err != nil {
		return err
	}
	if err := d.open("alice", "pages: good afternoon", map[string]string{demoPages: live},
		"It changes only a live path, so sluice merges it at once."); err != nil {
		return err
	}
	if err := d.watch(ctx, d.merged(1)); err != nil {
		return err
	}
	sources, err := edited(files, demoSources, "interval: 1m # the Receiver", "interval: 5m # the Receiver")
	if err != nil {
		return err
	}
	if err := d.open("bob", "flux: fetch every five minutes", map[string]string{demoSources: sources},
		"It changes what the cluster reads from where: the window holds that, and the window is closed."); err != nil {
		return err
	}
	evening, err := edited(files, demoPages, "Good morning", "Good evening")
	if err != nil {
		return err
	}
	port, err := edited(files, demoService, "port: 80\n", "port: 8080\n")
	if err != nil {
		return err
	}
	if err := d.open("alice", "nginx: good evening, on another port", map[string]string{demoPages: evening, demoService: port},
		"The live half may be released now, and "+demoBranch+" holds the windowed half, so sluice merges it at once."); err != nil {
		return err
	}
	return d.watch(ctx, d.allDone)
}

func (d *demo) open(by, title string, write map[string]string, why string) error {
	n, err := d.repo.OpenPull(standin.NewPull{
		By: by, Title: title, Head: fmt.Sprintf("change-%d", len(d.pulls)+1),
		Change: &standin.Change{Message: title, Write: write},
	})
	if err != nil {
		return err
	}
	p, err := d.repo.Pull(n)
	if err != nil {
		return err
	}
	d.pulls, d.seen[n] = append(d.pulls, n), p
	d.say("%s opens #%d %q. %s", by, n, title, why)
	return nil
}

// merged reports whether the first n pull requests of the story are merged.
func (d *demo) merged(n int) func() (bool, error) {
	return func() (bool, error) {
		for _, number := range d.pulls[:n] {
			if p, err := d.repo.Pull(number); err != nil || !p.Merged {
				return false, err
			}
		}
		return true, nil
	}
}

// allDone reports whether everything is merged, the windowed branch stands where main does, and sluice has heard from Flux.
func (d *demo) allDone() (bool, error) {
	if ok, err := d.merged(len(d.pulls))(); err != nil || !ok {
		return false, err
	}
	return d.applied == d.repo.Tip("main"), nil
}

const (
	watchEvery = 100 * time.Millisecond
	// watchMost is how long an act of the demo may take at most: two minutes to the opening, and some.
	watchMost = 150 * time.Second
)

// watch says what happens until the act is over.
func (d *demo) watch(ctx context.Context, over func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, watchMost)
	defer cancel()
	err := d.follow(ctx, over)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("this took longer than %s: run with --log.level info to see why", watchMost)
	}
	return err
}

// narrate says what happens until ctx ends.
func (d *demo) narrate(ctx context.Context) error {
	err := d.follow(ctx, func() (bool, error) { return false, nil })
	if ctx.Err() != nil {
		return nil // Ctrl-C: the reader has seen enough
	}
	return err
}

// follow says what happens until it is over, or ctx ends.
func (d *demo) follow(ctx context.Context, over func() (bool, error)) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := d.report(ctx); err != nil {
			return err
		}
		if ok, err := over(); err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-d.ended:
			d.ended <- err
			return fmt.Errorf("the service ended: %w", err)
		case <-tick.C:
		}
	}
}

// report says everything that is new: pull requests, statuses, merges, moves, and what becomes of a move in the cluster.
func (d *demo) report(ctx context.Context) error {
	for _, p := range d.repo.Pulls() {
		d.reportPull(p)
	}
	d.reportMoves()
	main := d.repo.Tip("main")
	d.reportStatuses(main, string(plan.PromoteContext), fmt.Sprintf("main %.7s", main))
	if err := d.followBranch(); err != nil {
		return err
	}
	return d.reportVerdict(ctx)
}

// reportPull says what is new of one pull request.
func (d *demo) reportPull(p standin.Pull) {
	before, known := d.seen[p.Number]
	d.seen[p.Number] = p
	switch {
	case !known:
		d.say("%s opens #%d %q", p.Author.Login, p.Number, p.Title)
	case p.HeadSHA != before.HeadSHA:
		d.say("#%d is at %.7s", p.Number, p.HeadSHA)
	case p.Open && !before.Open:
		d.say("#%d is open again", p.Number)
	}
	d.reportStatuses(p.HeadSHA, string(plan.ContextFor(plan.Branch(p.Base))), fmt.Sprintf("#%d", p.Number))
	switch {
	case p.Merged && !before.Merged:
		d.say("  #%d is merged by %s: %s is at %.7s", p.Number, p.MergedBy.Login, p.Base, p.MergeSHA)
	case known && before.Open && !p.Open:
		d.say("#%d is closed", p.Number)
	}
}

// reportMoves says which branches people moved by themselves. What a pull request does to its branches, and sluice to its own, is said elsewhere.
func (d *demo) reportMoves() {
	explained := map[string]bool{demoBranch: true}
	for _, p := range d.seen {
		explained[p.Head], explained[p.MergeSHA] = true, true
	}
	all := d.repo.Moves()
	for _, m := range all[d.moves:] {
		switch {
		case explained[m.Branch] || explained[m.After] && m.After != "":
		case m.After == "":
			d.say("%s deletes %s", m.By.Login, m.Branch)
		default:
			d.say("%s pushes to %s: it is at %.7s", m.By.Login, m.Branch, m.After)
		}
	}
	d.moves = len(all)
}

// reportStatuses says the statuses of one context on a commit that were not said yet.
func (d *demo) reportStatuses(sha, context, on string) {
	all := slices.DeleteFunc(d.repo.Statuses(sha), func(s standin.Status) bool { return s.Context != context }) // newest first
	slices.Reverse(all)
	key := context + " " + sha
	for _, s := range all[min(d.statuses[key], len(all)):] {
		d.say("  status %s on %s: %s", s.State, on, s.Description)
	}
	d.statuses[key] = len(all)
}

// followBranch says where the windowed branch went, and plays Flux: it applies what the branch holds, and says so on the commit.
func (d *demo) followBranch() error {
	tip := d.repo.Tip(demoBranch)
	if tip == d.branch {
		return nil
	}
	if d.branch != "" {
		d.say("  %s moves from %.7s to %.7s; Flux applies it", demoBranch, d.branch, tip)
		err := d.repo.SetStatus(standin.Status{
			SHA: tip, By: standin.Actor{Login: "flux"}, Context: "kustomization/" + demoBranch + "/apps-rw", State: "success", Description: "reconciliation succeeded",
		})
		if err != nil {
			return err
		}
	}
	d.branch = tip
	return nil
}

// reportVerdict says once for each value of the windowed branch that sluice knows it to be applied.
func (d *demo) reportVerdict(ctx context.Context) error {
	return d.service.Store().Pages(ctx, nil, func(p store.Page) error {
		for _, b := range p.Branches {
			if b.Kind == plan.Applied && string(b.Old) == d.branch && d.applied != d.branch {
				d.applied = d.branch
				d.say("  %s is %s at %s: %s", b.Name, b.Kind, b.Old.Short(), b.Reason)
			}
		}
		return nil
	})
}

func (d *demo) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	fmt.Fprintf(d.out, "%s  %s%s\n", d.now().Format("15:04:05"), indent, plan.Clean(text)) // titles and descriptions are anybody's
}

// invite shows how to go on by hand.
func (d *demo) invite() {
	fmt.Fprintf(d.out, `
Continue by hand, as a user with write access:

  git clone -c http.extraHeader="Authorization: token ghp_alice" %s
  # push a branch, then:
  curl -s -H "Authorization: token ghp_alice" %s/repos/%s/pulls \
    -d '{"title":"mine","head":"my-branch","base":"main"}'

What the window holds of it (below clusters/cluster-1/flux/) she may release now: copy the line from its status.

  SLUICE_GITHUB_URL=%s GH_TOKEN=ghp_alice %s override %s#N SHA "the shop is down"

What becomes of it is said below. Ctrl-C stops the demo and removes everything.

`, d.repo.CloneURL(), d.settings.GitHubURL, d.repo, shellWord(d.settings.GitHubURL), sluice(os.Args[0]), d.repo)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
