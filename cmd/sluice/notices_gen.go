//go:build ignore

// It writes THIRD_PARTY_NOTICES: the licences and notices of everything that is linked into cmd/sluice, which whoever hands out a
// binary or an image must hand out with it. They are read from the modules themselves, and from Go.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are what sluice is built for: some modules are linked for one of them alone.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// notice is a file that a module wants handed on.
var notice = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)`)

const head = `What sluice is built with, and under which terms. This file goes with every binary and image. It is generated: make generate.

Each text below is preceded by the names of those that it is from. The source of a module is had by its name and version from the
Go module proxy (go mod download). Beside them:

- The time zones are those of the IANA Time Zone Database, as Go packages it. They are in the public domain.
- The image holds Mozilla's list of certificate authorities, as Debian packages it (ca-certificates), under the Mozilla Public
  License 2.0, whose text is below.
`

// linked is a package that is linked.
type linked struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

func main() {
	from := map[string][]string{} // who, by text
	goroot := output(nil, "go", "env", "GOROOT")
	add(from, "Go", strings.TrimSpace(string(goroot)))
	for _, system := range systems {
		for _, p := range packages(system) {
			// Of the package and of what it is in: parts of a module may have terms of their own.
			for dir := p.Dir; ; dir = filepath.Dir(dir) {
				add(from, p.Module.Path+" "+p.Module.Version, dir)
				if dir == p.Module.Dir {
					break
				}
			}
		}
	}
	var out bytes.Buffer
	out.WriteString(head)
	type group struct{ who, text string }
	var groups []group
	for text, who := range from {
		groups = append(groups, group{strings.Join(slices.Compact(slices.Sorted(slices.Values(who))), "\n"), text})
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.who, b.who), cmp.Compare(a.text, b.text)) })
	for _, g := range groups {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s", strings.Repeat("=", 100), g.who, g.text)
	}
	if err := os.WriteFile("../../THIRD_PARTY_NOTICES", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// packages is what is linked for a system, without Go's own and sluice's.
func packages(system string) []linked {
	goos, goarch, _ := strings.Cut(system, "/")
	list := output([]string{"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0"}, "go", "list", "-deps", "-json=Dir,Module", ".")
	var all []linked
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p linked
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			log.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main {
			all = append(all, p)
		}
	}
}

// add adds the notices that stand in a directory.
func add(from map[string][]string, who, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || !notice.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			log.Fatal(err)
		}
		lines := strings.Split(strings.ReplaceAll(strings.Trim(string(text), "\r\n"), "\r\n", "\n"), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t")
		}
		key := strings.Join(lines, "\n") + "\n"
		from[key] = append(from[key], who)
	}
}

func output(env []string, name string, args ...string) []byte {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatal(err)
	}
	return out
}
