package service

import (
	"net"
	"slices"
	"testing"
)

// TestReachable: the page is warned of wherever others may reach it.
func TestReachable(t *testing.T) {
	for ip, want := range map[string]bool{"127.0.0.1": false, "127.3.2.1": false, "::1": false, "": true, "0.0.0.0": true, "::": true, "10.1.2.3": true, "fe80::1": true} {
		if reachable(&net.TCPAddr{IP: net.ParseIP(ip)}) != want {
			t.Errorf("%q: %v", ip, !want)
		}
	}
}

// TestPageHosts: the page answers under the host of public_url and its own address's.
func TestPageHosts(t *testing.T) {
	s := Settings{AdminListen: "sluice.internal:8081", PublicURL: "https://sluice.example.com:8443/page"}
	if got := s.pageHosts(); !slices.Equal(got, []string{"sluice.internal:8081", "sluice.example.com:8443"}) {
		t.Error(got)
	}
	if got := (Settings{AdminListen: ":8081"}).pageHosts(); !slices.Equal(got, []string{":8081", ""}) {
		t.Error(got)
	}
}
