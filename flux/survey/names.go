package survey

import (
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
)

// shape is a convention for directory names that a tree follows.
type shape struct {
	preset layout.Preset
	layout *layout.Layout // of it alone
}

// findNames finds the conventions for directory names: each that has both sides in the tree. The one that windows most files is the preset.
func (s *survey) findNames() {
	most := 0
	s.preset = layout.NoPreset
	for _, p := range []layout.Preset{layout.RTRW, layout.RTMW, layout.LiveWindow} {
		l, problems := layout.New(layout.Spec{Preset: p, Side: []layout.Release{"window"}, Windows: []string{"window"}})
		if l == nil || len(problems) > 0 {
			continue
		}
		windowed, live := 0, 0
		for _, file := range s.paths {
			if s.spent(file, 0, 1) {
				return
			}
			switch releases := l.Classify(file).Releases; {
			case slices.Contains(releases, "window"):
				windowed++
			case slices.Contains(releases, layout.Live):
				live++
			}
		}
		switch {
		case windowed == 0 || live == 0:
		case windowed > most:
			most, s.preset, s.shapes = windowed, p, append([]shape{{p, l}}, s.shapes...)
		default:
			s.shapes = append(s.shapes, shape{p, l})
		}
	}
	for _, file := range s.paths {
		if windowed, _ := s.bySuffix(file); windowed && !s.spent(file, 0, 1) {
			s.named = append(s.named, file)
		}
	}
	slices.Sort(s.named)
}

// bySuffix is what directory names say of a path: windowed by any convention, live by that of the preset, or nothing.
func (s *survey) bySuffix(p string) (windowed, live bool) {
	for i, shape := range s.shapes {
		releases := shape.layout.Classify(p).Releases
		windowed = windowed || slices.Contains(releases, "window")
		live = live || i == 0 && slices.Contains(releases, layout.Live)
	}
	return windowed, live && !windowed
}

// namedIn reports whether directory names say what is windowed in a cluster: those of its own directory, and of what its entry points are for. Bases
// that it shares with others say nothing of it.
func (s *survey) namedIn(c graph.Cluster) bool {
	if s.namedBelow(dirOfCluster(c.Path)) {
		return true
	}
	return slices.ContainsFunc(c.Kustomizations, func(k *graph.Kustomization) bool {
		windowed, _ := s.bySuffix(path.Join(k.Path, "x"))
		return k.Here && (windowed || s.namedBelow(k.Path))
	})
}

// namedBelow reports whether a name windows a path below a directory.
func (s *survey) namedBelow(dir string) bool {
	if dir == "." {
		return len(s.named) > 0
	}
	i, _ := slices.BinarySearch(s.named, dir+"/")
	return i < len(s.named) && strings.HasPrefix(s.named[i], dir+"/")
}
