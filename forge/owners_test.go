package forge

import (
	"net/http"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

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
