package e2e

import (
	"debug/buildinfo"
	"os"
	"slices"
	"strings"
	"testing"
)

// Whatever is linked into the binary has its terms in THIRD_PARTY_NOTICES, and the image has that file beside the binary.
func TestNotices(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	notices, err := os.ReadFile("../../THIRD_PARTY_NOTICES")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(notices), "\n")
	if len(info.Deps) == 0 || !slices.Contains(lines, "Go") {
		t.Error("neither Go nor modules")
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !slices.Contains(lines, m.Path+" "+m.Version) {
			t.Errorf("no notice of %s %s: run make generate", m.Path, m.Version)
		}
	}
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, _ := strings.Cut(string(image), "\nFROM scratch\n")
	if !strings.Contains(final, "/src/THIRD_PARTY_NOTICES") || !strings.Contains(final, "/src/LICENSE") {
		t.Error("the image does not hold the notices")
	}
}
