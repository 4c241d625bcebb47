package build

import (
	"fmt"
	"time"
)

// Every word that a person reads about a build stands here.
const (
	wordPath   = "the path is no directory of the tree"
	wordDied   = "the build ended without a result"
	wordMemory = "the build took more memory than it may"
	wordCycle  = "it leads back to itself"
	wordDeep   = "more directories lead to it than may"
	wordExec   = "it would run a program or a plugin, which is not done"
	wordHelm   = "it inflates a Helm chart, which is not done"
	wordNested = "it is nested too deeply"
	wordAlias  = "what its YAML aliases stand for is too much"
	wordLarge  = "what it makes is more than can be sent"
	wordYAML   = "it has several kustomization files"
)

func wordSlow(d time.Duration) string { return fmt.Sprintf("building it took more than %v", d) }

func wordLate(d time.Duration) string {
	return fmt.Sprintf("it was not built: all builds together took more than %v", d)
}

func wordRemote(what string) string { return fmt.Sprintf("needs %s, which is not fetched", what) }

func wordMissing(what string) string { return fmt.Sprintf("%s is not in the tree", what) }

func wordLeft(file string) string {
	return fmt.Sprintf("%s is no regular file or larger than what is read", file)
}

func wordPanic(v any) string { return fmt.Sprintf("kustomize failed: %v", v) }

func wordBytes(limit int64) string {
	return fmt.Sprintf("it reads more than %d MiB, a file counted as often as it is read", limit>>20)
}

func wordObjects(limit int) string { return fmt.Sprintf("it has more than %d objects", limit) }

func wordVisits(limit int) string { return fmt.Sprintf("it visits more than %d directories", limit) }
