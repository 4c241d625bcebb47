package gitremote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/sluicegate/sluice/plan"
)

// Bounds of one look at windowed branches.
const (
	lineDepth = maxLine + 1 // commits deep that a history is read: all of a line
	maxApart  = 8           // branches whose way to their source is asked for one by one, before a whole history is read
)

// Remote is a repository that is reached by git's protocol: over https, http, ssh, or on this machine's disk (file), where
// git's own programs answer and hooks run. It is read without a clone: the branches are listed once, and of the objects only
// the commits that prove how branches stand, and one file, are kept.
//
// A server with filters (uploadpack.allowFilter, as forges have it) sends commits alone. Another one sends whole trees with
// them: more than keptPack of them pass through a temporary file, and memory does not grow with them.
type Remote struct {
	end     *transport.Endpoint // without credentials
	shown   string              // the URL as people may see it
	client  transport.Transport
	creds   credentials
	up      transport.UploadPackSession
	used    bool // up has answered; over http it may again
	caps    *capability.List
	refused map[packp.Filter]bool // filters that the server turned out not to allow
	survey  survey
	cost    *account
	answers *boundedTransport
}

// Overview lists the branches, and reads the file that stands at a path of the default branch's tip.
func (r *Remote) Overview(ctx context.Context, file string) (_ Overview, err error) {
	defer r.fault("read", &err)
	r.cost.ctx = ctx
	adv, err := r.connect(ctx)
	if err != nil {
		return Overview{}, err
	}
	heads := map[plan.Branch]plumbing.Hash{}
	for name, h := range adv.References {
		if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			heads[plan.Branch(branch)] = h
			if err := r.cost.hold(1, len(branch), "refs/heads"); err != nil {
				return Overview{}, err
			}
		}
	}
	if len(adv.Shallows) > 0 {
		return Overview{}, fmt.Errorf("%w: %s", ErrIncomplete, sayRemoteShallow)
	}
	r.survey = survey{heads: heads, graph: newGraph(r.cost)}
	name, err := defaultOf(adv, heads)
	if err != nil {
		return Overview{}, err
	}
	tip := heads[name]
	a := ask{wants: []plumbing.Hash{tip}, depth: 1}
	if freeze, frozen := heads[plan.FreezeBranch]; frozen && freeze != tip {
		a.wants = append(a.wants, freeze)
	}
	if !r.caps.Supports(capability.Filter) { // the whole tree comes anyway: with some of the history, which most often is all that is needed
		a.depth = lineDepth
	}
	p, err := r.fetch(ctx, a, packp.FilterTreeDepth(uint64(strings.Count(file, "/"))+2))
	if err != nil {
		return Overview{}, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.commits(r.survey.graph); err != nil {
		return Overview{}, err
	}
	return r.survey.overview(name, file, trees{cost: r.cost, get: p.find, listings: map[plumbing.Hash][]object.TreeEntry{}})
}

// defaultOf is the branch that the server's HEAD names. A server that does not name it (git before 1.8.4) gives its commit:
// then it is the only branch that stands there.
func defaultOf(adv *packp.AdvRefs, heads map[plan.Branch]plumbing.Hash) (plan.Branch, error) {
	for _, s := range adv.Capabilities.Get(capability.SymRef) {
		if name, ok := strings.CutPrefix(s, "HEAD:refs/heads/"); ok {
			if _, there := heads[plan.Branch(name)]; there {
				return plan.Branch(name), nil
			}
		}
	}
	var found []plan.Branch
	for name, h := range heads {
		if adv.Head != nil && h == *adv.Head && !adv.Capabilities.Supports(capability.SymRef) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", errors.New(sayNoDefault)
	}
	return found[0], nil
}

// Track finds how windowed branches stand to the branches that they follow, as Overview listed them.
func (r *Remote) Track(ctx context.Context, wanted []Follower) (_ []plan.WindowedBranch, _ map[plan.Branch]plan.Source, err error) {
	defer r.fault("read", &err)
	r.cost.ctx = ctx
	return r.survey.track(wanted, func() error { return r.learn(ctx) })
}

// filterTrees leaves commits alone.
const filterTrees packp.Filter = "tree:0"

// learn reads what shows how branches stand. Where a part of a history brings whole trees with it, each is to be the last: the branches' own histories
// are read only if their sources' are not enough, and none for a line alone.
func (r *Remote) learn(ctx context.Context) (err error) {
	switch commits := r.filters(filterTrees); {
	case commits && (!r.survey.complete() || !r.survey.lined()):
		err = r.read(ctx, ask{wants: r.survey.ends(), depth: lineDepth})
	case !commits && !r.survey.complete():
		err = r.read(ctx, ask{wants: r.survey.sources(), depth: lineDepth})
		if err == nil && !r.survey.complete() {
			err = r.read(ctx, ask{wants: r.survey.ends(), depth: lineDepth})
		}
	}
	if err == nil {
		err = r.learnApart(ctx)
	}
	if err == nil && !r.survey.complete() {
		err = r.read(ctx, ask{wants: r.survey.ends()})
	}
	return err
}

