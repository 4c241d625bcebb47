package forge

import (
	"net/http"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// longLineHub has a line of two commits, whose newest has more reports than a page shows.
func longLineHub(t *testing.T) *branchesHub {
	source := sourcePart("required", []string{"a"}, linkPart(tipSHA, 2, "x"), linkPart(2, -1, "y"))
	checked := judgedPart(true, nil, statusPart("ci", "SUCCESS", "User", "ci"))
	checked["associatedPullRequests"].(obj)["totalCount"] = 0
	source["target"].(obj)["recent"] = connectionPart(false, checked)
	return newBranchesHub(t, source, map[string]obj{"a": tipPart("a", 2)})
}

// What was read of a long list counts although a later page of it fails: a red check, and a green status of ours that has to be taken back.
func TestPagesBeforeAFailureCount(t *testing.T) {
	h := longLineHub(t)
	pages := 0
	h.say = func(r *http.Request, body string) answerOf {
		if operation(body) == "contexts" {
			if pages++; pages > 1 {
				return answerOf{code: 500, body: "{}"}
			}
			h.more["more"] = obj{"statusCheckRollup": obj{"contexts": connectionPart(true,
				statusPart("late", "FAILURE", "User", "ci"), statusPart("sluice/promote/a", "SUCCESS", "Bot", "sluice"))}}
		}
		return h.answer(r, body)
	}
	c := observe(t, h.forge(nil), Ask{}).Sources["main"].Line[0]
	if len(c.Checks) != 2 || c.Checks[1].State != plan.CheckRed || len(c.Ours) != 1 || c.ChecksAll {
		t.Errorf("%d pages: %+v", pages, c)
	}
}

// Reviews that GitHub does not show hide no check, and no status of ours: what stands already is not written once more.
func TestWithoutReviewsChecksAreReadOn(t *testing.T) {
	p := pullPart(1)
	p["latestOpinionatedReviews"] = nil
	p["statusCheckRollup"] = rollup(true, statusPart("ci/a", "SUCCESS", "Bot", "ci"))
	late := rollup(false, statusPart("ci/late", "FAILURE", "Bot", "ci"), statusPart("sluice/main", "SUCCESS", "Bot", "sluice"))
	hub := &fake{t: t}
	hub.say = func(r *http.Request, body string) answerOf {
		if operation(body) == "checks" {
			return repoAnswer(obj{"pullRequest": obj{"headRefOid": sha(1), "statusCheckRollup": late}})
		}
		return sayRepo(repoPart(p))(r, body)
	}
	if p := observe(t, hub.forge(nil), Ask{}).Pulls[0]; len(p.Checks) != 2 || len(p.Ours) != 1 {
		t.Errorf("%+v", p)
	}
}
