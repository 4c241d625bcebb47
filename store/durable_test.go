package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// burstEnv makes the test binary a child that notes without end and prints each GUID once it is acknowledged.
const burstEnv = "SLUICE_TEST_BURST"

func TestMain(m *testing.M) {
	if path := os.Getenv(burstEnv); path != "" {
		if err := burst(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func burst(path string) error {
	s, err := store.Open(context.Background(), path)
	if err != nil {
		return err
	}
	var out sync.Mutex
	errs := make(chan error)
	for sender := range 20 {
		go func() {
			for i := 0; ; i++ {
				guid := fmt.Sprintf("%d-%d", sender, i)
				_, err := s.Note(context.Background(), store.Delivery{GUID: guid, Event: "push", At: noon,
					Repo: plan.Repo{Owner: "acme", Name: fmt.Sprint("r", sender), ID: int64(sender + 1), Installation: 70}})
				if err != nil {
					errs <- err
					return
				}
				var debt plan.SHA
				if sender == 0 {
					debt = plan.SHA(fmt.Sprint("sha", i))
					repo := plan.Repo{Owner: "acme", Name: "r0", ID: 1}
					if _, err := s.Owe(context.Background(), repo, noon, plan.Debt{SHA: debt, Context: "sluice/main", Ends: noon}); err != nil {
						errs <- err
						return
					}
				}
				out.Lock()
				fmt.Println(guid)
				if debt != "" {
					fmt.Println("debt", debt)
				}
				out.Unlock()
			}
		}()
	}
	return <-errs
}

// TestKillInABurst: everything that was acknowledged before kill -9 is there afterwards, and marked due.
func TestKillInABurst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	for round := range 3 {
		acked := killed(t, path, 400*(round+1))
		s := open(t, path)
		notes := map[string]int64{}
		for _, d := range repos(t, s.Reader) {
			notes[d.Repo.Name] = d.Notes
		}
		for _, guid := range acked {
			if strings.HasPrefix(guid, "debt ") {
				continue
			}
			if note(t, s, store.Delivery{GUID: guid, Event: "push", At: noon}) {
				t.Fatalf("round %d: %s was acknowledged and is lost", round, guid)
			}
			sender, _, _ := strings.Cut(guid, "-")
			if notes["r"+sender] == 0 {
				t.Fatalf("round %d: %s did not mark its repository due", round, guid)
			}
		}
		ok(t, s.Close())
		ok(t, os.Remove(path)) // the next child starts its count anew
	}
}

// TestRemovedAfterAKill: the log of a database that somebody removed must not come back in the new one.
func TestRemovedAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	killed(t, path, 200)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatal("the kill left no log: ", err)
	}
	ok(t, os.Remove(path))
	s := open(t, path)
	same(t, "repositories", len(repos(t, s.Reader)), 0)
	note(t, s, store.Delivery{GUID: "0-0", Event: "push", Repo: acme, At: noon})
}

// killed runs a burst until n notes were acknowledged, kills it, and gives all that it acknowledged.
func killed(t *testing.T, path string, n int) []string {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), burstEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	lines := bufio.NewScanner(out)
	var acked []string
	for len(acked) < n && lines.Scan() {
		acked = append(acked, lines.Text())
	}
	ok(t, child.Process.Kill())
	for lines.Scan() { // what was acknowledged before the signal came
		acked = append(acked, lines.Text())
	}
	if len(acked) < n {
		t.Fatalf("the child acknowledged %d notes of %d", len(acked), n)
	}
	_, err = io.Copy(io.Discard, out)
	ok(t, err)
	_ = child.Wait() // it was killed
	return acked
}

func TestManyNotesAtOnce(t *testing.T) {
	s := fresh(t)
	const senders, each = 40, 25
	var wg sync.WaitGroup
	news := make([]int, senders)
	for sender := range senders {
		wg.Go(func() {
			for i := range each {
				// Every GUID is sent by two senders at about the same time.
				isNew, err := s.Note(t.Context(), store.Delivery{GUID: fmt.Sprint(sender/2, "-", i), Event: "push", Repo: acme, At: noon})
				if err != nil {
					t.Error(err)
				}
				if isNew {
					news[sender]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range news {
		total += n
	}
	same(t, "fresh notes", total, senders/2*each)
	same(t, "noted", repos(t, s.Reader)[0].Notes, int64(senders/2*each))
}

func TestCloseInABurst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	s := open(t, path)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acked []string
	started := make(chan struct{}, 1000)
	for sender := range 20 {
		wg.Go(func() {
			for i := 0; ; i++ {
				guid := fmt.Sprint(sender, "-", i)
				_, err := s.Note(context.Background(), store.Delivery{GUID: guid, Event: "push", Repo: acme, At: noon})
				if errors.Is(err, store.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked = append(acked, guid)
				mu.Unlock()
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 100 {
		<-started
	}
	ok(t, s.Close())
	wg.Wait()
	s = open(t, path)
	for _, guid := range acked {
		if note(t, s, store.Delivery{GUID: guid, At: noon}) {
			t.Fatalf("%s was acknowledged and is lost", guid)
		}
	}
}

func TestReaderBesideTheService(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a dir?with#odd%20name.db")
	if _, err := store.OpenReader(t.Context(), path); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("no database: %v", err)
	}
	s := open(t, path)
	note(t, s, store.Delivery{GUID: "1", Event: "push", Repo: acme, At: noon})
	stands := map[int]plan.Seen{1: {Proposal: plan.Proposal{Head: "h", Base: "main"}}}
	_, err := s.SeePulls(t.Context(), acme, stands, noon)
	ok(t, err)

	read := func(when string) {
		t.Helper()
		r, err := store.OpenReader(t.Context(), path)
		ok(t, err)
		seen, err := r.Seen(t.Context(), acme, map[int]plan.Seen{1: stands[1]})
		ok(t, err)
		same(t, when, seen[1].Since, noon)
		ok(t, r.Close())
	}
	read("while it runs")
	note(t, s, store.Delivery{GUID: "2", Event: "push", Repo: acme, At: noon})
	ok(t, s.Close())
	read("while it does not")
	same(t, "files", base(t, filepath.Dir(path)), []string{filepath.Base(path), filepath.Base(path) + ".lock"})
}

func base(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
