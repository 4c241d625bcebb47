package api

import (
	"crypto/sha256"
	"errors"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/person"
)

// Bounds of what one minute takes.
const (
	callsMost    = 120 // of one token, or without one
	unknownMost  = 10  // tokens from one address of which it is not known that GitHub knows them
	unknownWhole = 60  // of all addresses
	countFor     = time.Minute
	answerFor    = time.Minute // what GitHub said of a token and a repository
	knownFor     = time.Hour   // that it knows a token
)

// tokenForm is what GitHub's tokens look like. What looks otherwise is a password for something else.
var tokenForm = regexp.MustCompile(`^(?:gh[pousr]_|github_pat_)[A-Za-z0-9_-]{1,300}$`)

type tokenHash [sha256.Size]byte

// door lets callers in.
type door struct {
	site func(token string) (Site, error)
	open bool
	now  func() time.Time

	mu      sync.Mutex
	since   time.Time         // when the minute began that is counted
	calls   map[tokenHash]int // in it, by token
	unknown map[string]int    // in it, by address
	tried   int               // in it, of all addresses
	known   map[tokenHash]time.Time
	answers map[question]standing
}

type question struct {
	token       tokenHash
	owner, repo string // in lower case
}

// standing is what GitHub said at an instant.
type standing struct {
	person.Standing
	at time.Time
}

func newDoor(o Options) *door {
	return &door{site: o.Site, open: o.Open, now: o.Now, known: map[tokenHash]time.Time{}, answers: map[question]standing{}}
}

// anybody is the repository's number where no token was asked for.
const anybody = 0

// same reports whether a repository is the one that a caller was let in to. Names pass on to others.
func (*door) same(asked, found int64) bool { return asked == anybody || asked == found }

// reader lets in who may read a repository, and gives the repository's number at GitHub.
func (d *door) reader(r *http.Request, owner, repo string) (int64, error) {
	token, err := bearer(r)
	if err != nil {
		return 0, err
	}
	if token == "" {
		if !d.open {
			return 0, errNoToken
		}
		return anybody, d.count(tokenHash{})
	}
	v, err := d.standing(r, token, owner, repo)
	if err == nil && (!v.Reads || v.ID == anybody) {
		err = errNone
	}
	return v.ID, err
}

// bearer is the token of a request; "" if there is none.
func bearer(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "token") || !tokenForm.MatchString(token) {
		return "", problem{code: http.StatusUnauthorized, says: "this is not a GitHub token"}
	}
	return token, nil
}

// standing is what the owner of a token may do in a repository.
func (d *door) standing(r *http.Request, token, owner, repo string) (person.Standing, error) {
	hash := sha256.Sum256([]byte(token))
	q := question{hash, strings.ToLower(owner), strings.ToLower(repo)}
	if err := d.try(hash, address(r)); err != nil { // before anything is kept of it
		return person.Standing{}, err
	}
	if err := d.count(hash); err != nil {
		return person.Standing{}, err
	}
	d.mu.Lock()
	kept, asked := d.answers[q]
	d.mu.Unlock()
	if asked && d.now().Before(kept.at.Add(answerFor)) {
		return kept.Standing, nil
	}
	at := d.now()
	var v person.Standing
	site, err := d.site(token)
	if err == nil {
		v, err = site.May(r.Context(), owner, repo)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case errors.Is(err, person.ErrToken):
		delete(d.known, hash)
		return v, problem{code: http.StatusUnauthorized, says: person.ErrToken.Error()}
	case err != nil:
		return v, problem{code: http.StatusBadGateway, says: "GitHub cannot be asked what this token may do: " + err.Error(), after: time.Second}
	}
	d.known[hash], d.answers[q] = at, standing{v, at}
	return v, nil
}

// count counts a call, and refuses it where there were too many.
func (d *door) count(hash tokenHash) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn()
	if d.calls[hash] >= callsMost {
		return d.busy("too many calls")
	}
	d.calls[hash]++
	return nil
}

// turn begins another minute once one is over, and forgets what counts no more; d.mu is held.
func (d *door) turn() {
	now := d.now()
	if d.calls != nil && now.Sub(d.since) < countFor && !now.Before(d.since) {
		return
	}
	d.since, d.calls, d.unknown, d.tried = now, map[tokenHash]int{}, map[string]int{}, 0
	maps.DeleteFunc(d.answers, func(_ question, a standing) bool { return now.Sub(a.at) >= answerFor })
	maps.DeleteFunc(d.known, func(_ tokenHash, at time.Time) bool { return now.Sub(at) >= knownFor })
}

// try lets a token be sent to GitHub.
func (d *door) try(hash tokenHash, from string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn()
	if _, known := d.known[hash]; known {
		return nil
	}
	if d.unknown[from] >= unknownMost || d.tried >= unknownWhole {
		return d.busy("too many tokens that are not known yet")
	}
	d.unknown[from]++
	d.tried++
	return nil
}

func (d *door) busy(why string) error {
	return problem{code: http.StatusTooManyRequests, says: why + " in this minute", after: d.since.Add(countFor).Sub(d.now())}
}

// address is where a request comes from, without its port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
