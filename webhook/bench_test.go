package webhook_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/webhook"
)

const (
	senders = 50
	rate    = 500 // deliveries a second, of all senders together
)

// BenchmarkAnswer: from the instant at which a delivery is due to be sent until its answer was read, the note durable: 500 a
// second from 50 senders over loopback, 25 kB each. The load is open: a slow answer does not slow the next sending, its
// wait counts.
func BenchmarkAnswer(b *testing.B) {
	addr, notes := serve(b)
	bodies, headers := make([]string, senders), make([]http.Header, senders)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"action":"synchronize","number":%d,"repository":{"id":%d,"full_name":"acme/fleet-%d"},"installation":{"id":70},`+
			`"sender":{"login":"alice"},"filler":%q}`, i, i%10+1, i%10, strings.Repeat("lorem ipsum ", 2080))
		headers[i] = delivery("pull_request", "", bodies[i]).Header // signed beforehand: that is GitHub's work
	}
	took := make([]time.Duration, b.N)
	var failures atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	start := time.Now()
	for sender := range senders {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: 10 * time.Second}
			defer client.CloseIdleConnections()
			for i := sender; i < b.N; i += senders {
				due := start.Add(time.Duration(i) * time.Second / rate)
				time.Sleep(time.Until(due))
				if code := post(client, addr, fmt.Sprint(i), headers[sender], bodies[sender]); code != http.StatusAccepted {
					failures.Add(1)
				}
				took[i] = time.Since(due)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	report(b, took)
	b.ReportMetric(float64(failures.Load()), "failures")
	if got := notes(); got != int64(b.N) {
		b.Errorf("%d notes are kept of %d", got, b.N)
	}
}

// BenchmarkSync is the baseline of BenchmarkAnswer: a page appended to a file and synced at the same pace, which is the least
// that a durable note can cost on this disk.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only its syncs matter
	page := make([]byte, 4096)
	took := make([]time.Duration, b.N)
	start := time.Now()
	for i := range took {
		due := start.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(due)
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// serve runs the handler on a real socket with a real store. notes gives how many notes the store kept.
func serve(b *testing.B) (addr string, notes func() int64) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "sluice.db"))
	if err != nil {
		b.Fatal(err)
	}
	h := webhook.New(webhook.Options{Secret: []byte(secret), Store: s, Poke: func(webhook.Hint) {}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := webhook.NewServer(h, time.Minute)
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) }) // it ends with Close
	b.Cleanup(func() {
		if err := server.Close(); err != nil {
			b.Error(err)
		}
		wg.Wait()
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return "http://" + l.Addr().String(), func() (n int64) {
		due, err := s.Repos(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range due {
			n += d.Notes
		}
		return n
	}
}

func post(client *http.Client, addr, guid string, header http.Header, body string) int {
	req, err := http.NewRequest(http.MethodPost, addr+"/webhook", strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header = header.Clone()
	req.Header.Set("X-GitHub-Delivery", guid)
	res, err := client.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// BenchmarkDelivery: what the handler itself costs, without a network and a disk, with GitHub's own example of a pull request.
func BenchmarkDelivery(b *testing.B) {
	w := newWorld()
	body := pullRequest(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		req := delivery("pull_request", fmt.Sprint(i), body)
		b.StartTimer()
		w.send(req)
	}
}

// pullRequest is GitHub's longest example of one.
func pullRequest(t testing.TB) (longest string) {
	t.Helper()
	examples(t, func(event string, _ int, body []byte) {
		if event == "pull_request" && len(body) > len(longest) {
			longest = string(body)
		}
	})
	return longest
}
