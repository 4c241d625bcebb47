package standin

import (
	"slices"
	"strings"
)

// FluxReport is what a cluster's Flux says of a Kustomization at a commit.
type FluxReport struct {
	SHA           string
	Kustomization string
	Provider      string // first part of the UID of the cluster's Provider; default "5c2f3f5e"
	Failed        string // why it failed, in Flux's small words such as "health check failed"; "": it was applied
	By            string // the account whose token Flux has; default "flux-bot"
}

// Defaults of a FluxReport.
const (
	fluxProvider = "5c2f3f5e"
	fluxLogin    = "flux-bot"
	fluxApplied  = "reconciliation succeeded"
)

// ReportFlux sets the status that Flux's notification-controller sets: its context is "kustomization/NAME/PROVIDER" in small
// letters unless its Provider has an expression of its own, and what was said last is not said again.
// https://fluxcd.io/flux/components/notification/providers/#git-commit-status-updates
func (r *Repo) ReportFlux(f FluxReport) error {
	if f.Provider == "" {
		f.Provider = fluxProvider
	}
	if f.By == "" {
		f.By = fluxLogin
	}
	s := Status{
		SHA: f.SHA, Context: strings.ToLower("Kustomization/" + f.Kustomization + "/" + f.Provider), State: "success",
		Description: fluxApplied, By: person(f.By),
	}
	if f.Failed != "" {
		s.State, s.Description = "failure", f.Failed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.latest(s.SHA), func(o Status) bool {
		return o.Context == s.Context && o.State == s.State && o.Description == s.Description
	}) {
		return nil
	}
	_, err := r.setStatus(s)
	return err
}
