package forge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// botAgain is how long an App that GitHub does not show is left alone before it is asked for again.
const botAgain = 5 * time.Minute

// A status does not carry its App as a check run does, only the account that set it. So where a requirement names an App, GitHub is
// asked which App's bot that is; a person's status is no App's, whatever the person is called.

const (
	// maxBots is for how many bots one look asks which App's they are. What it does not ask for counts for no App until a later look.
	maxBots = 20
)

// bot is what is remembered of an App's bot.
type bot struct {
	app   int64     // 0: GitHub does not say, and is left alone until then
	until time.Time // a slug may be given up and become another App's
}

// addApps fills in the Apps of the statuses that stand under a name that is required of one.
func (l *observation) addApps(ctx context.Context, s *plan.Snapshot) error {
	var wanted []*plan.Check
	for _, p := range s.Pulls {
		wanted = appendUnresolved(wanted, s.Bases[p.Base].Required, p.Checks)
	}
	for _, source := range s.Sources {
		for _, c := range source.Line {
			wanted = appendUnresolved(wanted, source.Checks, c.Checks)
			if c.Head != nil {
				wanted = appendUnresolved(wanted, source.Checks, c.Head.Checks)
			}
		}
	}
	known := map[plan.Login]bot{}
	var ask []plan.Login
	for _, c := range wanted {
		if b, ok := keptBots.Get(l.Memory.OfAll(), c.By); ok && l.Now().Before(b.until) {
			known[c.By] = b
		} else {
			ask = append(ask, c.By)
		}
	}
	slices.Sort(ask)
	ask = slices.Compact(ask)
	ask = ask[:min(len(ask), maxBots)]
	found := make([]bot, len(ask))
	if err := look.Each(ctx, look.Indices(ask), func(ctx context.Context, i int) (err error) {
		found[i], err = l.readBot(ctx, ask[i])
		return err
	}); err != nil {
		return err
	}
	for i, slug := range ask {
		known[slug] = found[i]
	}
	for _, c := range wanted {
		c.App = known[c.By].app
	}
	return nil
}

// appendUnresolved adds the statuses by bots that may answer a requirement that names an App.
func appendUnresolved(to []*plan.Check, required []plan.RequiredCheck, checks []plan.Check) []*plan.Check {
	for i := range checks {
		c := &checks[i]
		if c.Bot && c.App == 0 && slices.ContainsFunc(required, func(r plan.RequiredCheck) bool {
			return r.App != 0 && strings.EqualFold(string(r.Context), string(c.Context))
		}) {
			to = append(to, c)
		}
	}
	return to
}

// readBot asks which App a bot is of. No error is remembered as an answer, nor ends the look: until GitHub says it, the bot's
// statuses count for no App.
func (l *observation) readBot(ctx context.Context, slug plan.Login) (bot, error) {
	if !client.IsName(string(slug)) { // it would be another address of GitHub's
		return bot{}, nil
	}
	var app struct {
		ID   int64
		Slug string
	}
	err := l.Client.Get(ctx, "apps/"+string(slug), &app)
	if err == nil && (app.ID <= 0 || !strings.EqualFold(app.Slug, string(slug))) {
		err = client.Unreadable(nil)
	}
	if err != nil && ctx.Err() != nil {
		return bot{}, err
	}
	if err == nil {
		b := bot{app.ID, l.Now().Add(l.RulesTTL)}
		keptBots.Put(l.Memory.OfAll(), slug, b)
		return b, nil
	}
	l.Log.Warn("cannot tell which App set a status", "bot", string(slug), "error", err)
	if kind := client.KindOf(err); kind == client.Gone || kind == client.Refused {
		keptBots.Put(l.Memory.OfAll(), slug, bot{until: l.Now().Add(min(botAgain, l.RulesTTL))})
	}
	return bot{}, nil
}
