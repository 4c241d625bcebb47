package build

import (
	"bytes"
	"errors"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Bounds of one file of YAML.
const (
	// maxNodes is how many nodes there may be after aliases were filled in.
	maxNodes = 500_000
	// maxNested is how deep they may be nested. kustomize takes seconds for a few thousand levels.
	maxNested = 200
	// maxKustomization is the size of a kustomization.yaml, in bytes.
	maxKustomization = 1 << 20
)

// tame refuses YAML whose aliases would make much of little, for kustomize fills them all in, and what is nested too deeply. What is no YAML at
// all is left to kustomize.
func tame(content []byte) error {
	aliases := bytes.ContainsRune(content, '&') && bytes.ContainsRune(content, '*')
	if !aliases && nesting(content) <= maxNested {
		return nil
	}
	total := 0
	for dec := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var n yaml.Node
		if dec.Decode(&n) != nil {
			return nil // the end, or kustomize says it better
		}
		s := sizes{of: map[*yaml.Node]int{}}
		total += s.size(&n, 0)
		switch {
		case s.deep:
			return errors.New(wordNested)
		case total > maxNodes:
			return errors.New(wordAlias)
		}
	}
}

// nesting is no less than how deep YAML is nested, as far as its text shows without being parsed.
func nesting(content []byte) int {
	open, inside, before := 0, 0, 0 // brackets that are open, the most of them, and the most of what sections and lists begin with on a line
	for line := range bytes.Lines(content) {
		start := len(line) - len(bytes.TrimLeft(line, " -?:\t"))
		before = max(before, start)
		for _, c := range line[start:] {
			switch c {
			case '[', '{':
				open++
				inside = max(inside, open)
			case ']', '}':
				open = max(0, open-1)
			}
		}
	}
	return before + inside
}

// sizes is how many nodes stand for a node, and whether any stands too deep.
type sizes struct {
	of   map[*yaml.Node]int
	deep bool
}

func (s *sizes) size(n *yaml.Node, depth int) int {
	if size, ok := s.of[n]; ok {
		return size
	}
	s.of[n] = maxNodes + 1 // an alias of what it stands in has no end
	size := 1
	if s.deep = s.deep || depth > maxNested; s.deep {
		return size
	}
	if n.Alias != nil {
		size += s.size(n.Alias, depth+1)
	}
	for _, child := range n.Content {
		if size > maxNodes {
			break
		}
		size += s.size(child, depth+1)
	}
	s.of[n] = size
	return size
}
