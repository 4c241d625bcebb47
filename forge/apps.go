package forge

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
	perPage          = 100
	maxInstallations = 1000 // pages of 100
	maxRepositories  = 1000 // pages of 100 of one installation
)

// Self is our App's bot, asked of GitHub once.
func (f *Forge) Self(ctx context.Context) (plan.Login, error) {
	f.mu.Lock()
	us := f.us
	f.mu.Unlock()
	if us != "" {
		return us, nil
	}
	app, _, err := f.client(0).rest.Apps.Get(ctx, "")
	if err != nil {
		return "", wrap(ctx, "self", err)
	}
	us = plan.Login(trimBot(app.GetSlug()))
	if us == "" { // fail closed: with no name of our own, everybody's status would be foreign or ours at random
		return "", wrap(ctx, "self", transient(wordEmpty, nil))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.us = us
	return us, nil
}

// trimBot takes off what REST adds to an App's login.
func trimBot(login string) string { return strings.TrimSuffix(login, "[bot]") }

// Repositories lists the repositories of every installation that is not suspended, but archived and disabled ones. With an
// error it gives those it could read; an installation that went away meanwhile is no error.
func (f *Forge) Repositories(ctx context.Context) ([]plan.Repo, error) {
	installations, err := f.installations(ctx)
	if err != nil {
		return nil, fmt.Errorf("repositories: %w", err)
	}
	var all []plan.Repo
	var failed []error
	for _, id := range installations {
		repos, err := f.repositories(ctx, id)
		all = append(all, repos...)
		var e *Error
		if errors.As(err, &e) && e.Kind == Gone {
			continue
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("repositories of installation %d: %w", id, err))
		}
	}
	return all, errors.Join(failed...)
}

// installations lists our App's installations that are not suspended.
func (f *Forge) installations(ctx context.Context) ([]int64, error) {
	var ids []int64
	opts := &github.ListOptions{PerPage: perPage, Page: 1}
	for range maxInstallations {
		page, resp, err := f.client(0).rest.Apps.ListInstallations(ctx, opts)
		if err != nil {
			return nil, wrap(ctx, "installations", err)
		}
		if page == nil || slices.Contains(page, nil) { // fail closed: a null is not a list without installations
			return nil, wrap(ctx, "installations", transient(wordEmpty, nil))
		}
		for _, i := range page {
			if i.SuspendedAt == nil {
				ids = append(ids, i.GetID())
			}
		}
		if resp.NextPage == 0 {
			return ids, nil
		}
		opts.Page = resp.NextPage
	}
	return ids, nil
}

// repositories lists the repositories of one installation.
func (f *Forge) repositories(ctx context.Context, installation int64) ([]plan.Repo, error) {
	var repos []plan.Repo
	opts := &github.ListOptions{PerPage: perPage, Page: 1}
	for range maxRepositories {
		page, resp, err := f.client(installation).rest.Apps.ListRepos(ctx, opts)
		if err != nil {
			return repos, wrap(ctx, "list", err)
		}
		if page == nil || page.Repositories == nil || slices.Contains(page.Repositories, nil) { // likewise
			return repos, wrap(ctx, "list", transient(wordEmpty, nil))
		}
		for _, r := range page.Repositories {
			if r.GetArchived() || r.GetDisabled() {
				continue
			}
			repos = append(repos, plan.Repo{
				Owner: r.GetOwner().GetLogin(), Name: r.GetName(), ID: r.GetID(), Installation: installation,
			})
		}
		if resp.NextPage == 0 {
			return repos, nil
		}
		opts.Page = resp.NextPage
	}
	return repos, nil
}

// Repository finds the installation that covers OWNER/NAME. The repository's ID is not known by that.
func (f *Forge) Repository(ctx context.Context, owner, name string) (plan.Repo, error) {
	if !isName(owner) || !isName(name) { // it would be another address of GitHub's
		return plan.Repo{}, fmt.Errorf("find %q/%q: %w", owner, name, &Error{Kind: Gone, Reason: wordNotThere})
	}
	i, _, err := f.client(0).rest.Apps.FindRepositoryInstallation(ctx, owner, name)
	if err != nil {
		return plan.Repo{}, wrap(ctx, fmt.Sprintf("find %s/%s", owner, name), err)
	}
	return plan.Repo{Owner: owner, Name: name, Installation: i.GetID()}, nil
}

// isName tells whether GitHub allows a text as the name of an account or repository.
func isName(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	})
}
