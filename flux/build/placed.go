package build

import (
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// How kustomize says in which directory below, and with which of its files, something is wrong. A text of the tree may say the same: it is only shown.
var (
	inParts     = regexp.MustCompile(`accumulateDirectory: (".*")$`)
	inDirectory = regexp.MustCompile(`(?s)^.*recursed (?:accumulation of|merging from) path '/([^']*)': `)
	inFile      = regexp.MustCompile(`(?s)^.*(?:accumulating|merging) resources from '([^']*)': `)
	behindFile  = regexp.MustCompile(`(?s)': must build at directory: .*| in File: .*`)
)

// placed is an error of kustomize with the file that is wrong first, as compilers have it: it begins with the way to the file, and names that last.
func (u *undertaking) placed(dir string, err error) error {
	text := err.Error()
	for m := inParts.FindStringSubmatch(text); m != nil; m = inParts.FindStringSubmatch(text) {
		inner, err := strconv.Unquote(m[1])
		if err != nil {
			break
		}
		text = strings.TrimSuffix(text, m[0]) + inner
	}
	if m := inDirectory.FindStringSubmatch(text); m != nil {
		dir, text = clean(m[1]), text[len(m[0]):]
	}
	file := u.kustomization(dir)
	if m := inFile.FindStringSubmatch(text); m != nil {
		file, text = clean(path.Join(dir, m[1])), behindFile.ReplaceAllString(text[len(m[0]):], "")
	}
	if file == "" {
		file = dir
	}
	return errors.New(file + ": " + strings.TrimPrefix(text, "MalformedYAMLError: "))
}
