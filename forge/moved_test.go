package forge

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// TestPathsOfAListThatIsOlderThanItsBase: GitHub goes on listing what a pull request changed beside an older base, although its first commit is the base's tip by now. So its list says
// nothing of what stands there.
func TestPathsOfAListThatIsOlderThanItsBase(t *testing.T) {
	// #1: commits tipSHA (renames x -> y) and 1; the base was fast-forwarded to tipSHA, and GitHub still lists as of before.
	p1 := withFiles(pullPart(1), "x", "DELETED", "other", "MODIFIED")
	n1 := commitsPart(tipSHA, 900)["nodes"].([]any)[0]
	n2 := commitsPart(1, tipSHA)["nodes"].([]any)[0]
	p1["commits"] = obj{"totalCount": 2, "nodes": []any{n1, n2}}
	p2 := withFiles(pullPart(2), "x", "MODIFIED")
	p2["commits"] = commitsPart(2, 900)
	for name, pulls := range map[string][]obj{"alone": {p2}, "beside": {p1, p2}} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if operation(body) == "objects" {
					answer := obj{}
					for name, v := range variables(body) {
						switch {
						case v == look.TreeOf(plan.SHA(sha(tipSHA))):
							answer[name] = obj{"__typename": "Tree"}
						case strings.HasSuffix(v.(string), ":other"):
							answer[name] = obj{"__typename": "Blob"}
						case name[0] == 'o':
							answer[name] = nil
						}
					}
					return repoAnswer(answer)
				}
				return sayRepo(repoPart(pulls...))(r, body)
			}
			f := hub.forge(nil)
			s := observe(t, f, Ask{})
			if p := s.Pulls[len(s.Pulls)-1]; len(p.Moved) != 1 {
				t.Errorf("#%d: x counts as standing: %q", p.Number, p.Moved)
			}
		})
	}
}

// TestPathsOfAComparisonWithoutFiles: an answer that lacks its list of files says nothing of what a push changed.
func TestPathsOfAComparisonWithoutFiles(t *testing.T) {
	for name, files := range map[string]string{"missing": "", "null": `,"files":null`} {
		t.Run(name, func(t *testing.T) {
			tip := tipSHA
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if strings.Contains(r.URL.Path, "/compare/") {
					return answerOf{code: 200, body: `{"status":"ahead","ahead_by":1,"total_commits":1,"commits":[{"sha":"` + sha(tipSHA+1) + `","parents":[{"sha":"` + sha(tipSHA) + `"}]}]` + files + `}`}
				}
				if operation(body) == "objects" {
					answer := obj{}
					for name, v := range variables(body) {
						switch {
						case v == look.TreeOf(plan.SHA(sha(tip))):
							answer[name] = obj{"__typename": "Tree"}
						case v == sha(tipSHA)+":x":
							answer[name] = obj{"__typename": "Blob"}
						case name[0] == 'o':
							answer[name] = nil
						}
					}
					return repoAnswer(answer)
				}
				p := withFiles(pullPart(2), "x", "MODIFIED")
				p["commits"] = commitsPart(2, 900)
				p["baseRef"] = obj{"target": obj{"oid": sha(tip)}}
				repo := repoPart(p)
				base := basePart("main", "version: 1\n")
				base["target"].(obj)["oid"] = sha(tip)
				repo["defaultBranchRef"] = base
				return sayRepo(repo)(r, body)
			}
			f := hub.forge(nil)
			observe(t, f, Ask{})
			tip++
			s := observe(t, f, Ask{})
			if len(s.Pulls[0].Moved) != 1 {
				t.Error("x counts as standing")
			}
		})
	}
}
