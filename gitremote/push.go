package gitremote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/sluicegate/sluice/plan"
)

const (
	maxPrinted = 16 << 10 // bytes kept of what a server's hooks print
	maxPushes  = 40       // pushes of one pass: enough to find three or four refused branches among a thousand

	// emptyPack is a pack of no objects, version 2, with its checksum.
	emptyPack = "PACK\x00\x00\x00\x02\x00\x00\x00\x00\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e"
)

// Push is moves to be made.
type Push struct {
	Moves []plan.Move
	Now   func() time.Time // asked just before the write, of which each move's Before must not have come; for reflogs too
}

// late reports whether a move is void by time.
func (p Push) late(m plan.Move) bool { return !m.Before.IsZero() && !p.Now().Before(m.Before) }

// Move moves branches: all in one request where none is refused, each on its own, and each only if it is still where it was observed. No objects
// are sent: every commit that a branch moves to is on the server. It returns those that were not moved, and why, in words for people.
//
// An error means that nothing is known of what was moved; else every move is either done or refused. A branch that somebody
// else moved to the same commit counts as moved.
//
// All are pushed at once. A server may decline a push as a whole for one branch in it (a pre-receive hook does): then halves
// are pushed, and theirs, until the branch is alone with its refusal.
func (r *Remote) Move(ctx context.Context, p Push) (_ map[plan.Branch]string, err error) {
	if len(p.Moves) == 0 {
		return nil, nil
	}
	defer r.fault("move branches of", &err)
	r.cost.ctx = ctx
	refused := refusals{}
	groups := [][]plan.Move{p.Moves}
	for pushes := 1; len(groups) > 0; pushes++ {
		moves := groups[0]
		groups = groups[1:]
		sent, declined, err := r.attempt(ctx, p, moves, refused)
		if err != nil {
			return nil, err
		}
		if n := len(sent); n > 1 && declined == n && pushes+len(groups)+2 <= maxPushes {
			groups = append(groups, sent[:n/2], sent[n/2:])
		}
	}
	return refused, nil
}

// attempt makes one push of the moves that are still as they were observed, and puts down which were refused: declined is how many of those sent, by
// the server and not by a lease.
func (r *Remote) attempt(ctx context.Context, p Push, moves []plan.Move, refused refusals) (sent []plan.Move, declined int, err error) {
	s, adv, err := begin(ctx, r, r.client.NewReceivePackSession)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = s.Close() }() // the answer was read, or the error is returned
	for _, m := range moves {
		delete(refused, m.Branch)
		switch {
		case refused.done(m, shaOf(adv.References, m.Branch)):
		case p.late(m):
			refused.add(m.Branch, wordsLate)
		case !fitForRef(string(m.Branch)):
			refused.add(m.Branch, wordsBadName)
		default:
			sent = append(sent, m)
		}
	}
	if len(sent) > 0 {
		declined, err = r.push(ctx, s, adv.Capabilities, sent, refused)
	}
	return sent, declined, err
}

// shaOf is where a branch is in a list of refs; "": it is not there.
func shaOf(refs map[string]plumbing.Hash, b plan.Branch) plan.SHA {
	if h, ok := refs["refs/heads/"+string(b)]; ok {
		return plan.SHA(h.String())
	}
	return ""
}

// push sends the commands and puts down what was refused, with the server's reason and what the refs are then, if they could be read again.
func (r *Remote) push(ctx context.Context, s transport.ReceivePackSession, offered *capability.List, sent []plan.Move, refused refusals) (declined int, err error) {
	var printed transcript
	req, err := request(offered, sent, &printed)
	if err != nil {
		return 0, err
	}
	report, err := s.ReceivePack(ctx, req)
	if report == nil && err != nil && ctx.Err() != nil {
		return 0, err
	}
	no := unconfirmed(report, sent, r.creds.hide(printed.String()))
	if len(no) == 0 {
		return 0, nil
	}
	// What was refused, or lost on the way back, is looked at: somebody may have moved it, or it may be where it should be.
	now, again := r.connect(ctx)
	if again != nil {
		if report == nil {
			return 0, errors.Join(err, again)
		}
		now = nil
	}
	lost := ""
	if report == nil && err != nil {
		lost = r.creds.hide(plan.Clean(err.Error()))
	}
	for _, m := range sent {
		why, unsure := no[m.Branch]
		why = cmp.Or(why, lost)
		switch {
		case !unsure, now != nil && refused.done(m, shaOf(now.References, m.Branch)):
		case why == "":
			refused.add(m.Branch, wordsNoAnswer)
		default:
			declined++
			refused.add(m.Branch, wordsRefused, why)
		}
	}
	return declined, nil
}

// request is the commands with their leases, and a pack of nothing. It is not atomic: one refused branch stops no other.
func request(offered *capability.List, moves []plan.Move, printed io.Writer) (*packp.ReferenceUpdateRequest, error) {
	req := packp.NewReferenceUpdateRequestFromCapabilities(offered)
	if offered.Supports(capability.Sideband64k) {
		_ = req.Capabilities.Set(capability.Sideband64k) // fails for what takes arguments
		req.Progress = printed
	}
	for _, m := range moves {
		from := plumbing.ZeroHash
		to, err := hash(m.New)
		if err == nil && m.Old != "" {
			from, err = hash(m.Old)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plan.Clean(string(m.Branch)), err)
		}
		req.Commands = append(req.Commands, &packp.Command{Name: plumbing.NewBranchReferenceName(string(m.Branch)), Old: from, New: to})
	}
	req.Packfile = io.NopCloser(strings.NewReader(emptyPack))
	return req, nil
}

// unconfirmed is the moves that the server did not confirm, each with its reason; "": it gave none.
func unconfirmed(report *packp.ReportStatus, moves []plan.Move, printed string) map[plan.Branch]string {
	no, all := map[plan.Branch]string{}, "" // why all were refused
	if report != nil && report.UnpackStatus != "ok" {
		all = plan.Clean(report.UnpackStatus)
	}
	for _, m := range moves {
		no[m.Branch] = all
	}
	if report == nil || report.UnpackStatus != "ok" {
		return no
	}
	for _, c := range report.CommandStatuses {
		branch := plan.Branch(strings.TrimPrefix(c.ReferenceName.String(), "refs/heads/"))
		if c.Status == "ok" {
			delete(no, branch)
		} else if _, asked := no[branch]; asked {
			no[branch] = reason(branch, c.Status, printed)
		}
	}
	return no
}

// reason is why a branch was refused: the line of a hook or the server that names it, and the word of the protocol.
func reason(b plan.Branch, status, printed string) string {
	status = plan.Clean(status)
	named := regexp.MustCompile(`(^|[^-._/0-9A-Za-z])(refs/heads/)?` + regexp.QuoteMeta(string(b)) + `($|[^-._/0-9A-Za-z])`) // and not one whose name holds its name
	out := status
	for line := range strings.Lines(printed) {
		line = strings.TrimPrefix(plan.Clean(line), "error: ")
		switch {
		case !named.MatchString(line):
		case !strings.Contains(line, status):
			return status + ": " + line
		default:
			out = line // git's own words, unless another line has more
		}
	}
	return out
}

// transcript keeps the beginning of what a server prints.
type transcript struct{ bytes.Buffer }

func (s *transcript) Write(p []byte) (int, error) {
	if room := maxPrinted - s.Len(); room > 0 {
		_, _ = s.Buffer.Write(p[:min(room, len(p))]) // writing to memory cannot fail
	}
	return len(p), nil
}