// learnApart reads what lies between a branch and its source, both ways: the commits that a branch is behind by may be many,
// and yet few of the history's.
func (r *Remote) learnApart(ctx context.Context) error {
	for range maxApart {
		if len(r.survey.open) == 0 {
			return nil
		}
		p := r.survey.open[0]
		for _, a := range []ask{{wants: []plumbing.Hash{p.source}, haves: []plumbing.Hash{p.tip}}, {wants: []plumbing.Hash{p.tip}, haves: []plumbing.Hash{p.source}}} {
			if !slices.Contains(r.survey.open, p) {
				break
			}
			if err := r.read(ctx, a); err != nil {
				return err
			}
		}
		if slices.Contains(r.survey.open, p) {
			return nil // their histories cross: only whole ones prove anything
		}
	}
	return nil
}

// ask is a part of a history: all that wants descend from, without what haves descend from.
type ask struct {
	wants, haves []plumbing.Hash
	shallow      []plumbing.Hash // of haves: those whose parents are not there; only the difference to their trees comes
	depth        int             // generations; 0: all of it
}

// read gets the commits of a part of a history.
func (r *Remote) read(ctx context.Context, a ask) (err error) {
	p, err := r.fetch(ctx, a, filterTrees)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.commits(r.survey.graph); err != nil {
		return err
	}
	return r.survey.ask()
}

// filters reports whether the server supports a filter, as far as it is known.
func (r *Remote) filters(f packp.Filter) bool {
	return r.caps.Supports(capability.Filter) && !r.refused[f]
}

// fetch gets objects. A server may offer filters and allow only some.
func (r *Remote) fetch(ctx context.Context, a ask, f packp.Filter) (*pack, error) {
	if !r.filters(f) {
		f = ""
	}
	p, err := r.receive(ctx, a, f)
	if err != nil && f != "" && ctx.Err() == nil && r.cost.meter.Err() == nil && !errors.Is(err, ErrTooLarge) { // the reason may be lost: a server that refuses hangs up amid the request
		r.refused[f] = true
		return r.receive(ctx, a, "")
	}
	return p, err
}

// receive makes one request of upload-pack.
func (r *Remote) receive(ctx context.Context, a ask, f packp.Filter) (p *pack, err error) {
	if r.up == nil || (r.used && !r.stateless()) {
		if _, err := r.connect(ctx); err != nil {
			return nil, err
		}
	}
	r.used = true
	req := packp.NewUploadPackRequestFromCapabilities(r.caps)
	req.Wants, req.Haves, req.Shallows, req.Filter = slices.Clone(a.wants), slices.Clone(a.haves), slices.Clone(a.shallow), f
	set := func(c capability.Capability) { _ = req.Capabilities.Set(c) } // fails for what takes arguments
	if r.caps.Supports(capability.NoProgress) {
		set(capability.NoProgress)
	}
	if a.depth > 0 && r.caps.Supports(capability.Shallow) {
		req.Depth = packp.DepthCommits(a.depth)
		set(capability.Shallow)
	}
	if f != "" {
		set(capability.Filter)
	}
	if len(a.shallow) > 0 { // a thin pack alone leaves the trees of shallow commits out; go-git hides that the server makes them
		set(capability.ThinPack)
	}
	defer r.cost.meter.Pause()() // a pack is received as a whole, and read then
	answer, err := r.up.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Close() }() // all was read, or the error is returned already
	// What stands before the pack is kept in memory, so only now the answer may be as long as a pack may be.
	r.answers.last.left, r.answers.last.pack = maxReceived, true
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return spool(r.cost, sideband.NewDemuxer(sideband.Sideband64k, answer))
	case req.Capabilities.Supports(capability.Sideband):
		return spool(r.cost, sideband.NewDemuxer(sideband.Sideband, answer))
	}
	return spool(r.cost, answer)
}

// stateless reports whether one session answers many requests.
func (r *Remote) stateless() bool { return strings.HasPrefix(r.end.Protocol, "http") }

// Close ends the session for reading, if there is one. It never fails.
func (r *Remote) Close() error {
	if r.up != nil {
		_ = r.up.Close() // the server may have hung up already
		r.up = nil
	}
	return nil
}

// connect begins a session for reading.
func (r *Remote) connect(ctx context.Context) (*packp.AdvRefs, error) {
	_ = r.Close()
	up, adv, err := begin(ctx, r, r.client.NewUploadPackSession)
	if err != nil {
		return nil, err
	}
	r.up, r.used, r.caps = up, false, adv.Capabilities
	return adv, nil
}
