package standin

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Change is one commit that a person makes.
type Change struct {
	By      string            // login of author and committer; default: the repository's owner
	Message string            // default "Change"
	Write   map[string]string // path → whole content
	Delete  []string          // paths
	Move    map[string]string // old path → new path
	Link    map[string]string // path → target of a symbolic link
	Module  map[string]string // path → commit of a submodule, which need not be there
	From    string            // branch or commit that a new branch starts from; default: the default branch
}

// apply commits a change on top of parent ("" for none) and sets a full ref name to it. The caller holds the repository's
// lock and has made sure that the ref is at parent, or not there.
func (d *gitDir) apply(c Change, refName, parent string, at time.Time) (string, error) {
	if !validRef(refName) {
		return "", fmt.Errorf("commit on %q: not a valid ref", refName)
	}
	if parent != "" && !fullSHA.MatchString(parent) {
		return "", fmt.Errorf("commit on %q: %q is no commit", refName, parent)
	}
	if d.memory != nil {
		return d.memory.apply(c, refName, parent, at)
	}
	script, err := importScript(c, refName, parent, at)
	if err != nil {
		return "", err
	}
	out, err := d.runIn(bytes.NewReader(script), nil, "fast-import", "--quiet", "--done", "--date-format=raw")
	if err != nil {
		return "", err
	}
	sha := strings.TrimSpace(string(out))
	if !fullSHA.MatchString(sha) {
		return "", fmt.Errorf("git fast-import: no commit in %q", out)
	}
	return sha, nil
}

var errPath = errors.New("not a path of a repository")

// importScript writes a change in the language of git fast-import, which makes a whole commit in one run of git.
func importScript(c Change, refName, parent string, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	who := fmt.Sprintf("%s <%s> %d +0000", c.By, mailOf(c.By), at.Unix())
	message := c.Message
	if message == "" {
		message = "Change"
	}
	fmt.Fprintf(&b, "commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n%s\n", refName, who, who, len(message), message)
	if parent != "" {
		fmt.Fprintf(&b, "from %s\n", parent)
	}
	for _, old := range slices.Sorted(maps.Keys(c.Move)) {
		if !validPath(old) || !validPath(c.Move[old]) {
			return nil, fmt.Errorf("move %q to %q: %w", old, c.Move[old], errPath)
		}
		fmt.Fprintf(&b, "R %s %s\n", quotePath(old), quotePath(c.Move[old]))
	}
	for _, path := range c.Delete {
		if !validPath(path) {
			return nil, fmt.Errorf("delete %q: %w", path, errPath)
		}
		fmt.Fprintf(&b, "D %s\n", quotePath(path))
	}
	for _, path := range slices.Sorted(maps.Keys(c.Write)) {
		if !validPath(path) {
			return nil, fmt.Errorf("write %q: %w", path, errPath)
		}
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quotePath(path), len(c.Write[path]), c.Write[path])
	}
	if err := special(&b, c); err != nil {
		return nil, err
	}
	b.WriteString("\nget-mark :1\ndone\n")
	return b.Bytes(), nil
}

// special writes symbolic links and submodules: git's modes 120000 and 160000.
func special(b *bytes.Buffer, c Change) error {
	for _, path := range slices.Sorted(maps.Keys(c.Link)) {
		if !validPath(path) {
			return fmt.Errorf("link %q: %w", path, errPath)
		}
		fmt.Fprintf(b, "M 120000 inline %s\ndata %d\n%s\n", quotePath(path), len(c.Link[path]), c.Link[path])
	}
	for _, path := range slices.Sorted(maps.Keys(c.Module)) {
		if !validPath(path) || !fullSHA.MatchString(c.Module[path]) {
			return fmt.Errorf("submodule %q at %q: %w", path, c.Module[path], errPath)
		}
		fmt.Fprintf(b, "M 160000 %s %s\n", c.Module[path], quotePath(path))
	}
	return nil
}

func validPath(path string) bool {
	if path == "" || strings.ContainsRune(path, 0) {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}

// quotePath writes a path as git's C-style string.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// mailOf is the address that GitHub gives to accounts that hide theirs.
func mailOf(login string) string { return login + "@users.noreply.github.com" }
