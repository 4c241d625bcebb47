package report

// SuspendEvent is what became of one Flux Kustomization in a pass: the JSON of a line of `sluice suspend`.
type SuspendEvent struct {
	At            Instant `json:"at"`
	Cluster       string  `json:"cluster"`
	Kustomization string  `json:"kustomization"`
	Suspend       bool    `json:"suspend"` // what holds; meaningless with a problem
	Changed       bool    `json:"changed"`
	Observed      bool    `json:"observed"`
	Reason        string  `json:"reason"`
	Until         Instant `json:"until"`
	Problem       string  `json:"problem"` // "", refused, server
}
