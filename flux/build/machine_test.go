package build

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestMachine: what a control group may have counts, whichever of its versions says it and however far above; else what the machine has.
func TestMachine(t *testing.T) {
	const info = "MemTotal:       24560000 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":       {nil, math.MaxInt64},
		"the machine":   {map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 24560000 << 10},
		"a container":   {map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"a group above": {map[string]string{"proc/meminfo": info, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1048576\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1 << 20},
		"version 1": {map[string]string{
			"proc/meminfo": info, "proc/self/cgroup": "4:cpu,memory:/a\n3:pids:/a\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := machine(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
