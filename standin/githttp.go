package standin

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// git's smart HTTP protocol: https://git-scm.com/docs/http-protocol. The stand-in runs upload-pack and receive-pack itself
// rather than git-http-backend, which not every git brings along.

// maxPush bounds one push.
const maxPush = 256 << 20

var gitProtocol = regexp.MustCompile(`^version=[012]$`)

// serveGit serves OWNER/NAME.git below /git/.
func (g *GitHub) serveGit(w http.ResponseWriter, r *http.Request) {
	path, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	owner, name, both := strings.Cut(path, "/")
	repo := g.find(owner, name)
	if !found || !both || repo == nil {
		http.Error(w, msgNotFound, http.StatusNotFound)
		return
	}
	service := strings.TrimPrefix(rest, "git-")
	if rest == "info/refs" {
		service = strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	}
	if service != "upload-pack" && service != "receive-pack" {
		http.Error(w, "the dumb protocol is not served", http.StatusForbidden)
		return
	}
	who, err := g.gitCaller(r, repo, service)
	if err != nil {
		denyGit(w, err)
		return
	}
	switch {
	case rest == "info/refs" && r.Method == http.MethodGet:
		repo.advertise(w, r, service)
	case rest == "git-"+service && r.Method == http.MethodPost:
		repo.exchange(w, r, service, who.actor)
	default:
		http.Error(w, msgNotFound, http.StatusNotFound)
	}
}

// gitCaller lets anybody read and those with write permission push.
func (g *GitHub) gitCaller(r *http.Request, repo *Repo, service string) (caller, error) {
	who, err := g.who(r)
	if errors.Is(err, errNoCredentials) && service == "upload-pack" {
		return caller{}, nil
	}
	if err != nil {
		return caller{}, err
	}
	if !g.sees(who, repo) {
		return caller{}, notFound()
	}
	if service == "upload-pack" {
		return who, repo.may(who, reader)
	}
	return who, repo.may(who, writer)
}

func denyGit(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, err.Error()
	var no *apiError
	switch {
	case errors.Is(err, errNoCredentials):
		status, text = http.StatusUnauthorized, msgAuthRequired
	case errors.As(err, &no):
		status, text = no.status, no.message
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	http.Error(w, text, status)
}

// hiddenRefs keeps forks out of sight and pull requests out of pushes.
var hiddenRefs = []string{"-c", "transfer.hideRefs=refs/forks", "-c", "receive.hideRefs=refs/pull"}

func (d *gitDir) service(ctx context.Context, r *http.Request, service string, flags ...string) *exec.Cmd {
	args := append(append([]string{}, hiddenRefs...), service, "--stateless-rpc")
	cmd := d.command(ctx, append(append(args, flags...), d.dir)...)
	if version := r.Header.Get("Git-Protocol"); gitProtocol.MatchString(version) {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+version)
	}
	return cmd
}

func (r *Repo) advertise(w http.ResponseWriter, req *http.Request, service string) {
	cmd := r.git.service(req.Context(), req, service, "--advertise-refs")
	out, err := cmd.Output()
	if err != nil {
		denyGit(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-"+service+"-advertisement")
	w.Header().Set("Cache-Control", "no-cache")
	head := pktline.NewEncoder(w)
	_ = errors.Join(head.Encodef("# service=git-%s\n", service), head.Flush()) // fails only if the client went away
	_, _ = w.Write(out)
}

func (r *Repo) exchange(w http.ResponseWriter, req *http.Request, service string, by Actor) {
	body := io.Reader(http.MaxBytesReader(w, req.Body, maxPush))
	if req.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, "bad gzip", http.StatusBadRequest)
			return
		}
		body = io.LimitReader(unzipped, maxPush)
	}
	w.Header().Set("Content-Type", "application/x-git-"+service+"-result")
	w.Header().Set("Cache-Control", "no-cache")
	if service == "receive-pack" {
		r.receive(w, req, body, by)
		return
	}
	cmd := r.git.service(req.Context(), req, service)
	cmd.Stdin, cmd.Stdout = body, w
	if err := cmd.Run(); err != nil && req.Context().Err() == nil {
		r.g.opts.Log.Warn("git upload-pack", "repo", r.String(), "err", err)
	}
}

