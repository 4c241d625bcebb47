package gitremote

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// headed is commits with what may stand before a message.
func headed() []string {
	const tree, parent = "tree 1111111111111111111111111111111111111111\n", "parent 2222222222222222222222222222222222222222\n"
	const author, committer = "author a <a@b> 1700000000 +0000\n", "committer c <c@d> 1700000001 +0100\n"
	const signature = "gpgsig -----BEGIN\n \n two\n"
	return []string{
		"", "\n", "x", tree, tree + "\n", tree + "\nm", parent + tree, tree + parent + parent + author + committer + "\nm\n\nn",
		tree + author + committer + signature + "\nm", tree + parent + author + committer + "mergetag a\n b\n" + signature + "encoding x\nextra\n y\n\nm\n author",
		tree + signature + parent + author + committer + "\nm", tree + parent + author + signature + committer + "\nm", tree + parent + signature + parent + "\n\nm",
		tree + parent + author + committer + parent + tree + signature + author + "\nm", tree + "authors a\n" + author + committer + "\n", tree + author + committer + "parent\n\nm",
		tree + parent + committer + author + "\nm", tree + parent + author + committer + "gpgsig", tree + parent + author + committer + " x\n", "tree\n\nm", tree + "parent x\n\nm", tree + author + committer + " \n\nm",
	}
}

// TestHeadersOfACommit: what is read of a commit is what go-git reads of it, whatever else stands there.
func TestHeadersOfACommit(t *testing.T) {
	for _, text := range headed() {
		sameCommit(t, text)
	}
}

// FuzzHeadersOfACommit: likewise, of any text.
func FuzzHeadersOfACommit(f *testing.F) {
	for _, text := range headed() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { sameCommit(t, text) })
}

func sameCommit(t *testing.T, text string) {
	t.Helper()
	want := &object.Commit{}
	bad := want.Decode(memory(plumbing.CommitObject, []byte(text)))
	got, err := decodeCommit([]byte(text))
	if (err != nil) != (bad != nil) {
		t.Fatalf("%q: %v, want %v", text, err, bad)
	}
	read := func(c *object.Commit) []any {
		return []any{c.Hash, c.TreeHash, c.ParentHashes, c.Committer, c.Message}
	}
	if err == nil && !reflect.DeepEqual(read(got), read(want)) {
		t.Errorf("%q: %v, want %v", text, read(got), read(want))
	}
}

// TestLongSignatureOfACommit: what reading a commit takes grows with it, and not with its square.
func TestLongSignatureOfACommit(t *testing.T) {
	for _, header := range []string{"gpgsig", "mergetag", "extra", "gpgsig x\ngpgsig"} {
		text := []byte("tree 1111111111111111111111111111111111111111\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n" + header + " x\n" + strings.Repeat(" \n", 20_000) + "\nm\n")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := decodeCommit(text); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64*uint64(len(text)) {
			t.Errorf("%s: %d bytes for a commit of %d", header, took, len(text))
		}
	}
}
