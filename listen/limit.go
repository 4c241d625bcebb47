package listen

const (
	// limitUnknown is taken for the limit where the system does not say: the usual one.
	limitUnknown = 1024
	// limitMost stands for no limit at all.
	limitMost = 1 << 20
)