// receive runs a push under the repository's lock and sends the events of what it moved.
func (r *Repo) receive(w http.ResponseWriter, req *http.Request, body io.Reader, by Actor) {
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, "push too large", http.StatusRequestEntityTooLarge)
		return
	}
	wishes := packp.NewReferenceUpdateRequest()
	if err := wishes.Decode(bytes.NewReader(data)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if refused := r.declined(wishes.Commands, by); len(refused) > 0 {
		_ = report(w, wishes, refused) // fails only if the client went away
		return
	}
	cmd := r.git.service(req.Context(), req, "receive-pack")
	if r.forwardOnly(wishes.Commands, by) {
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=receive.denyNonFastForwards", "GIT_CONFIG_VALUE_0=true")
	}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(data), w
	if err := cmd.Run(); err != nil {
		r.g.opts.Log.Warn("git receive-pack", "repo", r.String(), "err", err)
	}
	r.followPush(wishes.Commands, by)
}

// wish is the move that a command of a push asks for; false if it is no branch's.
func (r *Repo) wish(c *packp.Command, by Actor) (move, bool) {
	branch, ok := strings.CutPrefix(c.Name.String(), "refs/heads/")
	return move{by: by, owner: r.owner, branch: branch, before: shaOf(c.Old), after: shaOf(c.New)}, ok
}

// shaOf is "" for a hash of zeros, which stands for no commit.
func shaOf(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

// declined lists what rules forbid, by ref. Whether an unknown commit is a fast-forward, git decides: see forwardOnly.
func (r *Repo) declined(wishes []*packp.Command, by Actor) map[plumbing.ReferenceName]string {
	no := map[plumbing.ReferenceName]string{}
	for _, c := range wishes {
		m, ok := r.wish(c, by)
		if !ok {
			continue
		}
		m.unread = m.after != ""
		var refused *apiError
		if err := r.forbids(m); errors.As(err, &refused) {
			no[c.Name] = refused.message
		}
	}
	return no
}

func (r *Repo) forwardOnly(wishes []*packp.Command, by Actor) bool {
	for _, c := range wishes {
		m, _ := r.wish(c, by)
		for _, rules := range r.rulesOf(m.branch, by) {
			if rules.NoForce {
				return true
			}
		}
	}
	return false
}

// report declines a whole push in git's words, with the reason on the side band that people see.
func report(w io.Writer, wishes *packp.ReferenceUpdateRequest, refused map[plumbing.ReferenceName]string) error {
	var messages strings.Builder
	status := packp.ReportStatus{UnpackStatus: "ok"}
	for _, c := range wishes.Commands {
		status.CommandStatuses = append(status.CommandStatuses, &packp.CommandStatus{ReferenceName: c.Name, Status: "protected branch hook declined"})
		if why := refused[c.Name]; why != "" {
			fmt.Fprintf(&messages, "error: GH013: %s for %s\n", strings.TrimSpace(why), c.Name)
		}
	}
	if !wishes.Capabilities.Supports(capability.Sideband64k) {
		return status.Encode(w)
	}
	mux := sideband.NewMuxer(sideband.Sideband64k, w)
	_, err := mux.WriteChannel(sideband.ProgressMessage, []byte(messages.String()))
	return errors.Join(err, status.Encode(mux), pktline.NewEncoder(w).Flush())
}

// followPush does what follows the commands that git carried out.
func (r *Repo) followPush(wishes []*packp.Command, by Actor) {
	for _, c := range wishes {
		m, ok := r.wish(c, by)
		now, err := r.git.tip(c.Name.String())
		if !ok || err != nil || now != m.after || m.before == m.after {
			continue
		}
		if err := r.moved(m); err != nil {
			r.g.opts.Log.Error("after a push", "repo", r.String(), "err", err)
		}
	}
}
