package webhook

import (
	"strings"

	"github.com/sluicegate/sluice/plan"
)

// Everything that this package answers or logs, in words.
const (
	saysNoted        = "noted"
	saysKnown        = "noted before"
	saysNothing      = "nothing to do"
	saysUnread       = "signed, but it cannot be read; it was logged"
	saysAlive        = "alive"
	saysReady        = "ready"
	saysNotFound     = "not found"
	saysNoMethod     = "method not allowed"
	saysUnsigned     = "X-Hub-Signature-256 is missing or wrong"
	saysFluxUnsigned = "X-Signature is missing or wrong"
	saysFluxUnread   = "signed, but it is no event of Flux"
	saysNoRepo       = "no such repository is known; the address is /flux/OWNER/REPO"
	saysNoGUID       = "X-GitHub-Delivery or X-GitHub-Event is missing or too long"
	saysTooLong      = "the body is too long"
	saysCut          = "the body ended early"
	saysBusy         = "too much is being received; send it again"
	saysUnstored     = "the note could not be kept; send it again"
	saysBug          = "internal error"
	logsUnsigned     = "deliveries with a missing or wrong signature were refused; is it the webhook secret of the App, or of Flux's provider?"
	logsFluxUnread   = "a signed event of Flux cannot be read"
	logsReported     = "report of Flux noted"
	logsUnread       = "a signed delivery cannot be read"
	logsUnstored     = "a delivery could not be noted; GitHub was told"
	logsBusy         = "a delivery was refused: too much is being received at once"
	logsOdd          = "a signed delivery has a field of another type; it was left out"
	logsNoted        = "delivery noted"
	logsPanic        = "panic while a delivery was handled"
	logsNoSecret     = "there is no webhook secret: every delivery is refused"
	logsManyRepos    = "an installation names too many repositories at once; the next list brings the rest"
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
