package forge

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// TestWhatOwnersReview: the last line that matches counts, and one without owners gives a path to nobody.
func TestWhatOwnersReview(t *testing.T) {
	for text, want := range map[string]plan.ReviewDemand{
		"":                                     plan.ReviewsOfNone,
		"# * @acme/sre\n":                      plan.ReviewsOfNone,
		"* @acme/sre\n":                        plan.ReviewsOfAll,
		"*   alice@example.com # who else\r\n": plan.ReviewsOfAll,
		"* nobody\n":                           plan.ReviewsOfNone,
		"/.github/ @acme/sre":                  plan.ReviewsOfRules,
		".github @acme/sre":                    plan.ReviewsOfRules,
		".github/* @acme/sre":                  plan.ReviewsOfRules,
		".github/** @acme/sre":                 plan.ReviewsOfRules,
		"/.github/sluice.yaml @acme/sre":       plan.ReviewsOfRules,
		"sluice.yaml @acme/sre":                plan.ReviewsOfRules,
		"*.yaml @acme/sre":                     plan.ReviewsOfRules,
		"**/sluice.y?ml @acme/sre":             plan.ReviewsOfRules,
		"/sluice.yaml @acme/sre":               plan.ReviewsOfNone,
		"/* @acme/sre":                         plan.ReviewsOfNone,
		"sluice.yaml/ @acme/sre":               plan.ReviewsOfNone,
		".GitHub/ @acme/sre":                   plan.ReviewsOfNone,
		"apps/.github/ @acme/sre":              plan.ReviewsOfNone,
		"[.]github/ @acme/sre":                 plan.ReviewsOfNone,
		"* @acme/sre\n.github/\n":              plan.ReviewsOfNone,
		"* @acme/sre\napps/\n":                 plan.ReviewsOfRules,
		"* @acme/sre\napps/\n.github/ @bob\n":  plan.ReviewsOfRules,
		"apps/ @acme/dev\n* @acme/sre\n":       plan.ReviewsOfAll,
		"* @acme/sre\napps/ @acme/dev\n":       plan.ReviewsOfAll,
	} {
		if got := reviewedByOwners(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestOwnersOfManyStars: a line that whoever writes to a base may have made long keeps no look.
func TestOwnersOfManyStars(t *testing.T) {
	done := make(chan plan.ReviewDemand, 1)
	go func() {
		done <- reviewedByOwners(strings.Repeat("**/", 2000) + "absent @a\n" + strings.Repeat("**/", 2000) + "sluice.yaml @a\n")
	}()
	select {
	case got := <-done:
		if got != plan.ReviewsOfRules {
			t.Errorf("%d", got)
		}
	case <-time.After(2 * time.Second):
		t.Error("no answer after 2 s")
	}
}

// TestWhatABaseReviews: rulesets and protection of old, a number of reviews or code owners; and what could not be read is not known, and spoils
// nothing else.
func TestWhatABaseReviews(t *testing.T) {
	owners := standin.Rules{Other: []standin.Rule{{Type: "pull_request", Parameters: map[string]any{
		"required_approving_review_count": 0, "require_code_owner_review": true, "dismiss_stale_reviews_on_push": false,
		"require_last_push_approval": false, "required_review_thread_resolution": false,
	}}}}
	for name, tt := range map[string]struct {
		rules standin.Rules
		files map[string]string
		fault *api.Fault
		want  plan.ReviewDemand
	}{
		"no rule":               {want: plan.ReviewsOfNone},
		"owners, and no rule":   {files: map[string]string{".github/CODEOWNERS": "* @acme/sre\n"}, want: plan.ReviewsOfNone},
		"a number":              {rules: standin.Rules{Reviews: 1}, want: plan.ReviewsOfAll},
		"a number, as of old":   {rules: standin.Rules{Reviews: 2, Classic: true}, want: plan.ReviewsOfAll},
		"old, and no number":    {rules: standin.Rules{NoForce: true, Classic: true}, want: plan.ReviewsOfNone},
		"owners, and no file":   {rules: owners, want: plan.ReviewsOfNone},
		"owners of the rules":   {rules: owners, files: map[string]string{"docs/CODEOWNERS": "/.github/ @acme/sre\n"}, want: plan.ReviewsOfRules},
		"owners of all":         {rules: owners, files: map[string]string{"CODEOWNERS": "* @acme/sre\n"}, want: plan.ReviewsOfAll},
		"the first file counts": {rules: owners, files: map[string]string{"CODEOWNERS": "* @acme/sre\n", ".github/CODEOWNERS": "apps/ @acme/dev\n"}, want: plan.ReviewsOfNone},
		"no request left": {
			rules: owners, files: map[string]string{"CODEOWNERS": "* @acme/sre\n"}, want: plan.ReviewsUnknown,
			fault: &api.Fault{Path: "/graphql", Contains: "CODEOWNERS", Errors: []api.GraphQLError{{Type: "RATE_LIMITED", Message: "API rate limit exceeded"}}},
		},
		"unread": {
			rules: owners, files: map[string]string{"CODEOWNERS": "* @acme/sre\n"}, want: plan.ReviewsUnknown,
			fault: &api.Fault{Path: "/graphql", Contains: "CODEOWNERS", Status: http.StatusBadGateway},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tt.files)
			w.r.Protect("main", tt.rules)
			if tt.fault != nil {
				w.hub.Fault(*tt.fault)
			}
			s, _ := w.look(Ask{})
			if tt.fault != nil && tt.fault.Status != 0 { // then it is read; and what was read before counts where that fails
				read, _ := w.look(Ask{Rules: true})
				w.hub.Fault(*tt.fault)
				kept, _ := w.look(Ask{Rules: true})
				for _, later := range []plan.Snapshot{read, kept} {
					if b := later.Bases["main"]; b.Reviews != plan.ReviewsOfAll {
						t.Errorf("%+v", b)
					}
				}
			}
			if b := s.Bases["main"]; b.Reviews != tt.want || !b.Rules || b.Policy == nil {
				t.Errorf("%+v", b)
			}
		})
	}
}
