package window

import (
	"archive/zip"
	"bytes"
	_ "embed" // for zoneData
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
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

// zones reads the archive's directory, once in the life of a process: that makes 2,400 objects.
var zones = sync.OnceValue(func() *zip.Reader {
	archive, err := zip.NewReader(bytes.NewReader(zoneData), int64(len(zoneData)))
	if err != nil {
		return new(zip.Reader) // fail closed: no zone is known
	}
	return archive
})

// LoadZone gives the zone of an IANA name, Area/City or UTC, from the embedded data alone.
//
// It refuses what looks like a zone and means something else: "", "Local", abbreviations such as CET and EST (which have
// no or frozen rules), and Etc/* (whose signs are the wrong way round).
func LoadZone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if why := refusedZone(name); why != "" {
		return nil, errors.New(why)
	}
	data, err := fs.ReadFile(zones(), name)
	if err != nil {
		return nil, errors.New(unknownZone(name, nearZone(name)))
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("decode zone %s: %w", name, err)
	}
	return zone, nil
}

// nearZone is the zone that a name means but for case; "" if there is none.
func nearZone(name string) string {
	for _, f := range zones().File {
		if strings.EqualFold(f.Name, name) {
			return f.Name
		}
	}
	return ""
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
