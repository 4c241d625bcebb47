package reconcile_test

import (
	"testing"

	"github.com/sluicegate/sluice/reconcile"
)

func TestHintOf(t *testing.T) {
	for event, want := range map[string][2]reconcile.Hint{ // by others, by us
		"status":              {reconcile.Changed, reconcile.StatusEcho},
		"pull_request":        {reconcile.Changed, reconcile.WriteEcho},
		"push":                {reconcile.Changed, reconcile.WriteEcho},
		"delete":              {reconcile.Changed, reconcile.WriteEcho},
		"check_run":           {reconcile.Changed, reconcile.Changed}, // of what we pushed, by whomever
		"check_suite":         {reconcile.Changed, reconcile.Changed},
		"merge_group":         {reconcile.Changed, reconcile.Changed},
		"pull_request_review": {reconcile.Changed, reconcile.Changed},
		"invented tomorrow":   {reconcile.Changed, reconcile.Changed},
		"flux":                {reconcile.Reported, reconcile.Reported},
		"repository":          {reconcile.Membership, reconcile.Membership},
	} {
		if got := [2]reconcile.Hint{reconcile.HintOf(event, reconcile.Others), reconcile.HintOf(event, reconcile.Us)}; got != want {
			t.Errorf("%s: %v, want %v", event, got, want)
		}
	}
}
