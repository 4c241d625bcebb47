package forge

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
)

// BenchmarkLook is a look at 100 open pull requests with 20 files each of which nothing is new: query, answer, snapshot. Only the network is
// left out.
func BenchmarkLook(b *testing.B) {
	whole, thin := []obj{}, []obj{}
	for n := range 100 {
		pairs := []string{}
		for i := range 20 {
			pairs = append(pairs, fmt.Sprintf("clusters/cluster-%d/apps/apps-rw/app-%d.yaml", n, i), "MODIFIED")
		}
		p := withFiles(pullPart(n+1), pairs...)
		ours := statusPart("sluice/main", "PENDING", "Bot", "sluice")
		p["statusCheckRollup"] = rollup(false, ours, runPart("build", "COMPLETED", "SUCCESS", 5, "00"))
		whole = append(whole, p)
		t := maps.Clone(p)
		for _, list := range []string{"files", "latestOpinionatedReviews", "commits"} {
			delete(t, list)
		}
		t["statusCheckRollup"] = obj{"state": "PENDING", "commit": obj{"oid": sha(n + 1), "status": obj{"s0": ours}}}
		thin = append(thin, t)
	}
	answer := repoAnswer(repoPart(whole...))
	hub := &fake{t: b, say: func(r *http.Request, body string) answerOf {
		if r.URL.Path == "/graphql" {
			return answer
		}
		return answerOf{}
	}}
	f := hub.forge(nil)
	look := func() {
		s, err := f.Observe(b.Context(), testRepo, Ask{})
		if err != nil || len(s.Pulls) != 100 || len(s.Pulls[7].Files) != 20 || len(s.Pulls[7].Ours) != 1 {
			b.Fatal(err)
		}
	}
	look()
	answer = repoAnswer(repoPart(thin...))
	b.SetBytes(int64(len(answer.body)))
	b.ReportAllocs()
	for b.Loop() {
		look()
	}
}
