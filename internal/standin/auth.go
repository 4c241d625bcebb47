package standin

import (
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// How long credentials last:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
const (
	tokenLife = time.Hour
	jwtLife   = 10 * time.Minute
	jwtDrift  = time.Minute // GitHub is lenient by about this
)

// token is an installation's access token.
type token struct {
	installation int64
	expires      time.Time
}

// caller is who asks.
type caller struct {
	actor Actor
	app   bool   // our App itself, by JSON web token
	token *token // our App on one installation
	id    int64  // of the installation
}

// errNoCredentials is the error for a request without any.
var errNoCredentials = errors.New("no credentials")

// who reads the credentials of a request.
func (g *GitHub) who(r *http.Request) (caller, error) {
	header := r.Header.Get("Authorization")
	scheme, value, _ := strings.Cut(header, " ")
	switch strings.ToLower(scheme) {
	case "bearer", "token":
		return g.byToken(strings.TrimSpace(value))
	case "basic":
		return g.byPassword(r)
	case "":
		return caller{}, errNoCredentials
	}
	return caller{}, refuse(http.StatusUnauthorized, msgBadCredentials)
}

// byPassword reads what git and curl send: a token as the password, or a person's login as the name. Nobody has to
// prove who they are: the stand-in has no secrets to keep.
func (g *GitHub) byPassword(r *http.Request) (caller, error) {
	name, password, ok := r.BasicAuth()
	if !ok {
		return caller{}, refuse(http.StatusUnauthorized, msgBadCredentials)
	}
	if strings.HasPrefix(password, installationPrefix) || strings.HasPrefix(password, personPrefix) {
		return g.byToken(password)
	}
	return g.byToken(personPrefix + name)
}

const (
	installationPrefix = "ghs_"
	personPrefix       = "person:"
)

func (g *GitHub) byToken(value string) (caller, error) {
	if login, ok := strings.CutPrefix(value, personPrefix); ok && validLogin.MatchString(login) {
		return caller{actor: person(login)}, nil
	}
	if strings.Count(value, ".") == 2 {
		return g.byJWT(value)
	}
	g.mu.Lock()
	t, ok := g.tokens[value]
	g.mu.Unlock()
	if !ok || !g.now().Before(t.expires) {
		return caller{}, refuse(http.StatusUnauthorized, msgBadCredentials)
	}
	i := g.installation(t.installation)
	if i == nil {
		return caller{}, refuse(http.StatusUnauthorized, msgBadCredentials)
	}
	if !i.suspended.IsZero() {
		return caller{}, refuse(http.StatusForbidden, msgSuspended)
	}
	return caller{actor: g.us(), token: &t, id: t.installation}, nil
}

// byJWT verifies a JSON web token as GitHub documents it:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (g *GitHub) byJWT(value string) (caller, error) {
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(value, &claims, func(*jwt.Token) (any, error) { return g.opts.AppKey, nil })
	now := g.now()
	switch {
	case err != nil:
		return caller{}, refuse(http.StatusUnauthorized, msgBadJWT)
	case claims.ExpiresAt == nil || !now.Before(claims.ExpiresAt.Time):
		return caller{}, refuse(http.StatusUnauthorized, msgJWTExpired)
	case claims.ExpiresAt.After(now.Add(jwtLife + jwtDrift)):
		return caller{}, refuse(http.StatusUnauthorized, msgJWTTooFar)
	case claims.IssuedAt == nil || claims.IssuedAt.After(now.Add(jwtDrift)):
		return caller{}, refuse(http.StatusUnauthorized, msgJWTIssued)
	case claims.Issuer != strconv.FormatInt(g.opts.AppID, 10):
		return caller{}, refuse(http.StatusUnauthorized, msgJWTIssuer)
	}
	return caller{actor: g.us(), app: true}, nil
}

// issue makes an installation token.
func (g *GitHub) issue(i *installation) (string, token) {
	t := token{installation: i.id, expires: g.now().Add(tokenLife)}
	value := installationPrefix + rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.tokens, func(_ string, old token) bool { return !g.now().Before(old.expires) })
	g.tokens[value] = t
	return value, t
}

// RevokeTokens ends all installation tokens at once.
func (g *GitHub) RevokeTokens() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.tokens)
}

// sees reports whether a caller can see a repository at all: what one cannot see does not exist, 404.
func (g *GitHub) sees(c caller, r *Repo) bool {
	if c.token == nil {
		return !c.app // persons see what is public, and everything is
	}
	i := g.installation(c.id)
	return i != nil && strings.EqualFold(i.owner, r.owner)
}

// mayWrite refuses a person who may not write: 403. The App may do all that sluice asks for: its installation has every permission.
func (r *Repo) mayWrite(c caller) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.token == nil && !r.canWrite(c.actor) {
		return refuse(http.StatusForbidden, msgMustHave, Write)
	}
	return nil
}
