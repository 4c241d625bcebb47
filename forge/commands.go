package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What people tell sluice by comments is read where a file says who may. GitHub is the truth: nothing of it is kept, so what is edited or deleted
// counts no more, and a webhook that was lost or came twice is nothing but a look sooner or later. Who may is asked of GitHub by each look, but for
// answers of a minute ago.

const (
	// commentsPage is how many comments are read at once: each may have 64 KiB. maxCommentPages bounds how far back one look reads; the newest
	// come first, so that what is beyond only lacks permissions.
	commentsPage    = 50
	maxCommentPages = 10
	// maxPermits is how many questions about people one look asks: anybody may write a comment.
	maxPermits = 20
	// permitTTL is how long an answer counts.
	permitTTL = time.Minute
)

// rawComment is a comment on an issue or a pull request.
type rawComment struct {
	ID                    int64     `json:"id"`
	Body                  string    `json:"body"`
	HTMLURL               string    `json:"html_url"`
	CreatedAt             time.Time `json:"created_at"`
	UpdatedAt             time.Time `json:"updated_at"`
	PerformedViaGitHubApp *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
	User *struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
}

// command is what a comment says to sluice; false if it says nothing, or is not as a person wrote it: by hand, or on the pages of our own App.
func (c rawComment) command(app int64) (plan.Command, bool) {
	order, is := plan.OrderOf(c.Body)
	u, err := url.Parse(c.HTMLURL)
	if !is || err != nil || c.User == nil || c.User.Type != "User" || !client.IsName(c.User.Login) || c.PerformedViaGitHubApp != nil && c.PerformedViaGitHubApp.ID != app || !c.UpdatedAt.Equal(c.CreatedAt) {
		return plan.Command{}, false
	}
	pull, err := strconv.Atoi(path.Base(u.Path))
	return plan.Command{ID: c.ID, Pull: pull, By: plan.Login(c.User.Login), At: c.CreatedAt.UTC(), Order: order},
		err == nil && path.Base(path.Dir(u.Path)) == "pull" // not of an issue, which may have been moved here with what was said of another repository
}

// addCommands adds what people told sluice, as far as it may count.
func (l *observation) addCommands(ctx context.Context, s *plan.Snapshot) error {
	longest := time.Duration(0)
	for _, b := range s.Bases {
		if b.Policy != nil && b.Policy.Override != nil {
			longest = max(longest, b.Policy.Override.Expires)
		}
	}
	key := l.Key(partComments, "")
	if longest == 0 || l.Rests(key).Is() {
		return nil
	}
	found, err := l.readCommands(ctx, l.Now().Add(-longest))
	if _, ends := l.Note(ctx, key, whatComments, err); err != nil {
		return ends
	}
	p := permits{observation: l, asked: maxPermits}
	for i := range found {
		c := &found[i]
		if rules := rulesOf(s, *c); rules != nil && mayCount(s, *c) {
			if c.Permit, err = p.of(ctx, *c, rules); err != nil {
				return err
			}
		}
	}
	if err := l.addEdits(ctx, found); err != nil {
		return err
	}
	s.Commands = found
	return nil
}

// rawTalk is the latest comments on a pull request.
type rawTalk struct {
	Comments look.Connection[struct {
		DatabaseID   int64
		LastEditedAt *time.Time
	}]
}

// addEdits takes back what somebody may have edited. Whoever may write may edit what others wrote, and REST's times are in whole seconds: what is
// edited within the second in which it was written looks as it was. What is not among a pull request's latest comments is not known.
func (l *observation) addEdits(ctx context.Context, found []plan.Command) error {
	var pulls []int
	released := func(c plan.Command) bool { return c.Verb == plan.ToRelease && c.Permit == plan.Permitted }
	for _, c := range found {
		if released(c) && !slices.Contains(pulls, c.Pull) && len(pulls) < maxPermits {
			pulls = append(pulls, c.Pull)
		}
	}
	if len(pulls) == 0 {
		return nil
	}
	q := look.NewQuery("talk", l.Repo.Owner, l.Repo.Name)
	for i, n := range pulls {
		q.Add("p%d: pullRequest(number: %s) { comments(last: 100) { nodes { databaseId lastEditedAt } } }", i, q.Let(fmt.Sprint("n", i), "Int!", n))
	}
	edited := map[int64]bool{}
	named, err := l.AskNamed(ctx, q)
	if err := look.EachFound(named, err, "p", pulls, func(n int, raw *rawTalk, err error) error {
		if err == nil && raw == nil {
			err = client.Empty()
		}
		if _, ends := l.Failed(ctx, l.Key(partComments, strconv.Itoa(n)), whatComments, err); err != nil {
			return ends
		}
		for _, c := range raw.Comments.Nodes {
			edited[c.DatabaseID] = c.LastEditedAt != nil
		}
		return nil
	}); err != nil {
		return err
	}
	for i := range found {
		c := &found[i]
		was, known := edited[c.ID]
		switch key := l.Key(partComments, fmt.Sprint("comment ", c.ID)); {
		case !released(*c):
		case !known: // GraphQL may be behind REST, or there are too many
			c.Permit = plan.PermitUnknown
			if _, err := l.Failed(ctx, key, whatComments, client.Empty()); err != nil {
				return err
			}
		case was:
			c.Permit = plan.Forbidden
		default:
			l.WasRead(key)
		}
	}
	return nil
}

