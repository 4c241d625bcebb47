package build

import (
	"fmt"
	"time"
)

// Every word that a person reads about a build stands here.
const (
	wordPath   = "the path is not a directory of the tree"
	wordDied   = "the build ended without a result"
	wordMemory = "the build exceeded its memory limit"
	wordCycle  = "it leads back to itself"
	wordHelm   = "it inflates a Helm chart, which Flux and sluice do not do"
	wordAlias  = "its YAML aliases expand to too much"
	wordNested = "it is nested too deeply"
	wordLarge  = "its result is too large"
	wordDirs   = "too many directories are built for it"
	wordDeep   = "the references that lead to it are nested too deeply"
)

func wordSlow(d time.Duration) string { return fmt.Sprintf("building it took more than %v", d) }

func wordLate(d time.Duration) string {
	return fmt.Sprintf("it was not built: all builds together took more than %v", d)
}

func wordEnded(err error) string { return "it was not built: " + err.Error() }

func wordRemote(what string) string { return "needs " + what + ", which is not fetched" }

func wordMissing(what string) string { return what + " is not in the tree" }

func wordNoBuild(dir string) string { return dir + " is not a directory with a kustomization.yaml" }

func wordAbsolute(what string) string { return what + " is an absolute path" }

func wordLongKustomization(file string) string {
	return fmt.Sprintf("%s has more than %d KiB", file, maxKustomization>>10)
}

func wordLeft(file string) string {
	return file + " is not a regular file, or too large"
}

func wordManyFiles() string { return fmt.Sprintf("the tree has more than %d files", maxFiles) }

func wordPlugin(kind string) string {
	return fmt.Sprintf("the plugin %s would be a program to run, which Flux and sluice do not do", kind)
}

func wordPanic(v any) string { return fmt.Sprintf("kustomize failed: %v", v) }

func wordRead() string {
	return fmt.Sprintf("it reads more than %d MiB, a file counted as often as it is read", maxRead>>20)
}

func wordObjects(limit int) string { return fmt.Sprintf("it has more than %d objects", limit) }
