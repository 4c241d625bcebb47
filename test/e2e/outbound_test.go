package e2e

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inside puts a company between the service and its GitHub: a server under a name that only the company's proxy can reach, which wants a password,
// and with a certificate of a CA that nobody else knows. It gives the server's URL, the proxy's, and the CA's file.
func (w *world) inside() (github, proxy, ca string) {
	w.t.Helper()
	to, err := url.Parse(w.url)
	w.must(err)
	server := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a service that does not trust it hangs up
	server.StartTLS()
	w.t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	w.must(err)
	host := "example.com:" + port // a name of that certificate
	gate := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Proxy-Authorization") == "":
			answer.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method != http.MethodConnect || r.Host != host:
			answer.WriteHeader(http.StatusForbidden)
		default:
			tunnel(w.t, answer, server.Listener.Addr().String())
		}
	}))
	w.t.Cleanup(gate.Close)
	ca = filepath.Join(w.dir, "ca.crt")
	w.writeFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	w.github.SetURL("https://" + host)
	return "https://" + host, gate.URL, ca
}

// tunnel carries bytes between whoever asked a proxy for it and an address, until one of them ends.
func tunnel(t *testing.T, answer http.ResponseWriter, address string) {
	there, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	here, _, err := http.NewResponseController(answer).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n") // who went meanwhile reads nothing
	go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
	_, _ = io.Copy(here, there)
	_ = here.Close()
}

// TestPrivateCAAndProxy: what docs/install.md says of them holds for the service, for plan and for promote; what is missing is named, and no
// password is.
func TestPrivateCAAndProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	github, proxy, ca := w.inside()
	host := strings.TrimPrefix(proxy, "http://")
	at, trust, through := "SLUICE_GITHUB_URL="+github+"/api/v3", "SSL_CERT_FILE="+ca, "HTTPS_PROXY=http://joe:hunter2@"+host
	promote := []string{"promote", "--dry-run", "--ignore-checks", "--remote", github + "/acme/fleet.git"}
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"no CA":       {[]string{at, through}, "certificate signed by unknown authority"},
		"no proxy":    {[]string{at, trust, "HTTPS_PROXY=http://127.0.0.1:1"}, "proxyconnect tcp: dial tcp 127.0.0.1:1"},
		"no password": {[]string{at, trust, "HTTPS_PROXY=" + proxy}, "Proxy Authentication Required"},
		"all":         {[]string{at, trust, through}, ""},
	} {
		for _, args := range [][]string{{"plan", "acme/fleet"}, promote} {
			cmd := exec.CommandContext(t.Context(), binary, args...)
			cmd.Env, cmd.Dir = append(w.env(c.env...), "SLUICE_GIT_TOKEN=ghp_alice"), w.dir
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code == 2 != (c.says != "") || !strings.Contains(string(out), c.says) || strings.Contains(string(out), "hunter2") {
				t.Errorf("%s: %s: exit code %d:\n%s", name, args[0], code, out)
			}
		}
	}
	p := w.serve(at, trust, through)
	w.merged(w.open("live", "apps/a-rt/x"))
	if text := p.text(); !strings.Contains(text, `"proxy":"`+host+`"`) || strings.Contains(text, "hunter2") {
		t.Errorf("the log:\n%s", text)
	}
}
