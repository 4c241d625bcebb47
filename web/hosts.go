package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gin-gonic/gin"
)

// A page of somebody else's that a browser inside has open may point its own name at our address (DNS rebinding): to the browser we are
// then the same origin, and its scripts read what we answer. They cannot choose what the browser sends as Host, which is that name. So
// names that nobody gave us get no answer. Headers that a proxy sets beside it (X-Forwarded-Host) are not looked at: scripts can set those.

// hostname is the host of a Host header or an address in one spelling: no port, since anybody may forward one; no brackets, no
// zone, lower case, no dot at the end; an IP address as Go writes it.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return host
}

// ours reports whether a request asks for a name of ours: loopback, one of Options.Hosts, or the very address that the connection
// reached, which is how probes ask for a pod. An empty Host is nobody's. Names below localhost are not loopback's: some resolvers ask
// the DNS for them.
func (s *site) ours(r *http.Request) bool {
	name := hostname(r.Host)
	if a, err := netip.ParseAddr(name); err == nil {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if a.IsLoopback() || ok && hostname(local.String()) == name {
			return true
		}
	}
	return name == "localhost" || name != "" && s.hosts[name]
}

// refuseForeign refuses requests for names that are not ours.
func (s *site) refuseForeign(c *gin.Context) {
	if !s.ours(c.Request) {
		c.String(http.StatusMisdirectedRequest, saysForeign)
		c.Abort()
	}
}
