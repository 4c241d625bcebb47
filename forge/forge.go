package forge

import (
	"log/slog"
	"sync"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
)

// detailsTTL is the age at which details are read again, where that costs next to nothing, when no resync interval is given.
const detailsTTL = 5 * time.Minute

// rulesTTL is how long the rules of a base count as known when no resync interval is given.
const rulesTTL = time.Hour

// rulesResyncs is for how many resync intervals they are.
const rulesResyncs = 12

// Options is what a Forge needs to know.
type Options struct {
	client.Options

	Resync time.Duration // rules of bases are remembered for twelve of these unless asked for anew; 0: an hour
	Memory int           // bytes that are remembered of all repositories together; 0: 200 MiB
}

// Forge speaks to one GitHub as one App. It is safe for concurrent use.
type Forge struct {
	*client.App
	*branches.Mover

	app      int64
	rulesTTL time.Duration
	resync   time.Duration
	log      *slog.Logger
	now      func() time.Time

	memory    *look.Memory
	listsMost int        // bytes of a look's lists of files
	verifying sync.Mutex // a rules file that somebody proposes
}

// New makes a Forge. It sends nothing.
func New(o Options) (*Forge, error) {
	app, err := client.New(o.Options)
	if err != nil {
		return nil, err
	}
	f := &Forge{
		App: app, app: o.AppID, rulesTTL: rulesResyncs * o.Resync, resync: o.Resync, log: o.Log, now: o.Now,
		memory: look.NewMemory(o.Memory), listsMost: maxListsBytes,
	}
	if f.rulesTTL <= 0 {
		f.rulesTTL, f.resync = rulesTTL, detailsTTL
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.now == nil {
		f.now = time.Now
	}
	f.Mover = &branches.Mover{App: app, Memory: f.memory, Now: f.now}
	return f, nil
}

// methods are the ways to merge that a repository allows.
func (r rawRepo) methods() []config.Method {
	var m []config.Method
	if r.MergeCommitAllowed {
		m = append(m, config.MergeCommit)
	}
	if r.SquashMergeAllowed {
		m = append(m, config.Squash)
	}
	if r.RebaseMergeAllowed {
		m = append(m, config.Rebase)
	}
	return m
}
