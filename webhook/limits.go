package webhook

import "time"

const (
	// MaxBody is GitHub's own cap on a delivery: it drops what would be longer.
	MaxBody = 25 << 20
	// MaxFluxBody holds an event of Flux: 39,000 characters of message, and metadata.
	MaxFluxBody = 256 << 10
	// MaxSays is the longest text of a report that is kept, in characters. A reason shows 140.
	MaxSays = 300
	// MaxCluster is the longest name of a cluster, in characters.
	MaxCluster = 63
	// MaxBranch is the longest name of a branch, in bytes: a file's on GitHub's servers.
	MaxBranch = 255
	// maxContext is the longest name of a check that is kept, in bytes: GitHub takes 255 characters.
	maxContext = 4 * 255
	// MaxReading bounds the memory of all long bodies that are being read at once.
	MaxReading = 64 << 20
	// MaxHeader is the longest value of a header that is kept: GUIDs have 36 characters, event names at most 40.
	MaxHeader = 128
	// MaxRepositories is how many repositories of one installation's event are taken from it. The next list brings the rest.
	MaxRepositories = 20000
	// noteWait is how long a note may take. GitHub gives up after 10 s.
	noteWait = 8 * time.Second

	// firstRead is what is made ready for a body before anything of it came, where no memory of an earlier one is to spare; it doubles as it
	// fills.
	firstRead = 4 << 10
	// smallBody is the longest body for which nothing is set aside: most deliveries have 10 to 40 KB. As many as there are connections may
	// be read at once.
	smallBody = 64 << 10

	// The bounds of NewServer: a sender who is slower than GitHub's own 10 s is not GitHub.
	headerWait = 5 * time.Second
	bodyWait   = 10 * time.Second
	answerWait = bodyWait + noteWait + 2*time.Second
	maxHeaders = 32 << 10
)
