package report

// History is what was done in a repository, in the order of time.
type History struct {
	Acts []Act `json:"acts"`
}

// Act is one thing that somebody did, or tried.
type Act struct {
	At          Instant `json:"at"`
	Repository  string  `json:"repository"`
	By          *string `json:"by"`  // "sluice", "Flux", or "@" and a login; null: nobody knows
	Act         string  `json:"act"` // "merge", "move", "status", "update", "approve", "dismiss"; of others "release", "undo", "recheck", "rules", "freeze" …
	PullRequest *int    `json:"pull_request"`
	Branch      *string `json:"branch"`
	SHA         *string `json:"sha"`
	Outcome     string  `json:"outcome"` // "done", "refused", "failed" or "void"
	Reason      string  `json:"reason"`
}
