package layout

import (
	"path"
	"strings"
)

// preset is a compiled preset. It looks at the names of directories. Of what a path ends with it looks at one thing only, as
// that may be a submodule or a symbolic link, which stands for a directory and cannot be told from a file by its path: a name
// that would make a directory windowed. Fail closed: it makes a file windowed too. Only what begins with window- and has a file's
// extension is one.
type preset struct {
	kind     Preset
	windowed []Release // what its windowed side needs
}

// newPreset compiles a preset.
func newPreset(kind Preset, side []Release) preset {
	if kind == "" {
		kind = NoPreset
	}
	return preset{kind: kind, windowed: sorted(side)}
}

// class is what the preset says of a path; ok is false where it says nothing.
func (p preset) class(segments []string) (c Class, ok bool) {
	dirs, last := segments[:len(segments)-1], segments[len(segments)-1:]
	switch p.kind {
	case RTRW:
		return p.orLast(last, "-rw", dirs)
	case RTMW:
		return p.orLast(last, "-mw", dirs)
	case LiveWindow:
		if c, ok := p.deepest(last); ok && !c.live() && !isFile(last[0]) {
			return c, true
		}
		return p.deepest(dirs)
	}
	return Class{}, false
}

// isFile reports whether a name has the extension of a file. What follows another dot may as well be a version: 1.0-window.
func isFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json", ".md":
		return true
	}
	return false
}

// orLast is bySuffix of the directories, and of the last name as far as it makes windowed.
func (p preset) orLast(last []string, suffix string, dirs []string) (Class, bool) {
	if c, ok := p.bySuffix(last, suffix); ok && !c.live() {
		return c, true
	}
	return p.bySuffix(dirs, suffix)
}

// says is a class for what a directory says.
func (p preset) says(releases []Release, what string) (Class, bool) {
	return Class{Releases: releases, Rule: saysPreset(p.kind, what)}, true
}

// bySuffix is rt-rw and rt-mw: a directory with the windowed suffix wins over one ending in -rt, wherever they stand. Fail
// closed: the windowed suffix counts in any case, the live one only as written.
func (p preset) bySuffix(dirs []string, suffix string) (Class, bool) {
	live := false
	for _, d := range dirs {
		if strings.HasSuffix(d, suffix) || strings.HasSuffix(strings.ToLower(d), suffix) {
			return p.says(p.windowed, "ends in "+suffix)
		}
		live = live || strings.HasSuffix(d, "-rt")
	}
	if !live {
		return Class{}, false
	}
	return p.says([]Release{Live}, "ends in -rt")
}

// deepest is live-window: the deepest directory that says anything decides. One that says both is windowed: fail closed.
// As above, the windowed words count in any case.
func (p preset) deepest(dirs []string) (Class, bool) {
	for i := len(dirs) - 1; i >= 0; i-- {
		d := dirs[i]
		folded := strings.ToLower(d)
		switch {
		case strings.HasSuffix(folded, "-window"):
			return p.says(p.windowed, "ends in -window")
		case strings.HasPrefix(folded, "window-"):
			return p.says(p.windowed, "begins with window-")
		case strings.HasSuffix(d, "-live"):
			return p.says([]Release{Live}, "ends in -live")
		case strings.HasPrefix(d, "live-"):
			return p.says([]Release{Live}, "begins with live-")
		}
	}
	return Class{}, false
}
