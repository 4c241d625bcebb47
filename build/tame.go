package build

import (
	"bytes"
	"errors"
	"io"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Bounds of one file of YAML.
const (
	// maxNodes is how many nodes there may be after aliases were filled in.
	maxNodes = 500_000
	// maxNested is how deep they may be nested.
	maxNested = 500
)

// tame refuses YAML whose aliases would make much of little: kustomize fills them all in. What is no YAML at all is left to kustomize.
func tame(content []byte) error {
	if !bytes.ContainsRune(content, '&') || !bytes.ContainsRune(content, '*') {
		return nil
	}
	total := 0
	for dec := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var n yaml.Node
		if err := dec.Decode(&n); errors.Is(err, io.EOF) || err != nil {
			return nil //nolint:nilerr // kustomize says it better
		}
		s := sizes{}
		if total += s.of(&n, 0); total > maxNodes {
			return errors.New(wordAlias)
		}
	}
}

// sizes is how many nodes stand for a node.
type sizes map[*yaml.Node]int

func (s sizes) of(n *yaml.Node, depth int) int {
	if size, ok := s[n]; ok {
		return size
	}
	s[n] = maxNodes + 1 // an alias of what it stands in has no end
	size := 1
	if n.Alias != nil {
		size += s.of(n.Alias, depth+1)
	}
	if depth > maxNested {
		size = maxNodes + 1
	}
	for _, child := range n.Content {
		if size > maxNodes {
			break
		}
		size += s.of(child, depth+1)
	}
	s[n] = size
	return size
}
