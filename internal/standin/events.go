package standin

// Event is what the App is notified of, as far as it reads it. Its name tells which of the fields are set.
type Event struct {
	Name, Action string // in GitHub's words: "pull_request", "closed"
	To           Installation
	Repo         *Repo // whose it is; nil of an installation's own
	Added        *Repo // to the installation
	By           Actor

	Pull       *Pull
	Review     *Review  // of Pull
	Comment    *Comment // on Pull
	Status     *Status
	Move       *Moved // that a push made
	Check      *Check
	Conclusion string // of the whole suite of Check
	Group      *Group
	Extra      map[string]any // beside these, in the words of GitHub's payload; "label" is a label's name
}

// notify notifies the App of an event of this repository if it is installed there; the caller holds r.mu.
func (r *Repo) notify(e Event) {
	if to := r.g.Installed(r.owner); to != nil {
		e.To, e.Repo = *to, r
		r.g.opts.Notify(e)
	}
}

func (r *Repo) notifyPull(action string, by Actor, p *Pull, extra object) {
	r.remember(p)
	r.notify(Event{Name: "pull_request", Action: action, By: by, Pull: p, Extra: extra})
}

func (r *Repo) notifyReview(action string, by Actor, p *Pull, v Review) {
	r.remember(p)
	r.notify(Event{Name: "pull_request_review", Action: action, By: by, Pull: p, Review: &v})
}

func (r *Repo) notifyCheck(c Check) {
	action := "created"
	if c.Status == "completed" {
		action = "completed"
	}
	r.notify(Event{Name: "check_run", Action: action, By: c.App, Check: &c})
	if conclusion := r.suite(c); conclusion != "" {
		r.notify(Event{Name: "check_suite", Action: "completed", By: c.App, Check: &c, Conclusion: conclusion})
	}
}

// suite is the conclusion of a check run's suite, which are all of that App on the commit; "" if not all of it is completed.
func (r *Repo) suite(c Check) string {
	conclusion := "success"
	for _, o := range r.checks[c.SHA] {
		if o.App != c.App {
			continue
		}
		switch ofCheck(o) {
		case stateInProgress:
			return ""
		case stateFailing:
			conclusion = o.Conclusion
		}
	}
	return conclusion
}
