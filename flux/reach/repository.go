package reach

import "github.com/sluicegate/sluice/config"

// unconfirmed is clusters of which it is not known which of two syncs is theirs, and with `flux: true`, where what is read decides, those of which it is not
// known which sources are this repository.
func (g *Graph) unconfirmed() []config.Note {
	level := config.LevelWarn
	if g.policy.Flux {
		level = config.LevelHold
	}
	var c causes
	add := func(code, cause, message, first string) {
		c.add(code+cause, func() (config.Note, string) {
			return config.Note{Level: level, Code: code, Message: message, Way: []any{"clusters"}}, first
		})
	}
	for _, e := range g.trees[0].entries {
		if e.Kustomization != nil {
			continue
		}
		for _, s := range e.Cluster.Unconfirmed() {
			if !g.policy.Flux {
				break
			}
			add(codeUnconfirmed, "", wordUnconfirmed, wordSourceOf(s, e.Cluster))
		}
		if rival := e.Cluster.Rival; rival.File != "" {
			add(codeRivals, rival.String(), wordRivals, wordRivalsOf(e.Cluster))
		}
	}
	return c.notes("1 more", "%d more")
}
