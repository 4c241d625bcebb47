package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// emptyTree is git's name for a tree without files.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Patch is what a head changed since it parted from a base, as git prints it for people: its first so many bytes, and whether there are more. Both
// are commits; a base of "" is an empty tree. A repository in memory has none.
func (r *Repo) Patch(base, head string, most int) (text string, more bool, err error) {
	span := []string{base + "..." + head}
	if base == "" {
		span = []string{emptyTree, head}
	}
	if !fullSHA.MatchString(head) || base != "" && !fullSHA.MatchString(base) {
		return "", false, fmt.Errorf("patch from %q to %q: %w", base, head, ErrNotFound)
	}
	text, more, err = r.git.print(most, append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv"}, span...)...)
	if err != nil {
		return "", false, fmt.Errorf("patch from %s to %s: %w", base, head, err)
	}
	return text, more, nil
}

// print runs git for the first bytes of its output; it is stopped after them.
func (d *Git) print(most int, args ...string) (text string, more bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	cmd := d.Command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", false, err
	}
	if err := cmd.Start(); err != nil {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(out, int64(most)+1))
	if more = len(data) > most; more {
		cancel()
		_ = cmd.Wait() // it was stopped
		return string(data[:most]), true, err
	}
	return string(data), false, errors.Join(err, cmd.Wait())
}
