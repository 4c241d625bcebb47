package forge

import (
	"time"

	"github.com/sluicegate/sluice/plan"
)

// remembered is what a Forge keeps in memory from one look to the next. A thing forgotten costs a request.
type remembered struct {
	content *quota // what GitHub said, under the name of what it said it of
	notes   *quota // what was made out of it, or when it was asked

	policies     *cache[plan.SHA, rulesFile] // of bases, by blob
	changes      *cache[headKey, proposed]
	details      *cache[pullKey, *rawPull]
	whole        *cache[listKey, fileList] // lists of files with the old names of renames
	paths        *cache[baseKey, pathSet]
	forks        *cache[forkKey, fork]
	histories    *cache[historyKey, history]
	firstParents *cache[commitKey, firstParent]
	ancestries   *cache[ancestryKey, ancestry]
	oldest       *cache[commitKey, plan.SHA] // the oldest commit of a line that is known to descend from a tip

	rules    *cache[baseKey, rules]
	strict   *cache[baseKey, time.Time] // bases that GitHub showed to be strict, and until when that counts
	demands  *cache[baseKey, time.Time] // windowed branches that GitHub showed to demand our status, and until when that counts
	fileless *cache[commitKey, bool]    // whether a branch never had a file, by its tip
	repos    *cache[repoKey, memory]
	bots     *cache[plan.Login, bot]
	unknown  *cache[pullKey, unknown]
	tips     *cache[baseKey, tipMemory]
	made     *cache[plan.SHA, struct{}] // commits of our own merges
	over     *cache[pullKey, closureMemory]
	parts    *cache[partKey, part]  // that could not be read
	turns    *cache[partKey, int64] // when parts were asked about last, counted in turn
}

// newRemembered is empty, and never takes more than so many bytes.
func newRemembered(most int) remembered {
	notes := newQuota(most / notesShare)
	content := newQuota(most - notes.most)
	return remembered{
		content: content, notes: notes,
		policies: newCache[plan.SHA, rulesFile](content), changes: newCache[headKey, proposed](content),
		details: newCache[pullKey, *rawPull](content), whole: newCache[listKey, fileList](content),
		paths: newCache[baseKey, pathSet](content), forks: newCache[forkKey, fork](content),
		histories: newCache[historyKey, history](content), firstParents: newCache[commitKey, firstParent](content),
		ancestries: newCache[ancestryKey, ancestry](content), oldest: newCache[commitKey, plan.SHA](content),

		rules: newCache[baseKey, rules](notes), strict: newCache[baseKey, time.Time](notes), demands: newCache[baseKey, time.Time](notes),
		fileless: newCache[commitKey, bool](notes), repos: newCache[repoKey, memory](notes), bots: newCache[plan.Login, bot](notes),
		unknown: newCache[pullKey, unknown](notes), tips: newCache[baseKey, tipMemory](notes), made: newCache[plan.SHA, struct{}](notes),
		over: newCache[pullKey, closureMemory](notes), parts: newCache[partKey, part](notes), turns: newCache[partKey, int64](notes),
	}
}
