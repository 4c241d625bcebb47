package api

import (
	"cmp"
	"strings"
	"time"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/internal/standin"
)

// ofCommit gives a field's value of a commit.
func ofCommit(what func(c *standin.Commit) any) resolver {
	return try(func(n *gitNode) (any, error) {
		c, err := n.repo.r.Git().Commit(n.o.SHA)
		if err != nil {
			return nil, err
		}
		return what(c), nil
	})
}

// Types that share their fields: actors, whose login is without "[bot]", other than in REST, and all connections.
var (
	actorFields = map[string]resolver{"login": of(func(a standin.Actor) any { return a.Login })}
	pageFields  = map[string]resolver{
		"checkRunCount":      of(func(c *connection) any { return c.checks }),
		"nodes":              of(func(c *connection) any { return c.nodes }),
		"pageInfo":           of(func(c *connection) any { return c }),
		"statusContextCount": of(func(c *connection) any { return c.statuses }),
		"totalCount":         of(func(c *connection) any { return c.total }),
	}
)

// fields resolve each field of the schema, but for pageFields.
var fields = map[string]map[string]resolver{
	"App": {
		"databaseId": of(func(a standin.Actor) any { return a.App }),
		"slug":       of(func(a standin.Actor) any { return a.Login }),
	},
	"AutoMergeRequest": {"mergeMethod": of(func(a *standin.AutoMerge) any { return strings.ToUpper(string(a.Method)) })},
	"Blob": {
		"byteSize":    of(func(n *gitNode) any { return n.o.Size() }),
		"isBinary":    try((*gitNode).binary),
		"isTruncated": of(func(n *gitNode) any { return n.o.Size() > maxText }),
		"oid":         of(func(n *gitNode) any { return n.o.SHA }),
		"text":        try((*gitNode).text),
	},
	"Bot": actorFields,
	"CheckRun": {
		"checkSuite":  of(func(c *checkRun) any { return c }),
		"completedAt": of(func(c *checkRun) any { return completedAt(c.Check) }),
		"conclusion": of(func(c *checkRun) any {
			if c.Status != "completed" {
				return nil
			}
			return orNil(strings.ToUpper(c.Conclusion))
		}),
		"name":      of(func(c *checkRun) any { return c.Name }),
		"startedAt": of(func(c *checkRun) any { return timeOrNil(c.At) }),
		"status":    of(func(c *checkRun) any { return strings.ToUpper(c.Status) }),
	},
	"CheckSuite": {"app": of(func(c *checkRun) any { return c.App })},
	"Commit": {
		"associatedPullRequests": ask((*gitNode).associated),
		"author":                 ofCommit(func(c *standin.Commit) any { return c.Author }),
		"committedDate":          ofCommit(func(c *standin.Commit) any { return timeOrNil(c.Committer.When) }),
		"file":                   ask((*gitNode).file),
		"history":                ask((*gitNode).history),
		"message":                ofCommit(func(c *standin.Commit) any { return c.Message }),
		"messageHeadline":        ofCommit(func(c *standin.Commit) any { return headline(c) }),
		"oid":                    of(func(n *gitNode) any { return n.o.SHA }),
		"parents":                ask((*gitNode).parents),
		"status":                 of(func(n *gitNode) any { return n.status() }),
		"statusCheckRollup":      of(func(n *gitNode) any { return n.rollup() }),
	},
	"GitActor":                {"user": of(func(who gitobject.Signature) any { return orNil(standin.Account(who)) })},
	"HeadRefForcePushedEvent": {"beforeCommit": of(func(n *gitNode) any { return n })},
	"IssueComment": {
		"databaseId":   of(func(c standin.Comment) any { return c.ID }),
		"lastEditedAt": of(func(c standin.Comment) any { return timeOrNil(c.Edited) }),
	},
	"Label":    {"name": of(func(name string) any { return name })},
	"Mutation": {"updateRefs": ask((*view).updateRefs)},
	"PageInfo": {
		"endCursor":   of(func(c *connection) any { return c.end }),
		"hasNextPage": of(func(c *connection) any { return c.more }),
	},
	"PullRequest": {
		"author":                   of(func(p *pullRequest) any { return orNil(p.Author) }),
		"body":                     of(func(p *pullRequest) any { return p.Body }),
		"autoMergeRequest":         of(func(p *pullRequest) any { return p.AutoMerge }),
		"baseRef":                  try(func(p *pullRequest) (any, error) { return p.repo.branch(p.Base) }),
		"baseRefName":              of(func(p *pullRequest) any { return p.Base }),
		"changedFiles":             try((*pullRequest).changedFiles),
		"comments":                 ask((*pullRequest).comments),
		"commits":                  ask((*pullRequest).commits),
		"createdAt":                of(func(p *pullRequest) any { return timeOrNil(p.CreatedAt) }),
		"files":                    ask((*pullRequest).files),
		"headRefName":              of(func(p *pullRequest) any { return p.Head }),
		"headRefOid":               of(func(p *pullRequest) any { return p.HeadSHA }),
		"headRepository":           of(func(p *pullRequest) any { return p.headRepository() }),
		"isCrossRepository":        of(func(p *pullRequest) any { return !strings.EqualFold(p.HeadOwner, p.repo.r.Owner()) }),
		"isDraft":                  of(func(p *pullRequest) any { return p.Draft }),
		"labels":                   ask(func(p *pullRequest, a arguments) (any, error) { return cut("labels", a, p.Labels) }),
		"latestOpinionatedReviews": ask((*pullRequest).opinions),
		"mergeCommit":              of(func(p *pullRequest) any { return p.repo.commit(p.MergeSHA) }),
		"mergeStateStatus":         try((*pullRequest).mergeState),
		"mergeable":                try((*pullRequest).mergeable),
		"merged":                   of(func(p *pullRequest) any { return p.Merged }),
		"number":                   of(func(p *pullRequest) any { return p.Number }),
		"reviewDecision":           of(func(p *pullRequest) any { return orNil(p.repo.r.ReviewDecision(p.Pull)) }),
		"reviews":                  ask((*pullRequest).reviews),
		"state":                    of(func(p *pullRequest) any { return stateOf(&p.Pull) }),
		"statusCheckRollup":        of(func(p *pullRequest) any { return p.repo.commit(p.HeadSHA).rollup() }),
		"timelineItems":            ask((*pullRequest).timeline),
		"title":                    of(func(p *pullRequest) any { return p.Title }),
		"viewerLatestReview":       of((*pullRequest).ownReview),
		"updatedAt":                of(func(p *pullRequest) any { return timeOrNil(p.UpdatedAt) }),
	},
	"PullRequestChangedFile": { // there is no old name of a rename
		"changeType": of(func(f standin.FileChange) any {
			return strings.ToUpper(cmp.Or(map[string]string{"removed": "deleted"}[f.Status], f.Status))
		}),
		"path": of(func(f standin.FileChange) any { return f.Path }),
	},
	"PullRequestCommit": {"commit": of(func(n *gitNode) any { return n })},
	"PullRequestReview": {
		"author":                    of(func(v *review) any { return orNil(v.By) }),
		"authorCanPushToRepository": of((*review).mayPush),
		"commit":                    of(func(v *review) any { return v.repo.commit(v.On) }),
		"id":                        of(func(v *review) any { return nodeID("PullRequestReview", v.ID) }),
		"state":                     of(func(v *review) any { return v.State }),
	},
	"ReviewDismissedEvent": {
		"actor":  of(func(v dismissal) any { return orNil(v.DismissedBy) }),
		"review": of(func(v dismissal) any { return v.review }),
	},
	"Query": {
		"rateLimit":       of(func(l *view) any { return l }),
		"repository":      ask((*view).repository),
		"repositoryOwner": ask((*view).owner),
		"viewer":          of(func(l *view) any { return l.who.actor }),
	},
	"RateLimit": {"cost": of(func(l *view) any { return l.points() })},
	"Ref": {
		"name":          of(func(b *branchRef) any { return b.name }),
		"refUpdateRule": of(func(b *branchRef) any { return b.updateRule() }),
		"rules":         ask((*branchRef).rules),
		"target":        try(func(b *branchRef) (any, error) { return b.repo.object(b.sha) }),
	},
	"Organization": {"repositories": ask((*owner).repositories)},
	"RefUpdateRule": {
		"requiredApprovingReviewCount":  of(func(r *standin.Rules) any { return r.Reviews }),
		"requiredStatusCheckContexts":   of(func(r *standin.Rules) any { return contexts(r) }),
		"requiresCodeOwnerReviews":      of(func(*standin.Rules) any { return false }),
		"viewerAllowedToDismissReviews": of(func(r *standin.Rules) any { return !r.KeepReviews }),
	},
	"Repository": {
		"databaseId":         of(func(r *repository) any { return r.id }),
		"defaultBranchRef":   try(func(r *repository) (any, error) { return r.branch(standin.DefaultBranch) }),
		"id":                 of(func(r *repository) any { return nodeID("Repository", r.id) }),
		"isArchived":         of(func(*repository) any { return false }),
		"isDisabled":         of(func(*repository) any { return false }),
		"mergeCommitAllowed": of(func(*repository) any { return true }),
		"name":               of(func(r *repository) any { return r.r.Name() }),
		"object":             ask((*repository).find),
		"pullRequest":        ask((*repository).pull),
		"pullRequests":       ask((*repository).pulls),
		"rebaseMergeAllowed": of(func(*repository) any { return true }),
		"ref":                ask((*repository).ref),
		"refs":               ask((*repository).refs),
		"squashMergeAllowed": of(func(*repository) any { return true }),
		"viewerPermission":   of(func(r *repository) any { return strings.ToUpper(r.r.Permission(r.view.who.actor.Login)) }),
	},
	"RepositoryRule": {
		"parameters": of(func(n *ruleNode) any { return n.parameters() }),
		"type":       of(func(n *ruleNode) any { return strings.ToUpper(n.rule.Type) }),
	},
	"RequiredStatusChecksParameters": {"requiredStatusChecks": of(func(n *ruleNode) any { return n.from.Checks })},
	"Status": {
		"context":  ask(func(s *commitStatus, a arguments) (any, error) { return s.of(a.text("name")), nil }),
		"contexts": of(func(s *commitStatus) any { return s.list }),
	},
	"StatusCheckConfiguration": {"context": of(func(c standin.RequiredCheck) any { return c.Context })},
	"StatusCheckRollup": {
		"commit":   of(func(r *rollup) any { return r.on }),
		"contexts": ask((*rollup).contexts),
		"state":    of(func(r *rollup) any { return r.state }),
	},
	"StatusContext": {
		"context":     of(func(s standin.Status) any { return s.Context }),
		"createdAt":   of(func(s standin.Status) any { return timeOrNil(s.At) }),
		"creator":     of(func(s standin.Status) any { return orNil(s.By) }),
		"description": of(func(s standin.Status) any { return orNil(s.Description) }),
		"state":       of(func(s standin.Status) any { return strings.ToUpper(s.State) }),
	},
	"Tree": {"oid": of(func(n *gitNode) any { return n.o.SHA })},
	"TreeEntry": {
		"mode":   try((*entryNode).mode),
		"object": try(func(n *entryNode) (any, error) { return n.repo.object(n.SHA) }),
		"oid":    of(func(n *entryNode) any { return n.SHA }),
		"type":   of(func(n *entryNode) any { return n.Kind }),
	},
	"UpdateParameters":  {"updateAllowsFetchAndMerge": of(func(*ruleNode) any { return false })},
	"UpdateRefsPayload": {"clientMutationId": of(orNil[string])},
	"User":              actorFields,
}

// kindOf is the type of an object where the schema leaves that open.
func kindOf(o any, declared string) string {
	if !schema.Types[declared].IsAbstractType() {
		return declared
	}
	switch o := o.(type) {
	case standin.Actor:
		if o.App != 0 {
			return "Bot"
		}
		return "User"
	case *gitNode:
		if declared == "PullRequestTimelineItems" {
			return "HeadRefForcePushedEvent"
		}
		return map[string]string{"blob": "Blob", "commit": "Commit", "tree": "Tree"}[o.o.Kind]
	case *checkRun:
		return "CheckRun"
	case dismissal:
		return "ReviewDismissedEvent"
	case standin.Status:
		return "StatusContext"
	case *owner:
		return "Organization"
	case *ruleNode:
		return ruleParameters[o.rule.Type]
	}
	return declared
}

// orNil is null for JSON if there is nothing.
func orNil[T comparable](v T) any {
	var nothing T
	if v == nothing {
		return nil
	}
	return v
}

// timeOrNil is a time for JSON, or null.
func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// completedAt is when a run ended; nil if it did not.
func completedAt(c standin.Check) any {
	if c.Status != "completed" {
		return nil
	}
	return timeOrNil(c.At)
}
