package api_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sluicegate/sluice/internal/standin"
)

func TestJWT(t *testing.T) {
	w := newWorld(t)
	now := w.now.Now()
	at := func(d time.Duration) *jwt.NumericDate { return jwt.NewNumericDate(now.Add(d)) }
	rows := []struct {
		name   string
		claims jwt.RegisteredClaims
		want   int
	}{
		{"good", jwt.RegisteredClaims{Issuer: "4711", IssuedAt: at(-time.Minute), ExpiresAt: at(9 * time.Minute)}, 200},
		{"expired", jwt.RegisteredClaims{Issuer: "4711", IssuedAt: at(-time.Hour), ExpiresAt: at(-time.Second)}, 401},
		{"without end", jwt.RegisteredClaims{Issuer: "4711", IssuedAt: at(0)}, 401},
		{"too long", jwt.RegisteredClaims{Issuer: "4711", IssuedAt: at(0), ExpiresAt: at(time.Hour)}, 401},
		{"issued in the future", jwt.RegisteredClaims{Issuer: "4711", IssuedAt: at(5 * time.Minute), ExpiresAt: at(9 * time.Minute)}, 401},
		{"another App", jwt.RegisteredClaims{Issuer: "1", IssuedAt: at(0), ExpiresAt: at(time.Minute)}, 401},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { w.call(r.want, "GET", "/app", w.jwtWith(r.claims), nil, nil) })
	}
	other, err := rsa.GenerateKey(rand.Reader, keyBits)
	w.must(err)
	forged, err := jwt.NewWithClaims(jwt.SigningMethodRS256, rows[0].claims).SignedString(other)
	w.must(err)
	w.call(http.StatusUnauthorized, "GET", "/app", forged, nil, nil)
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, rows[0].claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
	w.must(err)
	w.call(http.StatusUnauthorized, "GET", "/app", none, nil, nil)
	w.call(http.StatusUnauthorized, "GET", "/app", w.token, nil, nil)
	w.call(http.StatusUnauthorized, "GET", "/app", "", nil, nil)
}

func TestTokens(t *testing.T) {
	w := newWorld(t)
	_, err := w.github.CreateRepo("other", "place", map[string]string{"x": "x"})
	w.must(err)
	const mine, theirs = "/repos/acme/fleet/pulls", "/repos/other/place/pulls"
	w.call(http.StatusOK, "GET", mine, w.token, nil, nil)
	w.call(http.StatusNotFound, "GET", theirs, w.token, nil, nil)
	w.call(http.StatusNotFound, "GET", mine, w.jwt(), nil, nil)
	w.call(http.StatusUnauthorized, "GET", mine, "ghs_guess", nil, nil)
	w.call(http.StatusUnauthorized, "GET", mine, "", nil, nil)
	if errs := w.query(`{repository(owner:"other",name:"place"){id}}`, nil); len(errs) != 1 || !strings.HasPrefix(errs[0], "NOT_FOUND: Could not resolve to a Repository") {
		t.Errorf("another installation's repository: %v", errs)
	}

	w.now.add(59 * time.Minute)
	w.call(http.StatusOK, "GET", mine, w.token, nil, nil)
	w.now.add(time.Minute)
	w.call(http.StatusUnauthorized, "GET", mine, w.token, nil, nil)

	w.token = w.installationToken()
	w.github.Suspend("acme")
	w.call(http.StatusForbidden, "GET", mine, w.token, nil, nil)
	w.github.Resume("acme")
	w.call(http.StatusOK, "GET", mine, w.token, nil, nil)
	w.github.RevokeTokens()
	w.call(http.StatusUnauthorized, "GET", mine, w.token, nil, nil)
	w.token = w.installationToken()
	w.github.Uninstall("acme")
	w.call(http.StatusUnauthorized, "GET", mine, w.token, nil, nil)
	w.call(http.StatusNotFound, "GET", "/repos/acme/fleet/installation", w.jwt(), nil, nil)
}

// An App has no installation but its own.
func TestPermissions(t *testing.T) {
	w := newWorld(t)
	w.call(http.StatusNotFound, "POST", "/app/installations/1/access_tokens", w.jwt(), nil, nil)
}

// What a person does with curl.
func TestPersons(t *testing.T) {
	w := newWorld(t)
	alice, bob := "ghp_alice", "ghp_bob"
	w.repo.SetPermission("alice", standin.Write)
	_, err := w.repo.Commit("by-hand", standin.Change{Write: map[string]string{"apps/x.yaml": "x"}})
	w.must(err)
	pull := map[string]string{"title": "By hand", "head": "by-hand", "base": "main"}
	w.call(http.StatusForbidden, "POST", "/repos/acme/fleet/pulls", bob, pull, nil)
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/pulls", alice, pull, nil)
	w.call(http.StatusUnprocessableEntity, "POST", "/repos/acme/fleet/pulls", alice, pull, nil) // there is one already
	const one = "/repos/acme/fleet/pulls/1"
	w.call(http.StatusForbidden, "PUT", one+"/merge", bob, nil, nil)
	w.call(http.StatusOK, "PUT", one+"/merge", alice, nil, nil)
	if p := w.pull(1); p.MergedBy.Login != "alice" || p.Author.Login != "alice" {
		t.Errorf("pull request: %+v", p)
	}
	w.call(http.StatusForbidden, "GET", "/installation/repositories", alice, nil, nil)
}
