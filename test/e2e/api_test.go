package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestAPIAsTheDocsSay: each call of docs/api.md gives what stands below it: the same keys, whatever the values.
func TestAPIAsTheDocsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve(noResync, "SLUICE_PUBLIC_URL=http://sluice.example.com") // so that without a token nobody reads
	live := w.open("live", "apps/a-rt/x")
	w.merged(live)
	held := w.open("held", "apps/a-rw/x")
	w.hasStatus(held, "pending: held by w")
	w.repo.SetPermission("stranger", standin.None)
	page := strings.TrimSuffix(p.page, "/")
	code := func(header string) string {
		out, err := exec.Command("curl", "-s", "-w", "%{http_code}", "-H", header, page+"/api/v1/repos/acme/fleet").Output()
		w.must(err)
		return string(out)
	}
	w.eventually("the page has it", func() bool { return strings.Contains(code("Authorization: Bearer ghp_alice"), `"held"`) })

	docs, err := os.ReadFile("../../docs/api.md")
	w.must(err)
	calls := regexp.MustCompile(`(?m)^\$ (curl .*)\n((?:[^$\x60].*\n)+)`).FindAllSubmatch(docs, -1)
	if len(calls) < 10 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		call := strings.NewReplacer("http://127.0.0.1:8081", page, "/pulls/1", fmt.Sprintf("/pulls/%d", held)).Replace(string(c[1]))
		cmd := exec.Command("bash", "-c", call)
		cmd.Env = append(os.Environ(), "GH_TOKEN=ghp_alice")
		out, err := cmd.Output()
		var got, want any
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Errorf("%s: %v\n%s", call, err, out)
			continue
		}
		w.must(json.Unmarshal(c[2], &want))
		if lacks := lacking("", want, got); lacks != "" && !strings.Contains(call, "openapi.json") {
			t.Errorf("%s: %s is not as the docs have it:\n%s", call, lacks, out)
		}
	}
	for header, want := range map[string]string{
		"Authorization: Bearer ghp_alice": "200", "Authorization: Bearer ghp_stranger": "404", "Authorization: Bearer hunter2": "401", "X-Token: none": "401",
		"Host: rebound.example.com": "421",
	} {
		if got := code(header); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
	for _, c := range []struct {
		by   string
		args []string
		code int
		says string
	}{
		{"alice", []string{"plan", "acme/fleet"}, 1, fmt.Sprintf("#%-5d held     held by w", held)},
		{"alice", []string{"windows", "acme/fleet", "w"}, 0, "w: closed"},
		{"alice", []string{"windows", "acme/fleet", "v"}, 2, `has no window "v"`},
		{"alice", []string{"history", "acme/fleet", "--since", "24h"}, 0, fmt.Sprintf("sluice merge #%d main", live)},
		{"alice", []string{"history", "acme/fleet", "--pull", fmt.Sprint(held), "--json"}, 0, `"acts": [`},
		{"stranger", []string{"plan", "acme/fleet"}, 2, "answered 404 Not Found: not found, or this token may not see it"},
	} {
		if says, code := w.by(c.by, append(c.args, "--server", page)...); code != c.code || !strings.Contains(says, c.says) {
			t.Errorf("%s: %q: exit %d, want %d and %q:\n%s", c.by, c.args, code, c.code, c.says, says)
		}
	}
	w.editedAtOnce(page)
	// Nothing that the service wrote has a token in it.
	p.stop(syscall.SIGTERM)
	files, err := exec.Command("grep", "-rlaE", "ghp_(alice|stranger)|hunter2", w.dir).CombinedOutput()
	if text := p.text(); len(files) > 0 || strings.Contains(text, "ghp_") || strings.Contains(text, "hunter2") {
		t.Errorf("a token was written: %s %v\n%s", files, err, text)
	}
}

// editedAtOnce has several edit the file at once: each that is told that it was written stands there, and each other is told that it was not.
func (w *world) editedAtOnce(page string) {
	w.t.Helper()
	put := func(n int) string {
		cmd := exec.Command("curl", "-s", "-w", " %{http_code}", "-X", "PUT", "-H", "Authorization: Bearer ghp_alice",
			"-d", `{"from": "2031-12-19T00:00", "until": "2032-01-04T08:00", "commit": true}`, fmt.Sprintf("%s/api/v1/repos/acme/fleet/freezes/f%d", page, n))
		out, err := cmd.Output()
		if err != nil {
			w.t.Error(err)
		}
		return string(out)
	}
	if says := put(9); !strings.HasSuffix(says, " 403") || strings.Contains(w.file(), "f9") {
		w.t.Errorf("past the rules of the branch: %s", says)
	}
	w.repo.Unprotect("main")
	codes := make([]string, 6)
	var all sync.WaitGroup
	for n := range codes {
		all.Go(func() {
			says := put(n)
			codes[n] = says[strings.LastIndexByte(says, ' ')+1:]
		})
	}
	all.Wait()
	file, written := w.file(), 0
	for n, code := range codes {
		if code != "200" && code != "412" || strings.Contains(file, fmt.Sprintf("- name: f%d\n", n)) != (code == "200") {
			w.t.Errorf("f%d was answered %s:\n%s", n, code, file)
		}
		if code == "200" {
			written++
		}
	}
	if written == 0 {
		w.t.Error("nobody could write")
	}
}

// file is the rules file at the default branch's tip.
func (w *world) file() string {
	w.t.Helper()
	files, err := w.repo.Files(w.repo.Tip("main"))
	w.must(err)
	return files[".github/sluice.yaml"]
}

// lacking names where two values differ in their keys; of lists the first elements are compared.
func lacking(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		has, _ := got.(map[string]any)
		if a, b := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(has)); !slices.Equal(a, b) {
			return fmt.Sprintf("%s: %v, want %v", at, b, a)
		}
		for k := range want {
			if lacks := lacking(at+"."+k, want[k], has[k]); lacks != "" {
				return lacks
			}
		}
	case []any:
		has, _ := got.([]any)
		if len(want) > 0 && len(has) > 0 {
			return lacking(at+"[]", want[0], has[0])
		}
	}
	return ""
}
