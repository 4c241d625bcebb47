package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/sluicegate/sluice/internal/standin"
)

// git's smart HTTP protocol: https://git-scm.com/docs/http-protocol. The stand-in runs upload-pack and receive-pack itself
// rather than git-http-backend, which not every git brings along.

// maxPush bounds one push.
const maxPush = 256 << 20

var gitProtocol = regexp.MustCompile(`^version=[012]$`)

// gitCall is one request of git on its way.
type gitCall struct {
	*http.Request
	repo    *standin.Repo
	service string // upload-pack or receive-pack
	by      standin.Actor
}

// serveGit serves OWNER/NAME.git: anybody may read, and those with write permission push.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request, service string, serve func(http.ResponseWriter, gitCall)) {
	name, bare := strings.CutSuffix(r.PathValue("repo"), ".git")
	repo := s.Repo(r.PathValue("owner"), name)
	who, err := s.who(r)
	reading := service == "git-upload-pack"
	switch {
	case repo == nil || !bare || !reading && service != "git-receive-pack":
		err = standin.ErrNotFound
	case reading && errors.Is(err, errNoCredentials):
		err = nil
	case err != nil:
	case !s.sees(who, repo):
		err = standin.ErrNotFound
	case !reading:
		err = mayWrite(who, repo)
	}
	if err != nil {
		denyGit(w, err)
		return
	}
	serve(w, gitCall{r, repo, strings.TrimPrefix(service, "git-"), who.actor})
}

func denyGit(w http.ResponseWriter, err error) {
	no := refusal(err)
	if no.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	http.Error(w, no.Message, no.Status)
}

// gitConfig keeps forks out of sight and pull requests out of pushes, and lets people fetch any commit that a ref leads to, without what they filter out.
var gitConfig = []string{
	"-c", "transfer.hideRefs=refs/forks", "-c", "receive.hideRefs=refs/pull",
	"-c", "uploadpack.allowTipSHA1InWant=true", "-c", "uploadpack.allowReachableSHA1InWant=true", "-c", "uploadpack.allowFilter=true",
}

// command is git's side of the call.
func (c gitCall) command(flags ...string) *exec.Cmd {
	cmd := c.repo.Git().Command(c.Context(), slices.Concat(gitConfig, []string{c.service, "--stateless-rpc"}, flags, []string{c.repo.Dir()})...)
	if version := c.Header.Get("Git-Protocol"); gitProtocol.MatchString(version) {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+version)
	}
	return cmd
}

func advertise(w http.ResponseWriter, c gitCall) {
	out, err := c.command("--advertise-refs").Output()
	if err != nil {
		denyGit(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-"+c.service+"-advertisement")
	w.Header().Set("Cache-Control", "no-cache")
	head := pktline.NewEncoder(w)
	_ = errors.Join(head.Encodef("# service=git-%s\n", c.service), head.Flush()) // fails only if the client went away
	_, _ = w.Write(out)
}

func exchange(w http.ResponseWriter, c gitCall) {
	body := io.Reader(http.MaxBytesReader(w, c.Body, maxPush))
	if c.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, "bad gzip", http.StatusBadRequest)
			return
		}
		body = io.LimitReader(unzipped, maxPush)
	}
	w.Header().Set("Content-Type", "application/x-git-"+c.service+"-result")
	w.Header().Set("Cache-Control", "no-cache")
	if c.service == "receive-pack" {
		c.receive(w, body)
		return
	}
	cmd := c.command()
	cmd.Stdin, cmd.Stdout = body, w
	_ = cmd.Run() // the client hears of it from git
}

// receive runs a push under the repository's lock and sends the events of what it moved.
func (c gitCall) receive(w http.ResponseWriter, body io.Reader) {
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, "push too large", http.StatusRequestEntityTooLarge)
		return
	}
	wishes := packp.NewReferenceUpdateRequest()
	// Before it sends much, git asks with a flush alone whether it may push.
	if err := wishes.Decode(bytes.NewReader(data)); err != nil && !bytes.Equal(data, pktline.FlushPkt) {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	refused := c.repo.Receive(c.by, wishes.Commands, func(forwardOnly bool) {
		cmd := c.command()
		if forwardOnly {
			cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=receive.denyNonFastForwards", "GIT_CONFIG_VALUE_0=true")
		}
		cmd.Stdin, cmd.Stdout = bytes.NewReader(data), w
		_ = cmd.Run() // the client hears of it from git
	})
	if len(refused) > 0 {
		_ = report(w, wishes, refused) // fails only if the client went away
	}
}

// report declines a whole push in git's words, with the reason on the side band that people see.
func report(w io.Writer, wishes *packp.ReferenceUpdateRequest, refused map[plumbing.ReferenceName]string) error {
	var messages strings.Builder
	status := packp.ReportStatus{UnpackStatus: "ok"}
	for _, c := range wishes.Commands {
		no := packp.CommandStatus{ReferenceName: c.Name, Status: "protected branch hook declined"}
		status.CommandStatuses = append(status.CommandStatuses, &no)
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
