//go:build ignore

// It writes README.md beside the scenarios of a directory: each with what it says, by topic. The directory's file TOPICS has a heading, and
// below it the first words of the names that belong there. A scenario without a topic is an error, and so is a word without a scenario.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(dir string) error {
	topics, err := os.ReadFile(filepath.Join(dir, "TOPICS"))
	if err != nil {
		return err
	}
	scenarios, err := read(dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Scenarios\n\nEach is a file, an instant, what GitHub shows, and the plan that follows. Generated from the scenarios and TOPICS: make generate.\n")
	for topic := range strings.SplitSeq(strings.TrimSpace(string(topics)), "\n\n") {
		heading, words, _ := strings.Cut(topic, "\n")
		fmt.Fprintf(&out, "\n## %s\n\n", heading)
		for word := range strings.FieldsSeq(words) {
			some := scenarios[word]
			if len(some) == 0 {
				return fmt.Errorf("%s: no scenario's name begins with %s, or two topics name it", dir, word)
			}
			delete(scenarios, word)
			for _, s := range some {
				fmt.Fprintf(&out, "- [%s](%s.txtar): %s\n", s.name, s.name, s.says)
			}
		}
	}
	for word := range scenarios {
		return fmt.Errorf("%s: scenarios named %s have no topic: add the word to TOPICS", dir, word)
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), out.Bytes(), 0o644)
}

// scenario is a name and the comment above the file.
type scenario struct{ name, says string }

// read gives the scenarios by the first word of their names, each in the order of names.
func read(dir string) (map[string][]scenario, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	out := map[string][]scenario{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		word, _, _ := strings.Cut(name, "-")
		out[word] = append(out[word], scenario{name, strings.Join(strings.Fields(string(archive.Comment)), " ")})
	}
	return out, nil
}
