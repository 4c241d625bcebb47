package gitremote

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-git/gcfg"

	"github.com/sluicegate/sluice/meter"
)

// settings is what is looked at of a clone's config. go-git's own reader is not used: it looks for the section of each line in a list of all, which
// is 20 s for 150,000 sections, and refuses partial clones and the extra config of worktrees, neither of which changes what is stored.
type settings struct {
	unsupported    string // what would be misread; "": nothing
	bare, worktree string // of core
	logs           string // core.logAllRefUpdates
	partial        bool   // a remote has promised the objects that are missing
	origin         string // its first URL
	insteadOf      map[string]string
}

// readSettings reads a config; one that does not exist says nothing.
func readSettings(cost *account, file string) (settings, error) {
	s := settings{insteadOf: map[string]string{}}
	f, n, err := openRegular(file, math.MaxInt64)
	if err != nil {
		return s, unlessAbsent(err)
	}
	defer f.Close() //nolint:errcheck // only read
	size := lineBytes * int(min(n, math.MaxInt32))
	if err := cost.hold(0, size, "config"); err != nil {
		return s, err
	}
	defer cost.drop(0, size)
	return s, gcfg.ReadWithCallback(io.LimitReader(f, n), func(section, of, key, value string, _ bool) error {
		if err := cost.take(meter.Steps, 1, "config"); err != nil {
			return err
		}
		return s.set(cost, strings.ToLower(section), of, strings.ToLower(key), value)
	})
}

// set reads one line. A key that stands there again replaces what it said, but for URLs.
func (s *settings) set(cost *account, section, of, key, value string) error {
	switch section + "." + key {
	case "core.repositoryformatversion":
		if value != "" && value != "0" && value != "1" {
			s.unsupported = "repository format version " + value
		}
	case "core.bare":
		s.bare = value
	case "core.worktree":
		s.worktree = value
	case "core.logallrefupdates":
		s.logs = strings.ToLower(value)
	case "remote.promisor":
		s.partial = s.partial || strings.EqualFold(value, "true")
	case "remote.partialclonefilter":
		s.partial = s.partial || value != ""
	case "remote.url":
		if of == "origin" && s.origin == "" {
			s.origin = value
		}
	case "url.insteadof":
		s.insteadOf[of] = value
		return cost.hold(1, len(of)+len(value), "config")
	case "extensions.noop", "extensions.noop-v1", "extensions.preciousobjects", "extensions.worktreeconfig":
	case "extensions.partialclone":
		s.partial = true
	case "extensions.objectformat":
		if !strings.EqualFold(value, "sha1") {
			s.unsupported = "objects named by " + value
		}
	case "extensions.refstorage":
		if !strings.EqualFold(value, "files") {
			s.unsupported = "refs kept as " + value
		}
	default:
		if section == "extensions" && of == "" && key != "" {
			s.unsupported = fmt.Sprintf("the extension %s", key)
		}
	}
	return nil
}
