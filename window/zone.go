package window

import (
	"archive/zip"
	"bytes"
	_ "embed" // for zoneData
	"fmt"
	"io"
	"strings"
	"time"
)

//go:generate sh -c "cp \"$(go env GOROOT)/lib/time/zoneinfo.zip\" zoneinfo.zip"

// zoneData is the time zone database, as Go ships it. It is embedded because time.LoadLocation reads $ZONEINFO and the
// machine's files first: the same file would then mean different windows on different machines.
//
//go:embed zoneinfo.zip
var zoneData []byte

// maxZoneSize bounds one zone's data. The largest has about 2 kB.
const maxZoneSize = 64 << 10

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
	files, err := zip.NewReader(bytes.NewReader(zoneData), int64(len(zoneData)))
	if err != nil {
		return nil, fmt.Errorf("read the embedded zones: %w", err)
	}
	near := ""
	for _, f := range files.File {
		if f.Name == name {
			return readZone(f)
		}
		if near == "" && strings.EqualFold(f.Name, name) {
			near = f.Name
		}
	}
	return nil, fmt.Errorf("%s", unknownZone(name, near))
}

// readZone decodes one zone of the database.
func readZone(f *zip.File) (*time.Location, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open zone %s: %w", f.Name, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxZoneSize))
	if err = firstError(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read zone %s: %w", f.Name, err)
	}
	zone, err := time.LoadLocationFromTZData(f.Name, data)
	if err != nil {
		return nil, fmt.Errorf("decode zone %s: %w", f.Name, err)
	}
	return zone, nil
}

// firstError is the first error that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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
