package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

// Bounds of what an App may see.
const (
	PerPage          = 100
	maxInstallations = 1000 // pages of 100
	maxRepositories  = 1000 // pages of 100 of one installation
)

// Self is our App's bot, asked of GitHub once.
func (f *App) Self(ctx context.Context) (plan.Login, error) {
	f.mu.Lock()
	us := f.us
	f.mu.Unlock()
	if us != "" {
		return us, nil
	}
	var app struct{ Slug string }
	if err := f.self.Get(ctx, "app", &app); err != nil {
		return "", f.setup(Wrap(ctx, "read the App", err))
	}
	us = plan.Login(TrimBot(app.Slug))
	if us == "" { // fail closed: with no name of our own, everybody's status would be foreign or ours at random
		return "", f.setup(Wrap(ctx, "read the App", Empty()))
	}
	f.log.Info("authenticated", "app", us)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.us = us
	return us, nil
}

// Us is our App's bot, "" while GitHub has not said it.
func (f *App) Us() plan.Login {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.us
}

// setup says in the error of a request by the App's own key what is wrong for everybody, if that is known. A web server that is no GitHub API,
// as GitHub's own site, answers in HTML: such an answer has no message.
func (f *App) setup(err error) error {
	var e *Error
	var answer *github.ErrorResponse
	if !errors.As(err, &e) {
		return err // it was ended from outside
	}
	at := strings.TrimSuffix(f.at.rest.String(), "/")
	bare := errors.As(err, &answer) && answer.Message == "" && e.Kind != Limited && e.Kind != Transient
	switch {
	case e.Kind == Unauthorized && !bare, says(e.Reason, phrasesUnknownApp):
		e.Setup = setupKey
	case bare, e.Kind == Gone, e.Reason == wordRedirect, e.Reason == wordEmpty, e.Reason == wordUnreadable:
		e.Setup = fmt.Sprintf(setupNoAPI, at)
	case errors.Is(err, ErrSilent):
		e.Setup = fmt.Sprintf(setupSilent, at)
	}
	return err
}

// TrimBot takes off what REST adds to an App's login.
func TrimBot(login string) string { return strings.TrimSuffix(login, "[bot]") }

// Repositories lists the repositories of every installation that is not suspended, but archived and disabled ones. With an
// error it gives those it could read. That GitHub lists an installation and then does not know it, or lists fewer repositories than it counts,
// is an error, too.
func (f *App) Repositories(ctx context.Context) ([]plan.Repo, error) {
	if _, err := f.Self(ctx); err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	installations, err := f.installations(ctx)
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", f.setup(err))
	}
	var all []plan.Repo
	bad := &PartialListError{}
	var failed []error
	answered := 0
	for _, id := range installations {
		repos, err := f.repositories(ctx, id)
		all = append(all, repos...)
		if err != nil {
			bad.Installations = append(bad.Installations, id)
			failed = append(failed, fmt.Errorf("list repositories of installation %d: %w", id, err))
		}
		if err == nil || errors.Is(err, errShort) {
			answered++
		}
	}
	bad.Err = errors.Join(failed...)
	if len(failed) > 0 && answered > 0 && ctx.Err() == nil {
		return all, bad
	}
	return all, bad.Err
}

// errShort is below the error of a list that has fewer entries than GitHub counts.
var errShort = errors.New("a short list")

// PartialListError is the error of a list of repositories that lacks those of some installations, and is whole for all others.
type PartialListError struct {
	Installations []int64
	Err           error
}

// Error implements error.
func (u *PartialListError) Error() string { return u.Err.Error() }

// Unwrap gives what is wrong with each of them.
func (u *PartialListError) Unwrap() error { return u.Err }

// installations lists our App's installations that are not suspended.
func (f *App) installations(ctx context.Context) ([]int64, error) {
	var ids []int64
	for next := 1; next <= maxInstallations; {
		var page []*github.Installation
		var err error
		next, err = f.self.GetPage(ctx, fmt.Sprintf("app/installations?per_page=%d&page=%d", PerPage, next), &page)
		if err == nil && (page == nil || slices.Contains(page, nil)) { // fail closed: a null is not a list without installations
			err = Empty()
		}
		if err != nil {
			return nil, fmt.Errorf("list installations: %w", err)
		}
		for _, i := range page {
			if i.SuspendedAt == nil {
				ids = append(ids, i.GetID())
			}
		}
		if next == 0 {
			break
		}
	}
	return ids, nil
}

// repositories lists the repositories of one installation. Where one goes while pages are read the others shift, and the list lacks one: it is
// read again, once.
func (f *App) repositories(ctx context.Context, installation int64) ([]plan.Repo, error) {
	repos, err := f.readRepositories(ctx, installation)
	if errors.Is(err, errShort) {
		repos, err = f.readRepositories(ctx, installation)
	}
	return repos, err
}

func (f *App) readRepositories(ctx context.Context, installation int64) ([]plan.Repo, error) {
	var repos []plan.Repo
	seen := map[int64]bool{}
	for next := 1; next <= maxRepositories; {
		var page github.ListRepositories
		var err error
		next, err = f.Installation(installation).GetPage(ctx, fmt.Sprintf("installation/repositories?per_page=%d&page=%d", PerPage, next), &page)
		if err == nil && (page.Repositories == nil || slices.Contains(page.Repositories, nil)) {
			err = Empty() // an empty list would lack all of them
		}
		if err != nil {
			return repos, err
		}
		for _, r := range page.Repositories {
			if !seen[r.GetID()] && !r.GetArchived() && !r.GetDisabled() {
				repos = append(repos, plan.Repo{
					Owner: r.GetOwner().GetLogin(), Name: r.GetName(), ID: r.GetID(), Installation: installation,
				})
			}
			seen[r.GetID()] = true
		}
		if next == 0 {
			if len(seen) < page.GetTotalCount() {
				return repos, ShortList(errShort)
			}
			return repos, nil
		}
	}
	return repos, nil
}

// Repository finds the installation that covers OWNER/NAME. The repository's ID is not known by that.
func (f *App) Repository(ctx context.Context, owner, name string) (plan.Repo, error) {
	if !IsName(owner) || !IsName(name) { // it would be another address of GitHub's
		return plan.Repo{}, fmt.Errorf("find %q/%q: %w", owner, name, NotThere())
	}
	var i struct{ ID int64 }
	err := f.self.Get(ctx, fmt.Sprintf("repos/%s/%s/installation", owner, name), &i)
	if err == nil && i.ID == 0 {
		err = Empty()
	}
	if err != nil {
		return plan.Repo{}, Wrap(ctx, fmt.Sprintf("find %s/%s", owner, name), err)
	}
	return plan.Repo{Owner: owner, Name: name, Installation: i.ID}, nil
}

// IsName reports whether GitHub allows a text as the name of an account or repository.
func IsName(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	})
}
