package webhook

import (
	"strings"

	"github.com/sluicegate/sluice/plan"
)

// Everything that this package answers or logs, in words.
const (
	saysAccepted     = "accepted"
	saysKnown        = "already received"
	saysNothing      = "nothing to do"
	saysUnread       = "signed, but it cannot be read; see the log"
	saysAlive        = "alive"
	saysReady        = "ready"
	saysNotFound     = "not found"
	saysNoMethod     = "method not allowed"
	saysUnsigned     = "X-Hub-Signature-256 is missing or wrong"
	saysFluxUnsigned = "X-Signature is missing or wrong"
	saysFluxUnread   = "signed, but not an event of Flux"
	saysNoRepo       = "unknown repository; the address is /flux/OWNER/REPO"
	saysNoGUID       = "X-GitHub-Delivery or X-GitHub-Event is missing or too long"
	saysTooLong      = "the body is too large"
	saysCut          = "the body ended early"
	saysBusy         = "too many requests at once; send it again"
	saysUnstored     = "the delivery could not be stored; send it again"
	saysBug          = "internal error"
	logsUnsigned     = "refused deliveries with a missing or wrong signature; check the webhook secret of the App, or of Flux's provider"
	logsFluxUnread   = "cannot read a signed event of Flux"
	logsReported     = "event of Flux accepted"
	logsUnread       = "cannot read a signed delivery"
	logsUnstored     = "cannot store a delivery; the sender got an error"
	logsBusy         = "refused a delivery: too many at once"
	logsOdd          = "ignored a field of an unexpected type in a signed delivery"
	logsAccepted     = "delivery accepted"
	logsPanic        = "panic while handling a delivery"
	logsNoSecret     = "no webhook secret is set: every delivery is refused"
	logsManyRepos    = "an installation event names too many repositories; the rest follow with the next list"
)

// wordOfState is what a report says, in one word.
func wordOfState(s plan.CheckState) string {
	switch s {
	case plan.CheckGreen:
		return "applied"
	case plan.CheckRed:
		return "failed"
	case plan.CheckPending:
	}
	return "progressing"
}

func wordsOfLags(lags []string) string {
	return strings.Join(append([]string{saysReady}, lags...), "\n- ")
}

func wordsOfReasons(reasons []string) string {
	return "not ready\n- " + strings.Join(reasons, "\n- ")
}