// readCommands reads the comments since an instant, the newest first. What was written up to then has no effect any more.
func (l *observation) readCommands(ctx context.Context, since time.Time) ([]plan.Command, error) {
	found := []plan.Command{}
	for page := 1; page != 0 && page <= maxCommentPages; {
		var comments []rawComment
		next, err := l.Client.GetPage(ctx, fmt.Sprintf("repos/%s/%s/issues/comments?sort=created&direction=desc&per_page=%d&page=%d", l.Repo.Owner, l.Repo.Name, commentsPage, page), &comments)
		if err != nil {
			return nil, err
		}
		page = next
		for _, c := range comments {
			if c.CreatedAt.Before(since) {
				return found, nil
			}
			if command, is := c.command(l.App); is {
				found = append(found, command)
			}
		}
	}
	return found, nil
}

// rulesOf is who may do what a command says, by the file that counts: that of the base, for what a branch holds the default branch's.
func rulesOf(s *plan.Snapshot, c plan.Command) *config.Override {
	base := s.Default
	for _, p := range s.Pulls {
		if p.Number == c.Pull && c.Branch == "" {
			base = p.Base
		}
	}
	if policy := s.Bases[base].Policy; policy != nil {
		return policy.Override
	}
	return nil
}

// mayCount reports whether it matters who wrote a command.
func mayCount(s *plan.Snapshot, c plan.Command) bool {
	if c.Verb != plan.ToRelease || c.Branch != "" {
		return true
	}
	for _, p := range s.Pulls {
		if p.Number == c.Pull {
			return strings.HasPrefix(string(p.Head), string(c.SHA))
		}
	}
	return false
}

// permits asks GitHub who may.
type permits struct {
	*observation
	asked int // how much more may be asked
}

// permitKey is a question about a person: whether a team has them, or with team "" which permission they have here.
type permitKey struct {
	team  string
	login plan.Login
}

// permit is GitHub's answer: a permission, or 1 for a member.
type permit struct {
	level int
	until time.Time
}

// The permissions of GitHub that count, in their order.
var levels = map[string]int{"write": 1, "maintain": 2, "admin": 3}

// errManyPermits says that a question is for a later look.
var errManyPermits = errors.New("too many people to ask about in one look")

// of finds out whether somebody may do what a command says. Who may release may undo, and whoever may write.
func (p *permits) of(ctx context.Context, c plan.Command, rules *config.Override) (plan.Permit, error) {
	level, err := p.ask(ctx, permitKey{login: c.By}, p.permission)
	if err != nil {
		return plan.PermitUnknown, p.ended(ctx, c, err)
	}
	if c.Verb != plan.ToRelease && level > 0 {
		return plan.Permitted, nil
	}
	if c.Verb == plan.ToRecheck {
		return plan.Forbidden, nil
	}
	var teams []string
	for _, g := range rules.By {
		switch owner, _, _ := strings.Cut(g.Name, "/"); {
		case g.By == config.ByUser && strings.EqualFold(g.Name, string(c.By)) && level > 0, // a login that was given up may be somebody else's
			g.By == config.ByPermission && level >= levels[g.Name]:
			return plan.Permitted, nil
		case g.By == config.ByTeam && strings.EqualFold(owner, p.Repo.Owner):
			teams = append(teams, g.Name)
		}
	}
	unknown := plan.Forbidden
	for _, team := range teams {
		member, err := p.ask(ctx, permitKey{team, c.By}, p.membership)
		switch {
		case err == nil && member > 0:
			return plan.Permitted, nil
		case err != nil:
			if err := p.ended(ctx, c, err); err != nil {
				return plan.PermitUnknown, err
			}
			unknown = plan.PermitUnknown
		}
	}
	return unknown, nil
}

// ended notes that it could not be found out who may, and gives the error that ends the look.
func (p *permits) ended(ctx context.Context, c plan.Command, err error) error {
	if errors.Is(err, errManyPermits) {
		p.AskAgain(p.Now().Add(look.PartFirst))
		return nil
	}
	_, ends := p.Failed(ctx, p.Key(partPermit, string(c.By)), whatPermit, err)
	return ends
}

// ask gives the answer to a question that counts yet, or asks.
func (p *permits) ask(ctx context.Context, k permitKey, question func(context.Context, permitKey) (int, error)) (int, error) {
	if known, ok := keptPermits.Get(p.Memory, k); ok && p.Now().Before(known.until) {
		return known.level, nil
	}
	if p.asked--; p.asked < 0 {
		return 0, errManyPermits
	}
	level, err := question(ctx, k)
	if client.KindOf(err) == client.Gone && !errors.Is(err, client.ErrInstallation) {
		level, err = 0, nil // neither a collaborator nor a member
	}
	if err == nil {
		keptPermits.Put(p.Memory, k, permit{level, p.Now().Add(permitTTL)})
	}
	return level, err
}

// permission asks which permission somebody has here.
func (p *permits) permission(ctx context.Context, k permitKey) (int, error) {
	var answer struct {
		Permission string `json:"permission"`
		RoleName   string `json:"role_name"`
	}
	err := p.Client.Get(ctx, fmt.Sprintf("repos/%s/%s/collaborators/%s/permission", p.Repo.Owner, p.Repo.Name, k.login), &answer)
	if err == nil && answer.Permission == "" {
		err = client.Unreadable(nil)
	}
	return cmp.Or(levels[answer.RoleName], levels[answer.Permission]), err // a role of the owner's own has the name of none of GitHub's
}

// membership asks whether somebody is an active member of a team.
func (p *permits) membership(ctx context.Context, k permitKey) (int, error) {
	owner, slug, _ := strings.Cut(k.team, "/")
	var answer struct {
		State string `json:"state"`
	}
	err := p.Client.Get(ctx, fmt.Sprintf("orgs/%s/teams/%s/memberships/%s", owner, slug, k.login), &answer)
	if err == nil && answer.State == "" {
		err = client.Unreadable(nil)
	}
	if answer.State != "active" {
		return 0, err
	}
	return 1, err
}
