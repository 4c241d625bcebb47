package forge

import (
	"fmt"
	"net/http"
	"testing"
)

// BenchmarkLook is a whole look at 100 open pull requests with 20 files each: query, answer, snapshot. Only the network is
// left out.
func BenchmarkLook(b *testing.B) {
	pulls := []obj{}
	for n := range 100 {
		pairs := []string{}
		for i := range 20 {
			pairs = append(pairs, fmt.Sprintf("clusters/cluster-%d/apps/apps-rw/app-%d.yaml", n, i), "MODIFIED")
		}
		p := withFiles(pullPart(n+1), pairs...)
		p["statusCheckRollup"] = rollup(false, statusPart("sluice/main", "PENDING", "Bot", "sluice"),
			runPart("build", "COMPLETED", "SUCCESS", 5, "00"))
		pulls = append(pulls, p)
	}
	answer := said(repoPart(pulls...))
	hub := &fake{t: b, say: func(r *http.Request, body string) answerOf {
		if r.URL.Path == "/graphql" {
			return answer
		}
		return answerOf{}
	}}
	f := hub.forge(nil)
	b.SetBytes(int64(len(answer.body)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := f.Observe(b.Context(), testRepo, Ask{})
		if err != nil || len(s.Pulls) != 100 || len(s.Pulls[7].Files) != 20 {
			b.Fatal(err)
		}
	}
}
