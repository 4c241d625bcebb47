package build

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// machine is how many bytes of memory this process's control group has, or the machine, if that is less: as Linux says it below its root. Where nobody
// says it there is no end.
func machine(root fs.FS) int64 {
	out := number(root, "proc/meminfo", "MemTotal:") << 10
	if out <= 0 {
		out = math.MaxInt64
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		above, file := "sys/fs/cgroup", "memory.max"
		if strings.Contains(","+parts[1]+",", ",memory,") {
			above, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) { // a group has no more than those that it is in
			if limit := number(root, path.Join(above, dir, file), ""); limit > 0 {
				out = min(out, limit)
			}
			if dir == "/" {
				break
			}
		}
	}
	return out
}

// number is what stands behind a word in a file, or at its beginning; 0: nothing does.
func number(root fs.FS, name, word string) int64 {
	text, _ := fs.ReadFile(root, name)
	_, after, _ := strings.Cut(string(text), word)
	first, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.ParseInt(first, 10, 64)
	return n
}
