package standin

import "fmt"

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
	out, err := r.git.run(append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv"}, span...)...)
	if err != nil {
		return "", false, fmt.Errorf("patch from %s to %s: %w", base, head, err)
	}
	return string(out[:min(len(out), most)]), len(out) > most, nil
}
