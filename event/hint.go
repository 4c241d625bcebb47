package event

// Hint is what a webhook says about a repository, as much as the loop needs: it reads GitHub for everything else.
type Hint int

// The hints.
const (
	// Changed: somebody did something. What was observed before of what it names is void.
	Changed Hint = iota
	// StatusEcho: a status that we set ourselves. It changes nothing that we do not know.
	StatusEcho
	// WriteEcho: a merge, an update or a deletion of our own. It voids nothing, but other pull requests may look different.
	WriteEcho
	// Membership: repositories came, went or were renamed; the list of them is to be read.
	Membership
	// Reported: Flux said what became of a commit. It voids nothing, since nothing that is written depends on it; people want to
	// see it.
	Reported
)

// HintOf reads a hint from the name of a webhook's event and its sender; "flux" is a report of Flux, by its own webhook or as a
// status on GitHub. The events that our own writes make are named, and
// no other counts as an echo: GitHub calls us the sender of a check that somebody else ran on what we pushed, too.
func HintOf(event string, sender Sender) Hint {
	switch event {
	case "installation", "installation_repositories", "installation_target", "repository":
		return Membership
	case "flux":
		return Reported
	}
	if sender != Us {
		return Changed
	}
	switch event {
	case "status":
		return StatusEcho
	case "pull_request", "push", "create", "delete":
		return WriteEcho
	}
	return Changed
}

// Sender tells whose doing an event is.
type Sender bool

// The senders.
const (
	Others Sender = false
	Us     Sender = true
)
