package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
)

// People log in with the App as GitHub documents it, with a state and a challenge:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
// Nobody has to prove who they are: the page asks for a name.

// logins is who is about to log in, and who has.
type logins struct {
	client, secret, callback string // of the App; "": nobody can

	codes  map[string]begun  // by the code, which counts once
	tokens map[string]string // logins, by the token
}

type begun struct{ login, challenge, redirect string }

// LetLogIn gives the App a client id with its secret, by which people log in with it, and where they are sent back to.
func (s *Server) LetLogIn(client, secret, callback string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins.client, s.logins.secret, s.logins.callback = client, secret, callback
}

var askWho = template.Must(template.New("who").Parse(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Stand-in GitHub</title></head><body>
<main><h1>Stand-in GitHub</h1><form method="get">{{range $k, $v := .}}{{range $v}}<input type="hidden" name="{{$k}}" value="{{.}}">{{end}}{{end}}
<label>Who are you? <input name="login" required></label> <button>Authorize sluice</button></form></main></body></html>
`))

// authorize asks who it is, and sends them back with a code.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	client, callback := s.logins.client, s.logins.callback
	s.mu.Unlock()
	switch {
	case client == "" || q.Get("client_id") != client:
		http.NotFound(w, r)
		return
	case q.Get("redirect_uri") != callback:
		http.Error(w, "The redirect_uri is not associated with this application.", http.StatusBadRequest)
		return
	case q.Get("login") == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = askWho.Execute(w, q) // a reader who left does not read it
		return
	}
	code := rand.Text()
	s.mu.Lock()
	s.logins.codes[code] = begun{q.Get("login"), q.Get("code_challenge"), callback}
	s.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, callback+"?"+back.Encode(), http.StatusFound)
}

// exchangeCode gives a token for a code, once. Like GitHub it answers 200 whatever is wrong.
func (s *Server) exchangeCode(w http.ResponseWriter, r *http.Request) {
	out := object{"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."}
	code := r.FormValue("code")
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	s.mu.Lock()
	b, known := s.logins.codes[code]
	delete(s.logins.codes, code)
	switch {
	case s.logins.client == "" || r.FormValue("client_id") != s.logins.client || r.FormValue("client_secret") != s.logins.secret:
		out = object{"error": "incorrect_client_credentials"}
	case known && r.FormValue("redirect_uri") == b.redirect && base64.RawURLEncoding.EncodeToString(sum[:]) == b.challenge:
		token := lentPrefix + rand.Text()
		s.logins.tokens[token] = b.login
		out = object{"access_token": token, "token_type": "bearer", "scope": "", "expires_in": 28800}
	}
	s.mu.Unlock()
	answer{status: http.StatusOK, body: out}.write(w)
}

// RevokeLogins ends the tokens of all who logged in.
func (s *Server) RevokeLogins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.logins.tokens)
}
