package build

func (c *child) launch() error { return c.cmd.Start() }
