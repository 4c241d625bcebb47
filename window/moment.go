package window

// Moment is an instant as a person wrote it: a reading of a wall clock, or exact with an offset.
type Moment struct{}
