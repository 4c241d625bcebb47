// Package login lets people into the pages by GitHub's word: they log in at GitHub with the App, and each sees what GitHub lets them read.
//
// # Model
//
// Who logs in is sent to GitHub with a state and a challenge (RFC 7636), which their browser keeps for us in an encrypted cookie: nothing is remembered of who only
// begins. Who comes back with GitHub's code gets a session, of which the browser has the name, signed, and this process the rest: GitHub's token is kept in memory alone,
// is sent to GitHub alone, and is gone with the process. What GitHub lets somebody read is asked for each repository and counts for a minute.
//
// # How it fails
//
// Closed. What GitHub does not answer is not shown; a token that GitHub does not know any more ends its session. Sessions are bounded in number, those of one person more
// narrowly, and so are the codes that are tried at GitHub in a minute.
package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"

	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
)

const (
	beginFor   = 10 * time.Minute // how long somebody may take at GitHub
	sessionFor = 8 * time.Hour    // as long as GitHub's own tokens
	readsFor   = time.Minute      // what GitHub said of a repository
	sessions   = 2000             // at once
	ofOne      = 5                // of them of one person
	triesMost  = 60               // codes in a minute
	exchange   = 10 * time.Second // how long GitHub may take for one
	maxTo      = 500              // bytes of where somebody wanted to go
	maxRepos   = 5000             // that are asked about for one person
)

// ErrOver is the error of a session that GitHub ended.
var ErrOver = errors.New("the session is over")

// Site is GitHub, for one person. *person.Site is one.
type Site interface {
	Login(ctx context.Context) (string, error)
	Readable(ctx context.Context, repos []plan.Repo) (map[int64]bool, error)
	Comment(ctx context.Context, owner, repo string, pull int, text string) (at string, err error)
}

// Options is what it takes.
type Options struct {
	GitHub     string // where people log in, such as https://github.com
	Page       string // where people reach the pages: GitHub sends them back there
	ID, Secret string // of the App as an OAuth client
	Site       func(token string) (Site, error)
	Now        func() time.Time // nil: time.Now
}

// Door lets people in. Its methods may be called at the same time.
type Door struct {
	Options
	page   *url.URL
	client oauth2.Config
	seal   *securecookie.SecureCookie

	mu    sync.Mutex
	open  map[string]*Person
	since time.Time // of the minute in which tries are counted
	tries int
}

// Person is somebody who is logged in.
type Person struct {
	Login  string
	site   Site
	begun  time.Time
	until  time.Time
	over   bool
	now    func() time.Time
	mu     sync.Mutex // held while GitHub is asked
	reads  map[int64]bool
	readAt time.Time
}

// begun is what a browser keeps of who is at GitHub.
type begun struct {
	State, Verifier, To string
	Until               time.Time
}

// New makes a door; its keys are new ones.
func New(o Options) (*Door, error) {
	page, err := url.Parse(strings.TrimSuffix(o.Page, "/"))
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	github := strings.TrimSuffix(o.GitHub, "/")
	d := &Door{
		Options: o, page: page, open: map[string]*Person{},
		client: oauth2.Config{
			ClientID: o.ID, ClientSecret: o.Secret, RedirectURL: page.String() + "/login/callback",
			Endpoint: oauth2.Endpoint{AuthURL: github + "/login/oauth/authorize", TokenURL: github + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams},
		},
		seal: securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32)),
	}
	d.seal.MaxAge(int(sessionFor / time.Second))
	return d, nil
}

// The cookies. A browser takes those of this prefix from the host itself alone.
const hostOnly = "__Host-"

