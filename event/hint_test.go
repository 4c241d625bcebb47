package event

import "testing"

func TestHintOf(t *testing.T) {
	for name, want := range map[string][2]Hint{ // by others, by us
		"status":              {Changed, StatusEcho},
		"pull_request":        {Changed, WriteEcho},
		"push":                {Changed, WriteEcho},
		"delete":              {Changed, WriteEcho},
		"check_run":           {Changed, Changed}, // of what we pushed, by whomever
		"check_suite":         {Changed, Changed},
		"merge_group":         {Changed, Changed},
		"pull_request_review": {Changed, Changed},
		"invented tomorrow":   {Changed, Changed},
		"flux":                {Reported, Reported},
		"repository":          {Membership, Membership},
	} {
		if got := [2]Hint{HintOf(name, Others), HintOf(name, Us)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
