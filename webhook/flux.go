package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Flux's notification-controller posts events to a provider of type generic-hmac: one JSON object, signed like GitHub's deliveries
// under another header. A Kustomization's event tells what became of a commit in one cluster.

// EventFlux is the event of a Hint about what Flux reported, by its own webhook or as a status on GitHub.
const EventFlux = "flux"

// event is what we read of Flux's event: https://pkg.go.dev/github.com/fluxcd/pkg/apis/event/v1#Event.
type event struct {
	Object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
	} `json:"involvedObject"`
	Severity  string            `json:"severity"`
	Reason    string            `json:"reason"`
	Message   string            `json:"message"`
	Timestamp time.Time         `json:"timestamp"`
	Metadata  map[string]string `json:"metadata"`
}

// What is read of an event's metadata. Flux's controllers send the keys with their group before them; the
// notification-controller takes it off, and adds what an Alert's eventMetadata says.
const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	eventGroup     = "event.toolkit.fluxcd.io"
	keyOrigin      = "originRevision" // of an artifact that was built from a commit
	keyRevision    = "revision"
	keyCluster     = "cluster"
	keyEnd         = "commit_status" // "update" at the end of a reconciliation that succeeded
)

// The words of events that count. Flux says info of everything that is no error, also of "waiting for another". The reason is that of
// the Kustomization's condition Ready as it stands: what a Kustomization deletes when it is deleted itself has the reason of its last
// success, without the mark of an end.
const (
	severityInfo  = "info"
	severityError = "error"
	reasonApplied = "ReconciliationSucceeded"
	endOfSuccess  = "update"
)

// meta gives a key of the metadata, as either controller wrote it.
func (e event) meta(key string) string {
	for _, full := range []string{key, kustomizeGroup + "/" + key, eventGroup + "/" + key} {
		if v := e.Metadata[full]; v != "" {
			return v
		}
	}
	return ""
}

// report is what an event says of a windowed branch's commit; false if it says nothing of that kind.
func (e event) report() (plan.Report, bool) {
	object, named := e.object()
	branch, sha, found := revision(e.meta(keyOrigin))
	if !found {
		branch, sha, found = revision(e.meta(keyRevision))
	}
	if !named || !found || e.Timestamp.IsZero() {
		return plan.Report{}, false
	}
	r := plan.Report{SHA: sha, Object: object, Branch: branch, Says: clean(e.Message, MaxSays), At: e.Timestamp.UTC()}
	switch {
	case e.Severity == severityError:
		r.State = plan.CheckRed
	case e.Severity != severityInfo:
		return plan.Report{}, false // a trace, or what nobody knows yet
	case e.Reason == reasonApplied && e.meta(keyEnd) != endOfSuccess:
		return plan.Report{}, false // it was deleted, and with it what it had applied
	case e.Reason == reasonApplied:
		r.State = plan.CheckGreen
	default:
		r.State = plan.CheckPending
	}
	return r, true
}

// kubeName is a name or namespace of Kubernetes.
var kubeName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$`)

// object names the Kustomization: [CLUSTER/]NAMESPACE/NAME. Another kind reports no commit of a branch.
func (e event) object() (string, bool) {
	o := e.Object
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if o.Kind != "Kustomization" || (grouped && group != kustomizeGroup) ||
		!kubeName.MatchString(o.Namespace) || !kubeName.MatchString(o.Name) {
		return "", false
	}
	name := o.Namespace + "/" + o.Name
	if cluster := clusterName(e.meta(keyCluster)); cluster != "" {
		name = cluster + "/" + name
	}
	return name, true
}

// clusterName is the name that an Alert gives its cluster, without what could be taken for another name's.
func clusterName(text string) string {
	return strings.ReplaceAll(clean(text, MaxCluster), "/", "-")
}

// revision takes BRANCH@sha1:SHA apart, from the right: a branch's name may hold all of it but the end. A tag, or a commit
// without a branch, is no windowed branch's.
func revision(text string) (plan.Branch, plan.SHA, bool) {
	at := strings.LastIndex(text, "@sha1:")
	if at < 0 {
		return "", "", false
	}
	name, sha := strings.TrimPrefix(text[:at], "refs/heads/"), text[at+len("@sha1:"):]
	if name == "" || len(name) > MaxBranch || !utf8.ValidString(name) || len(sha) != 40 || !objectID.MatchString(sha) {
		return "", "", false
	}
	return plan.Branch(name), plan.SHA(sha), true
}

// clean makes somebody's text one line of at most so many characters, without what would change how the text around it reads.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), most)])
}

// receiveFlux answers one event.
func (r *receiver) receiveFlux(c *gin.Context) {
	sum, ok := claimed(c.Request.Header, fluxSignature)
	if !ok {
		r.refuse(c, saysFluxUnsigned)
		return
	}
	body, done, err := r.bodies.read(c.Request, MaxFluxBody)
	defer done()
	if err != nil {
		r.unreceived(c, err)
		return
	}
	name := repository{FullName: c.Param("owner") + "/" + c.Param("repo")}
	if !signed(fluxToken(r.FluxSecret, name.FullName), body, sum) && !signed(r.FluxSecret, body, sum) {
		r.refuse(c, saysFluxUnsigned)
		return
	}
	isSigned(c, EventFlux)
	repo, ok := name.repo(installation{})
	if !ok {
		say(c, http.StatusNotFound, saysNoRepo)
		return
	}
	report, ok, err := parseEvent(body)
	switch {
	case err != nil:
		r.Log.Warn(logsFluxUnread, "repository", repo.String(), "error", clean(err.Error(), MaxSays))
		say(c, http.StatusBadRequest, saysFluxUnread)
	case !ok:
		say(c, http.StatusAccepted, saysNothing)
	default:
		r.acceptReport(c, repo, report)
	}
}

// parseEvent reads an event; false if it is none that counts.
func parseEvent(body []byte) (plan.Report, bool, error) {
	var e *event
	if err := json.Unmarshal(body, &e); err != nil {
		return plan.Report{}, false, fmt.Errorf("event: %w", err)
	}
	if e == nil {
		return plan.Report{}, false, errNoEvent
	}
	report, ok := e.report()
	return report, ok, nil
}

var errNoEvent = errors.New("event: null")

// acceptReport keeps what Flux reported, and answers once it is durable. Flux sends again what is answered 5xx.
func (r *receiver) acceptReport(c *gin.Context, repo plan.Repo, report plan.Report) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), noteWait)
	defer cancel()
	known, news, err := r.Store.NoteReport(ctx, repo, report, r.Now())
	switch {
	case errors.Is(err, store.ErrUnknown):
		say(c, http.StatusNotFound, saysNoRepo)
	case err != nil:
		r.Log.Error(logsUnstored, "event", EventFlux, "repository", repo.String(), "error", err)
		say(c, http.StatusServiceUnavailable, saysUnstored)
	case !news:
		say(c, http.StatusAccepted, saysNothing)
	default:
		if report.State != plan.CheckPending { // its end follows, and is what people wait to see
			r.Poke(Hint{Repo: known, Event: EventFlux})
		}
		r.Log.Debug(logsReported, "repository", known.String(), "branch", report.Branch, "sha", report.SHA,
			"object", report.Object, "state", wordOfState(report.State))
		say(c, http.StatusAccepted, saysAccepted)
	}
}

// reported reports whether an event is a status that Flux set on GitHub: of its Kustomizations, whatever the case of its context.
func reported(event string, p payload) bool {
	_, flux := plan.Context(p.Context).Kustomization()
	return event == "status" && flux
}
