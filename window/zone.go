package window

import (
	_ "embed" // for zoneData
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"
)

// The data is refreshed on purpose only, by ZONES=refresh go generate ./window with a new Go: it differs between releases of
// Go, and what is generated must not differ between machines.
//
//go:generate sh -c "test \"$ZONES\" != refresh || cp \"$(go env GOROOT)/lib/time/zoneinfo.zip\" zoneinfo.zip"

// zoneData is the time zone database, as Go ships it. It is embedded because time.LoadLocation reads $ZONEINFO and the
// machine's files first: the same file would then mean different windows on different machines.
//
//go:embed zoneinfo.zip
var zoneData []byte

// LoadZone gives the zone of an IANA name, Area/City or UTC, from the embedded data alone.
//
// It refuses what looks like a zone and means something else: "", "Local", abbreviations such as CET and EST (which have
// no or frozen rules), and Etc/* (whose signs are the wrong way round).
func LoadZone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if why := refusedZone(name); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	var data []byte
	near := ""
	for entry := range zoneEntries(zoneData) {
		if entry.name == name {
			data = entry.data
			break
		}
		if near == "" && strings.EqualFold(entry.name, name) {
			near = entry.name
		}
	}
	if data == nil {
		return nil, fmt.Errorf("%s", unknownZone(name, near))
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("decode zone %s: %w", name, err)
	}
	return zone, nil
}

// zoneEntry is one zone of the database.
type zoneEntry struct {
	name string
	data []byte
}

// The parts of a zip archive of stored files that zoneEntries reads: the sizes of its headers and where their fields are.
const (
	zipEndSize    = 22
	zipEndEntries = 10 // number of entries
	zipEndStart   = 16 // where the directory begins

	zipDirectorySize   = 46
	zipDirectoryLength = 24 // of the content
	zipDirectoryName   = 28 // lengths of the name, the extra field and the comment
	zipDirectoryHeader = 42 // where the entry's own header begins

	zipHeaderSize = 30
	zipHeaderName = 26 // lengths of the name and the extra field
)

// zoneEntries goes through the database. It reads the archive's directory in place: archive/zip would make 2,400 objects
// of it each time. TestZoneEntries holds it against archive/zip, so that a refreshed archive of another shape is noticed.
func zoneEntries(archive []byte) iter.Seq[zoneEntry] {
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(archive[at:])) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(archive[at:])) }
	return func(yield func(zoneEntry) bool) {
		last := len(archive) - zipEndSize
		at := u32(last + zipEndStart)
		for range u16(last + zipEndEntries) {
			name := at + zipDirectorySize
			nameEnd := name + u16(at+zipDirectoryName)
			header := u32(at + zipDirectoryHeader)
			data := header + zipHeaderSize + u16(header+zipHeaderName) + u16(header+zipHeaderName+2)
			entry := zoneEntry{name: string(archive[name:nameEnd]), data: archive[data : data+u32(at+zipDirectoryLength)]}
			if !yield(entry) {
				return
			}
			at = nameEnd + u16(at+zipDirectoryName+2) + u16(at+zipDirectoryName+4)
		}
	}
}

// refusedZone says why a name is no Area/City, or "". Names of directories and of traversal are not in the database.
func refusedZone(name string) string {
	switch {
	case name == "":
		return wordsNoZone
	case strings.HasPrefix(name, "Etc/"):
		return notAreaCity(name, "")
	case !strings.Contains(name, "/"):
		return notAreaCity(name, wordsAbbreviation)
	}
	return ""
}
