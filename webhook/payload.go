package webhook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"

	json "github.com/go-json-experiment/json/v1" // encoding/json as it is from Go 1.27 on, which reads several times as fast

	"github.com/sluicegate/sluice/plan"
)

// payload is what we read of a delivery: whom and what it is about. Everything else in it would be old by the time of the look.
type payload struct {
	Action       string       `json:"action"`
	Ref          string       `json:"ref"`        // of a push: refs/heads/…
	Before       string       `json:"before"`     // likewise
	After        string       `json:"after"`      // likewise
	Context      string       `json:"context"`    // of a status
	SHA          string       `json:"sha"`        // likewise
	State        string       `json:"state"`      // likewise
	UpdatedAt    string       `json:"updated_at"` // likewise
	Number       int          `json:"number"`     // of a pull request
	Reason       string       `json:"reason"`     // for which a merge group was destroyed
	Repository   *repository  `json:"repository"`
	Installation installation `json:"installation"`
	Sender       struct {
		Login string `json:"login"`
	} `json:"sender"`
	PullRequest struct {
		Number    int    `json:"number"`
		Merged    bool   `json:"merged"`
		UpdatedAt string `json:"updated_at"`
		State     string `json:"state"`
		Body      string `json:"body"`
		Draft     *bool  `json:"draft"`
		Labels    []struct {
			Name string `json:"name"`
		} `json:"labels"`
		Head struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Ref string `json:"ref"`
		} `json:"base"`
	} `json:"pull_request"`
	CheckRun   checkPayload `json:"check_run"`
	CheckSuite checkPayload `json:"check_suite"`
	Issue      struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment struct {
		ID        int64  `json:"id"`
		Body      string `json:"body"`
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		App       *struct {
			ID int64 `json:"id"`
		} `json:"performed_via_github_app"`
		User struct {
			Type string `json:"type"`
		} `json:"user"`
	} `json:"comment"`
	Changes struct {
		Body struct {
			From string `json:"from"`
		} `json:"body"`
	} `json:"changes"`
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
	Repositories list `json:"repositories"`
	Added        list `json:"repositories_added"`
	Removed      list `json:"repositories_removed"`

	odd bool // a field was left out
}

// checkPayload is what names the commit of a check, and of a run how it stands.
type checkPayload struct {
	SHA         string `json:"head_sha"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	StartedAt   string `json:"started_at"`
	CompletedAt string `json:"completed_at"`
}

type installation struct {
	ID int64 `json:"id"`
}

type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

// list is the first repositories of a list, at most [MaxRepositories]. The rest is not read: an element of two bytes would take
// twenty-four times that.
type list struct {
	first []repository
	more  bool  // there are others
	odd   error // the first element, or the list itself, that is of another type than GitHub documents
}

// UnmarshalJSON implements json.Unmarshaler. It gives no error: that would end the reading of what stands after the list.
func (l *list) UnmarshalJSON(text []byte) error {
	*l = list{}
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		if start != nil { // null is no list
			l.odd = json.Unmarshal(text, &l.first)
		}
		return nil
	}
	for d.More() {
		if l.more = len(l.first) == MaxRepositories; l.more {
			break
		}
		var r repository
		if err := d.Decode(&r); err != nil && l.odd == nil {
			l.odd = err
		}
		l.first = append(l.first, r)
	}
	return nil
}

// parse reads a body. odd is a field of another type than GitHub documents: it was left out and the rest counts, since
// GitHub's own examples have such. err means that nothing could be read.
func parse(contentType string, body []byte) (p payload, odd, err error) {
	// An App may be set to the older way of sending; the signature is over the whole body either way.
	if media, _, err := mime.ParseMediaType(contentType); err == nil && media == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return payload{}, nil, fmt.Errorf("form: %w", err)
		}
		body = []byte(form.Get("payload"))
	}
	err = json.Unmarshal(body, &p)
	var field *json.UnmarshalTypeError
	if errors.As(err, &field) && field.Field != "" {
		p.odd = true
		return p, err, nil
	}
	if err != nil {
		return payload{}, nil, err
	}
	return p, cmp.Or(p.Repositories.odd, p.Added.odd, p.Removed.odd), nil
}

var (
	// GitHub's own names have these characters alone. Others would end up in the addresses of our requests.
	fullName = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_-]{0,99})/([A-Za-z0-9._-]{1,100})$`)
	objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// repo is the repository as the rest of sluice knows it; false if it could not be asked for.
func (r repository) repo(in installation) (plan.Repo, bool) {
	m := fullName.FindStringSubmatch(r.FullName)
	if m == nil || m[2] == "." || m[2] == ".." {
		return plan.Repo{}, false
	}
	return plan.Repo{Owner: m[1], Name: m[2], ID: max(r.ID, 0), Installation: max(in.ID, 0)}, true
}

// about is the repository that the delivery is about; without a name if it is about none.
func (p payload) about() plan.Repo {
	if p.Repository == nil {
		return plan.Repo{}
	}
	repo, _ := p.Repository.repo(p.Installation)
	return repo
}

// repos gives the repositories of a list that can be asked for.
func (p payload) repos(l list) []plan.Repo {
	var all []plan.Repo
	for _, r := range l.first {
		if repo, ok := r.repo(p.Installation); ok {
			all = append(all, repo)
		}
	}
	return all
}

// group is the merge group that the delivery is about, if its names can be asked for.
func (p payload) group() *plan.Group {
	g := p.MergeGroup
	if g == nil || !objectID.MatchString(g.HeadSHA) || !objectID.MatchString(g.BaseSHA) {
		return nil
	}
	base, found := strings.CutPrefix(g.BaseRef, branches)
	if !found || base == "" {
		return nil
	}
	return &plan.Group{Base: plan.Branch(base), BaseSHA: plan.SHA(g.BaseSHA), Head: plan.SHA(g.HeadSHA)}
}

// sender is who did it, and whether that is the bot of an App: a person may have the name of our App, but not its suffix.
func (p payload) sender() (login plan.Login, bot bool) {
	name, bot := strings.CutSuffix(p.Sender.Login, "[bot]")
	return plan.Login(name[:min(len(name), MaxHeader)]), bot
}
