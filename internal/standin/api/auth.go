package api

import (
	"crypto/rand"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sluicegate/sluice/internal/standin"
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
	actor        standin.Actor
	app          bool  // our App itself, by JSON web token
	installation int64 // our App on one account; 0: another caller
	lent         bool  // our App in the name of a person
}

var (
	errNoCredentials  = standin.Refuse(http.StatusUnauthorized, msgAuthRequired)
	errBadCredentials = standin.Refuse(http.StatusUnauthorized, msgBadCredentials)
)

// who reads the credentials of a request. What git and curl send is basic: a token as the password, or a person's login as the name.
// Nobody has to prove who they are: the stand-in has no secrets to keep.
func (s *Server) who(r *http.Request) (caller, error) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	name, password, basic := r.BasicAuth()
	switch {
	case scheme == "":
		return caller{}, errNoCredentials
	case strings.HasPrefix(password, installationPrefix) || strings.HasPrefix(password, personPrefix):
		return s.byToken(password)
	case basic:
		return s.byToken(personPrefix + name)
	case strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token"):
		return s.byToken(strings.TrimSpace(value))
	}
	return caller{}, errBadCredentials
}

const (
	installationPrefix = "ghs_"
	personPrefix       = "ghp_"
	lentPrefix         = "ghu_" // of people who logged in with the App
)

func (s *Server) byToken(value string) (caller, error) {
	if login, ok := strings.CutPrefix(value, personPrefix); ok {
		return caller{actor: standin.Person(login)}, nil
	}
	if strings.Count(value, ".") == 2 {
		return s.byJWT(value)
	}
	s.mu.Lock()
	t, ok := s.tokens[value]
	login, lent := s.logins.tokens[value]
	s.mu.Unlock()
	i := s.Installation(t.installation)
	switch {
	case lent:
		return caller{actor: standin.Person(login), lent: true}, nil
	case !ok || !s.Now().Before(t.expires) || i == nil:
		return caller{}, errBadCredentials
	case !i.Suspended.IsZero():
		return caller{}, standin.Refuse(http.StatusForbidden, msgSuspended)
	}
	return caller{actor: s.Bot(), installation: i.ID}, nil
}

// byJWT verifies a JSON web token as GitHub documents it:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (s *Server) byJWT(value string) (caller, error) {
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(value, &claims, func(*jwt.Token) (any, error) { return s.opts.AppKey, nil })
	now := s.Now()
	switch {
	case err != nil:
		return caller{}, standin.Refuse(http.StatusUnauthorized, msgBadJWT)
	case claims.ExpiresAt == nil || !now.Before(claims.ExpiresAt.Time):
		return caller{}, standin.Refuse(http.StatusUnauthorized, msgJWTExpired)
	case claims.ExpiresAt.After(now.Add(jwtLife + jwtDrift)):
		return caller{}, standin.Refuse(http.StatusUnauthorized, msgJWTTooFar)
	case claims.IssuedAt == nil || claims.IssuedAt.After(now.Add(jwtDrift)):
		return caller{}, standin.Refuse(http.StatusUnauthorized, msgJWTIssued)
	case claims.Issuer != strconv.FormatInt(s.opts.AppID, 10):
		return caller{}, standin.Refuse(http.StatusUnauthorized, msgJWTIssuer)
	}
	return caller{actor: s.Bot(), app: true}, nil
}

// issue makes an installation token.
func (s *Server) issue(i *standin.Installation) (string, token) {
	t := token{installation: i.ID, expires: s.Now().Add(tokenLife)}
	value := installationPrefix + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.tokens, func(_ string, old token) bool { return !s.Now().Before(old.expires) })
	s.tokens[value] = t
	return value, t
}

// RevokeTokens ends all installation tokens at once.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// sees reports whether a caller can see a repository at all: what one cannot see does not exist, 404.
func (s *Server) sees(c caller, r *standin.Repo) bool {
	if c.lent && s.Installed(r.Owner()) == nil {
		return false
	}
	if c.installation == 0 {
		return !c.app && r.Permission(c.actor.Login) != standin.None // persons see what is public, and everything is until somebody is shut out
	}
	i := s.Installation(c.installation)
	return i != nil && strings.EqualFold(i.Owner, r.Owner())
}

// mayWrite refuses a person who may not write: 403. The App may do all that sluice asks for: its installation has every permission.
func mayWrite(c caller, r *standin.Repo) error {
	if c.installation != 0 {
		return nil
	}
	return r.MustWrite(c.actor)
}
