package branches

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxAncestries is how many comparisons a look makes for branches that are not found on their source's line. What is left
	// open is not moved, or not as far, until a later look.
	maxAncestries = 30
)

// ancestryKey names a comparison. Both SHAs are known, so its answer never changes.
type ancestryKey struct {
	from, to plan.SHA
}

// place is how a tip stands to a source's line.
type place struct {
	relation plan.Relation
	reach    int
	unread   plan.Unread // why the relation is unknown, if a comparison failed
}

// placeKey names a tip before a source.
type placeKey struct {
	from plan.Branch
	tip  plan.SHA
}

// relate finds the relation of every branch to its source: by its place on the line, and by comparisons only for what lies deeper
// or beside it. Branches that share a tip share the answer.
func (t *tracker) relate(ctx context.Context) error {
	places := map[placeKey]place{}
	var open []placeKey
	for i, e := range t.entries {
		k := placeKey{plan.Branch(e.From), t.s.Branches[i].Tip}
		if _, done := places[k]; done || k.tip == "" || t.s.Sources[k.from].Tip == "" {
			continue
		}
		p, ok := t.placed(k)
		if places[k] = p; !ok {
			open = append(open, k)
		}
	}
	found := make([]place, len(open))
	var left atomic.Int32
	left.Store(maxAncestries)
	err := look.Each(ctx, look.Indices(open), func(ctx context.Context, i int) error {
		var err error
		found[i], err = t.searchPart(ctx, open[i], &left)
		return err
	})
	if err != nil {
		return err
	}
	for i, k := range open {
		places[k] = found[i]
	}
	for i, e := range t.entries {
		if b := &t.s.Branches[i]; b.Tip != "" {
			p := places[placeKey{plan.Branch(e.From), b.Tip}]
			b.Relation, b.Reach = p.relation, p.reach
			if !b.Unread.Is() {
				b.Unread = p.unread
			}
		}
	}
	return nil
}

// placed finds a tip on its source's line.
func (t *tracker) placed(k placeKey) (place, bool) {
	i, ok := t.chains[k.from].at[k.tip]
	switch {
	case !ok:
		return place{}, false
	case i == 0:
		return place{relation: plan.Level}, true
	}
	return place{relation: plan.Behind, reach: min(i, len(t.chains[k.from].line()))}, true
}

// searchPart is search for a tip as a part by itself: while it is left alone what was proved before stands.
func (t *tracker) searchPart(ctx context.Context, k placeKey, left *atomic.Int32) (place, error) {
	key := t.Key(partTip, string(k.tip))
	unread := t.Rests(key)
	if unread.Is() {
		left = &atomic.Int32{}
	}
	p, err := t.search(ctx, k, left)
	if err != nil {
		if unread, err = t.Failed(ctx, key, whatAncestry, err); err != nil {
			return place{}, err
		}
	} else if !unread.Is() {
		t.WasRead(key)
	}
	if p.relation == plan.RelationUnknown {
		p.unread = unread
	}
	return p, nil
}

// search finds the relation of a tip that is not on the line, by comparisons.
//
// The commits of a line that descend from a tip are its beginning, as each descends from the one after it. So the oldest that
// does is found by halving, and stays the oldest when the line grows.
func (t *tracker) search(ctx context.Context, k placeKey, left *atomic.Int32) (place, error) {
	c := t.chains[k.from]
	line := c.line()
	yes, no := -1, len(line) // places that are known to descend from the tip, and not to
	if oldest, ok := keptOldest.Get(t.Memory, k.tip); ok {
		if i, ok := c.at[oldest]; ok {
			yes = min(i, len(line)-1)
		}
	}
	if yes < 0 {
		got, err := t.compareTips(ctx, k.tip, t.s.Sources[k.from].Tip, left)
		if r := relationOf(got); err != nil || r != plan.Behind {
			return place{relation: r}, err
		}
		yes = 0
	}
	for first := true; no-yes > 1 && len(line) > 0; first = false {
		at := (yes + no) / 2
		if first {
			at = t.guess(k.tip, line, yes)
		}
		switch got, err := t.compareTips(ctx, k.tip, line[at].SHA, left); {
		case err != nil, got == look.AncestryUnknown: // what is proved stands
			return t.keepPlace(k.tip, line, yes), err
		case got == look.AncestryAhead, got == look.AncestryIdentical:
			yes = at
		default:
			no = at
		}
	}
	return t.keepPlace(k.tip, line, yes), nil
}

// guess is the place to ask about first: the one after the last that is known to descend, if that was compared before, else
// the end of the line, which descends from whatever lies deeper.
func (t *tracker) guess(tip plan.SHA, line []plan.Commit, yes int) int {
	if _, known := keptAncestries.Get(t.Memory, ancestryKey{tip, line[yes+1].SHA}); known {
		return yes + 1
	}
	return len(line) - 1
}

// keepPlace remembers the oldest commit of the line that is known to descend from a tip.
func (t *tracker) keepPlace(tip plan.SHA, line []plan.Commit, yes int) place {
	if len(line) == 0 {
		return place{relation: plan.Behind}
	}
	keptOldest.Put(t.Memory, tip, line[yes].SHA)
	return place{relation: plan.Behind, reach: yes + 1}
}

// relationOf is what a comparison from a branch's tip to its source says of the branch.
func relationOf(k look.Ancestry) plan.Relation {
	switch k {
	case look.AncestryIdentical:
		return plan.Level
	case look.AncestryAhead:
		return plan.Behind
	case look.AncestryBehind:
		return plan.Beyond
	case look.AncestryDiverged:
		return plan.Diverged
	}
	return plan.RelationUnknown
}

// compareTips compares two commits, or recalls it; unknown if the look has made as many comparisons as it may. What GitHub does not
// find is no answer: commits without a common ancestor look like commits that it does not have everywhere yet.
func (t *tracker) compareTips(ctx context.Context, from, to plan.SHA, left *atomic.Int32) (look.Ancestry, error) {
	if from == to {
		return look.AncestryIdentical, nil
	}
	key := ancestryKey{from, to}
	if k, ok := keptAncestries.Get(t.Memory, key); ok {
		return k, nil
	}
	if left.Add(-1) < 0 {
		return look.AncestryUnknown, nil
	}
	c, err := t.CompareAlone(ctx, from, to)
	if err != nil {
		return look.AncestryUnknown, fmt.Errorf("compare branch: %w", err)
	}
	k := look.Ancestry(c.Status)
	if relationOf(k) == plan.RelationUnknown {
		return look.AncestryUnknown, client.Wrap(ctx, "compare branch", client.NewTransient(wordNoAncestry, nil))
	}
	keptAncestries.Put(t.Memory, key, k)
	return k, nil
}