func (d *Door) cookie(name, value string, age time.Duration) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if d.page.Scheme == "https" {
		c.Name, c.Secure = hostOnly+name, true
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

func (d *Door) read(r *http.Request, name string, into any) error {
	c, err := r.Cookie(d.cookie(name, "", 0).Name)
	if err != nil {
		return err
	}
	return d.seal.Decode(name, c.Value, into)
}

const (
	atGitHub = "sluice-login"
	session  = "sluice"
)

// Begin sends somebody to GitHub, who wants to go on to a page of ours.
func (d *Door) Begin(w http.ResponseWriter, r *http.Request) {
	b := begun{State: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: r.URL.Query().Get("to"), Until: d.Now().Add(beginFor)}
	if !strings.HasPrefix(b.To, "/") || len(b.To) > maxTo {
		b.To = "/"
	}
	value, err := d.seal.Encode(atGitHub, b)
	if err != nil {
		http.Error(w, "cannot begin to log in", http.StatusInternalServerError)
		return
	}
	http.SetCookie(w, d.cookie(atGitHub, value, beginFor))
	http.Redirect(w, r, d.client.AuthCodeURL(b.State, oauth2.S256ChallengeOption(b.Verifier)), http.StatusSeeOther)
}

// Arrive lets in who comes back from GitHub. After an error nothing is answered yet.
func (d *Door) Arrive(w http.ResponseWriter, r *http.Request) error {
	var b begun
	if err := d.read(r, atGitHub, &b); err != nil {
		return fmt.Errorf("whoever came back had not begun here, or took too long: %w", err)
	}
	http.SetCookie(w, d.cookie(atGitHub, "", 0))
	q := r.URL.Query()
	switch {
	case !d.Now().Before(b.Until):
		return errors.New("whoever came back took too long")
	case b.State == "" || q.Get("state") != b.State:
		return errors.New("GitHub sent back another state")
	case q.Get("code") == "":
		return fmt.Errorf("GitHub let nobody in: %s", plan.Text(plan.Clean(q.Get("error"))))
	case !d.try():
		return errors.New("too many log in in this minute")
	}
	ctx, cancel := context.WithTimeout(r.Context(), exchange)
	defer cancel()
	p, err := d.enter(ctx, q.Get("code"), b.Verifier)
	if err != nil {
		return err
	}
	value, err := d.seal.Encode(session, d.keep(p))
	if err != nil {
		return err
	}
	http.SetCookie(w, d.cookie(session, value, p.until.Sub(p.begun)))
	w.Header().Set("Location", d.page.String()+b.To) // of ours, whatever it says
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// enter asks GitHub who has a code.
func (d *Door) enter(ctx context.Context, code, verifier string) (*Person, error) {
	token, err := d.client.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) { // whose text has what GitHub answered
			return nil, fmt.Errorf("GitHub does not take the code: %s", plan.Text(plan.Clean(refused.ErrorCode)))
		}
		return nil, errors.New("GitHub cannot be asked whose the code is")
	}
	now := d.Now()
	p := &Person{begun: now, until: now.Add(sessionFor), now: d.Now}
	if !token.Expiry.IsZero() && token.Expiry.Before(p.until) {
		p.until = token.Expiry
	}
	if p.site, err = d.Site(token.AccessToken); err != nil {
		return nil, err
	}
	if p.Login, err = p.site.Login(ctx); err == nil && p.Login == "" {
		err = errors.New("GitHub does not say who it is")
	}
	return p, err
}

// try counts a code.
func (d *Door) try() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.Now(); now.Sub(d.since).Abs() >= time.Minute {
		d.since, d.tries = now, 0
	}
	d.tries++
	return d.tries <= triesMost
}

// keep remembers a session, and gives its name. The oldest go where there are too many, those of the same person first.
func (d *Door) keep(p *Person) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, of := d.Now(), 0
	var first, theirs string
	for name, o := range d.open {
		switch {
		case !now.Before(o.until):
			delete(d.open, name)
			continue
		case first == "" || o.begun.Before(d.open[first].begun):
			first = name
		}
		if strings.EqualFold(o.Login, p.Login) {
			if of++; theirs == "" || o.begun.Before(d.open[theirs].begun) {
				theirs = name
			}
		}
	}
	if of >= ofOne {
		delete(d.open, theirs)
	} else if len(d.open) >= sessions {
		delete(d.open, first)
	}
	name := rand.Text()
	d.open[name] = p
	return name
}

// Person is who asks; nil: nobody who is logged in.
func (d *Door) Person(r *http.Request) *Person {
	var name string
	if d.read(r, session, &name) != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.open[name]
	if p == nil || !d.Now().Before(p.until) {
		delete(d.open, name)
		return nil
	}
	return p
}

// Leave ends a session.
func (d *Door) Leave(w http.ResponseWriter, r *http.Request) {
	var name string
	if d.read(r, session, &name) == nil {
		d.mu.Lock()
		delete(d.open, name)
		d.mu.Unlock()
	}
	http.SetCookie(w, d.cookie(session, "", 0))
}

// Reads gives which of some repositories the person may read, as GitHub said within the last minute; [ErrOver]: GitHub does not know them any more.
func (p *Person) Reads(ctx context.Context, repos []plan.Repo) (func(plan.Repo) bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.now()
	if p.over {
		return nil, ErrOver
	}
	if p.reads == nil || at.Sub(p.readAt).Abs() >= readsFor {
		found, err := p.site.Readable(ctx, repos[:min(len(repos), maxRepos)])
		if errors.Is(err, person.ErrToken) {
			p.over = true
			return nil, ErrOver
		}
		if err != nil {
			return nil, err
		}
		p.reads, p.readAt = found, at
	}
	reads := p.reads // it is replaced, never changed
	return func(r plan.Repo) bool { return r.ID != 0 && reads[r.ID] }, nil
}

// Comment writes a comment on a pull request in their name.
func (p *Person) Comment(ctx context.Context, owner, repo string, pull int, text string) error {
	_, err := p.site.Comment(ctx, owner, repo, pull, text)
	return err
}
