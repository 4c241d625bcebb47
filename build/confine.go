package build

func confine(l Limits) error { return nil }
