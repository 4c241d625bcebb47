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
// narrowly, and so are the codes that are tried at GitHub at once.
package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
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
	codes      = 8                // that are tried at GitHub at once
	answerIn   = 8 * time.Second  // how long GitHub may take for a code, or for what somebody may read
	maxTo      = 500              // bytes of where somebody wanted to go
	maxRepos   = 5000             // that are asked about at once
)

// ErrOver is the error of a session that GitHub ended.
var ErrOver = errors.New("the session is over")

// Site is GitHub, for one person. *person.Site is one.
type Site interface {
	Login(ctx context.Context) (string, error)
	Readable(ctx context.Context, repos []plan.Repo) ([]int64, error)
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
	trying chan struct{} // full while as many codes are tried as may be

	mu   sync.Mutex
	open map[string]*Person
}

// Person is somebody who is logged in.
type Person struct {
	Login  string
	site   Site
	begun  time.Time
	until  time.Time
	now    func() time.Time
	asking chan struct{} // full while GitHub is asked
	mu     sync.Mutex
	over   bool
	reads  map[string]said // by the name of a repository, in lower case
}

// said is what GitHub said of a repository: its number, if they may read it.
type said struct {
	id int64
	at time.Time
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
		trying: make(chan struct{}, codes),
		seal:   securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32)),
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
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerIn)
	defer cancel()
	select {
	case d.trying <- struct{}{}:
		defer func() { <-d.trying }()
	case <-ctx.Done():
		return errors.New("too many log in at once")
	}
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

// direct follows no redirect: what is sent holds the App's secret.
var direct = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// enter asks GitHub who has a code.
func (d *Door) enter(ctx context.Context, code, verifier string) (*Person, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, direct)
	token, err := d.client.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) { // whose text has what GitHub answered
			return nil, fmt.Errorf("GitHub does not take the code: %s", plan.Text(plan.Clean(refused.ErrorCode)))
		}
		return nil, errors.New("GitHub cannot be asked whose the code is")
	}
	now := d.Now()
	p := &Person{begun: now, until: now.Add(sessionFor), now: d.Now, asking: make(chan struct{}, 1), reads: map[string]said{}}
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

// Reads gives GitHub's numbers of those of some repositories that the person may read, as GitHub said within the last minute, and is never nil; [ErrOver]: GitHub does not know them
// any more. One whose number is another than GitHub has for its name is none of them.
func (p *Person) Reads(ctx context.Context, repos ...plan.Repo) (map[int64]bool, error) {
	repos = repos[:min(len(repos), maxRepos)]
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	select { // who comes meanwhile finds the answer
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	at := p.now()
	var unknown []plan.Repo
	p.mu.Lock()
	for _, r := range repos {
		if was, is := p.reads[key(r)]; !is || at.Sub(was.at).Abs() >= readsFor {
			unknown = append(unknown, r)
		}
	}
	over := p.over
	p.mu.Unlock()
	if over {
		return nil, ErrOver
	}
	var found []int64
	var err error
	if len(unknown) > 0 {
		found, err = p.site.Readable(ctx, unknown)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, person.ErrToken):
		p.over = true
		return nil, ErrOver
	case err != nil:
		return nil, err
	case len(found) != len(unknown):
		return nil, errors.New("GitHub does not say what the person may read")
	}
	maps.DeleteFunc(p.reads, func(_ string, was said) bool { return at.Sub(was.at).Abs() >= readsFor })
	for i, r := range unknown {
		p.reads[key(r)] = said{found[i], at}
	}
	sees := map[int64]bool{}
	for _, r := range repos {
		if id := p.reads[key(r)].id; id != 0 && (r.ID == id || r.ID == 0) {
			sees[id] = true
		}
	}
	return sees, nil
}

func key(r plan.Repo) string { return strings.ToLower(r.String()) }

// Comment writes a comment on a pull request in their name.
func (p *Person) Comment(ctx context.Context, owner, repo string, pull int, text string) error {
	_, err := p.site.Comment(ctx, owner, repo, pull, text)
	return err
}
