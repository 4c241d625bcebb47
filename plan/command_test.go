package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrderOf: what the first line of a comment says to sluice. What is quoted, fenced, or said in the midst of something says nothing, nor does a release without a reason.
func TestOrderOf(t *testing.T) {
	release := func(sha SHA, branch Branch, reason string) *Order { return &Order{ToRelease, sha, branch, reason} }
	for body, want := range map[string]*Order{
		"/sluice release 0123456 the shop is down":                   release("0123456", "", "the shop is down"),
		"/sluice release 0123ABC now\r\n\r\nmore of it":              release("0123abc", "", "now"),
		"/sluice  release\t0123456   two   spaces ":                  release("0123456", "", "two spaces"),
		"/sluice release " + strings.Repeat("a", 64) + " now":        release(SHA(strings.Repeat("a", 64)), "", "now"),
		"/sluice release 0123456 --branch rw/cluster-1 now and then": release("0123456", "rw/cluster-1", "now and then"),
		"/sluice release 0123456 now --branch rw/a":                  release("0123456", "", "now --branch rw/a"),
		"/sluice release 0123456 a\u202eb":                           release("0123456", "", "a\uFFFDb"),
		"/sluice release 0123456 " + strings.Repeat("x", 300):        release("0123456", "", strings.Repeat("x", 199)+"…"),
		"/sluice undo":                                        {Verb: ToUndo},
		"/sluice undo\nand why":                               {Verb: ToUndo},
		"/sluice recheck":                                     {Verb: ToRecheck},
		"/sluice release 0123456":                             nil,
		"/sluice release 0123456 ":                            nil,
		"/sluice release 012345 six digits":                   nil,
		"/sluice release 012345g no digit":                    nil,
		"/sluice release " + strings.Repeat("a", 65) + " now": nil,
		"/sluice release 0123456 --branch":                    nil,
		"/sluice release 0123456 --branch rw/a":               nil,
		"/sluice release":                                     nil,
		"/sluice":                                             nil,
		"/sluice undo that":                                   nil,
		"/sluice approve":                                     nil,
		"/Sluice undo":                                        nil,
		" /sluice undo":                                       nil,
		"\n/sluice undo":                                      nil,
		"> /sluice undo":                                      nil,
		"```\n/sluice undo\n```":                              nil,
		"please /sluice undo":                                 nil,
		"/sluicex undo":                                       nil,
		"":                                                    nil,
	} {
		got, is := OrderOf(body)
		if is != (want != nil) || is && !cmp.Equal(got, *want) {
			t.Errorf("%q: %+v, %t", body, got, is)
		}
	}
}

// FuzzOrder: what was read is written as what is read alike, on one line that people can read.
func FuzzOrder(f *testing.F) {
	for _, seed := range []string{"/sluice release 0123456 now", "/sluice release 0123456 --branch rw/a now", "/sluice undo", "/sluice release 0123456 --branch --branch x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		o, is := OrderOf(body)
		if !is {
			return
		}
		if again, is := OrderOf(o.Line()); !is || again != o {
			t.Errorf("%q is %+v, which is written as %q, which is %+v", body, o, o.Line(), again)
		}
		if strings.ContainsAny(o.Line(), "\r\n\x00\u202e") {
			t.Errorf("%q", o.Line())
		}
	})
}
