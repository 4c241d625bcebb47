package branches

import "testing"

// TestNamesContext: what names a longer context does not name ours.
func TestNamesContext(t *testing.T) {
	for reason, want := range map[string]bool{
		`Required status check "sluice/promote/rw/1" is expected.`: true, "sluice/promote/rw/1": true, "Sluice/Promote/RW/1.": true,
		`Required status check "sluice/promote/rw/10" is expected.`: false, "sluice/promote/rw/1.5 is": false, "": false,
		"sluice/promote/rw/10, sluice/promote/rw/1, others": true,
	} {
		if namesContext(reason, "sluice/promote/rw/1") != want {
			t.Errorf("%q: %v", reason, !want)
		}
	}
}
