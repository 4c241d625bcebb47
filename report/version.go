package report

// Version is what the build of the program knows of itself.
type Version struct {
	Version string  `json:"version"`
	Commit  *string `json:"commit"` // null: the build did not see git
	Go      string  `json:"go"`
}
