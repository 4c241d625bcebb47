package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What a person reads about a document that was not read, or not as kustomize reads it.
const (
	wordBroken      = "the document is broken"
	wordAlias       = "its YAML aliases stand for themselves, or for too much"
	wordMerge       = "a << key has no section as its value"
	wordVagueTarget = "its target was not understood"
	wordNoJSON      = "what begins with [ has to be JSON"
	wordDirective   = "$patch says something that is not known"
	wordMismatch    = "it puts a section, a list or a text in the place of another kind"
	wordPointer     = "it has an operation for what is not there"
	wordTest        = "a test in it fails"
	wordEncrypted   = "it is encrypted as a whole"
	wordAnything    = "what the ResourceSet makes of this may be any objects: what they lead to is not followed"
	wordTwice       = "the ResourceSet makes an object of this that has a key twice: what it leads to is not followed"
	wordNoTexts     = "it has labels or annotations that are empty, or no texts"
)

func wordLargeDocument() string {
	return fmt.Sprintf("a document has more than %d KiB: it was not read", MaxDoc>>10)
}

func wordDirectives() string {
	return fmt.Sprintf("a document has more than %d directives: it was not read", MaxDirectives)
}

func wordWide() string {
	return fmt.Sprintf("a section has more than %d keys: it was not read", MaxKeys)
}

func wordNoYAML(err error) string { return "not valid YAML: " + err.Error() }

const wordForeign = "kustomize may find other documents in it: it is not UTF-8, or a text follows --- at the beginning of a line"

func wordLongList(field string) string {
	return fmt.Sprintf("%s has more than %d entries: the rest was not read", field, MaxList)
}

func wordManyProblems() string {
	return fmt.Sprintf("more than %d problems: the rest is not listed", MaxProblems-1)
}

// Printable is a text without what a terminal obeys.
func Printable(s string) string {
	if len(s) > 2*MaxWord {
		s = s[:2*MaxWord] + "…"
	}
	quoted := strconv.Quote(openAs.ReplaceAllString(s, "$1"))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// openAs is a variable that stands for what a ResourceSet has filled in, and how that is written there.
var openAs = regexp.MustCompile(`\$\{(<<[^}]*>>)#[0-9a-f]{8}\}`)

func wordUnknown(field, value, name string) string {
	return fmt.Sprintf("%s is %s: the value of %s is not known from the tree, and what it leads to is not followed", field, Printable(value), Printable(name))
}

// PatchProblem is what is said of a patch that was not read.
func PatchProblem(problem string) string { return "the patch was not read: " + problem }
