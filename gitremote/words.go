package gitremote

import (
	"fmt"

	"github.com/sluicegate/sluice/plan"
)

// What people read of branches that were not moved. The server's messages are shown as they are, cleaned.
const (
	wordsMovedAway  = "it moved to %s in the meantime; not moved"
	wordsGone       = "it was deleted in the meantime; not moved"
	wordsAppeared   = "it was created at %s in the meantime; not moved"
	wordsLate       = "not moved: its window closed, or 30 s passed, in the meantime; run the command again"
	wordsRefused    = "the server refused: %s"
	wordsNoAnswer   = "the server did not report whether it moved"
	wordsCheckedOut = "checked out in %s: switch to another branch there"
	wordsSymbolic   = "it is a symbolic ref, not a branch of its own"
	wordsBadName    = "not a valid branch name"
	wordsLocked     = "locked by another git process: %s"
	wordsLink       = "%s is a symbolic link, or not a regular file; not moved"
	wordsReflog     = "sluice promote: fast-forward"
)

// What people read where a call cannot be answered.
const (
	sayShallow       = "the clone is shallow, so ancestry is unknown; run git fetch --unshallow"
	sayPartial       = "the clone is partial, so objects may be missing; clone without --filter"
	sayRemoteShallow = "the remote repository is itself a shallow clone, so ancestry is unknown"
	saySHA256        = "the repository uses SHA-256; only SHA-1 is supported"
	sayEmpty         = "the repository is empty: it has no branch yet"
	sayNoDefault     = "it has no default branch: HEAD names no existing branch"
	sayAnswer        = "the server's answer, without its objects, is longer than %d MiB"
	sayReceived      = "the server sent more than %d GiB; allow filters there (uploadpack.allowFilter), or give --repo a clone"
	sayNoDirectory   = "more than %d MiB of objects need a temporary file: set TMPDIR to a directory that can be written"
	sayLarge         = "the %s %s has more than %d bytes"
	sayChain         = "a delta chain of more than %d objects; git repack -adf shortens it"
	sayBadURL        = "the remote's URL is malformed"
	sayProtocol      = "the protocol %q is not supported; use https, http, ssh or file"
	sayNeedsAuth     = "credentials are needed: set SLUICE_GIT_TOKEN or a git credential helper"
	sayWrongAuth     = "the credentials were refused"
	sayMirror        = "the files of the commits take more than %d bytes, which a mirror may have"
	sayNoShallow     = "the server has no shallow fetches"
	sayRedirect      = "the server redirects to another host or scheme, which would get a token that is not meant for it"
	sayNotFound      = "repository not found, or not accessible with these credentials"
	saySSHAgent      = "no ssh agent to authenticate with: start one, add a key, and set SSH_AUTH_SOCK"
)

// refusals is the branches that were not moved, and why: words for people, cleaned, not longer than a reason may be.
type refusals map[plan.Branch]string

// add puts a branch down with the reason.
func (r refusals) add(b plan.Branch, form string, args ...any) {
	r[b] = plan.Fit(fmt.Sprintf(form, args...))
}

// done reports whether nothing can be done about a branch any more: it is where it should be, or it is put down that somebody else
// moved it.
func (r refusals) done(m plan.Move, now plan.SHA) bool {
	switch {
	case now == m.New:
	case now == m.Old:
		return false
	case now == "":
		r.add(m.Branch, wordsGone)
	case m.Old == "":
		r.add(m.Branch, wordsAppeared, now.Short())
	default:
		r.add(m.Branch, wordsMovedAway, now.Short())
	}
	return true
}
