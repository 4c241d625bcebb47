package standin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// catFile asks one long-running git for objects: a question costs some 30 µs instead of a process.
type catFile struct {
	dir *gitDir

	mu   sync.Mutex
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	shut bool
}

// gitObject is what a name stands for; all empty if there is no such object.
type gitObject struct {
	sha, kind string
	size      int64
	data      []byte // only of contents
}

// info tells what a name (an object, a ref, REV:PATH) stands for.
func (c *catFile) info(name string) (gitObject, error) { return c.ask("info", name) }

// contents is info with the object's bytes.
func (c *catFile) contents(name string) (gitObject, error) { return c.ask("contents", name) }

func (c *catFile) ask(verb, name string) (gitObject, error) {
	if name == "" || strings.ContainsAny(name, "\n\x00") {
		return gitObject{}, nil // git reads one name a line: such an object cannot be asked for
	}
	if c.dir.memory != nil {
		return c.dir.memory.find(name), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(); err != nil {
		return gitObject{}, err
	}
	o, err := c.talk(verb, name)
	if err != nil {
		c.end()
		return gitObject{}, fmt.Errorf("git cat-file %s %q: %w", verb, name, err)
	}
	return o, nil
}

func (c *catFile) start() error {
	if c.shut {
		return errors.New("git cat-file: the stand-in is closed")
	}
	if c.cmd != nil {
		return nil
	}
	cmd := c.dir.command(context.Background(), "cat-file", "--batch-command")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	c.cmd, c.in, c.out = cmd, in, bufio.NewReader(out)
	return nil
}

func (c *catFile) talk(verb, name string) (gitObject, error) {
	if _, err := io.WriteString(c.in, verb+" "+name+"\n"); err != nil {
		return gitObject{}, err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return gitObject{}, err
	}
	parts := strings.Fields(line)
	if len(parts) != 3 || !fullSHA.MatchString(parts[0]) {
		return gitObject{}, nil // "NAME missing" or "NAME ambiguous"
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return gitObject{}, nil // a name with a space in it: "NAME missing" has three words too
	}
	o := gitObject{sha: parts[0], kind: parts[1], size: size}
	if verb != "contents" {
		return o, nil
	}
	o.data = make([]byte, o.size+1) // and a newline
	if _, err := io.ReadFull(c.out, o.data); err != nil {
		return gitObject{}, err
	}
	o.data = o.data[:o.size]
	return o, nil
}

// end stops git; the next question starts it anew.
func (c *catFile) end() {
	if c.cmd == nil {
		return
	}
	_ = c.in.Close()
	_ = c.cmd.Process.Kill() // it only reads; and it may hang on an answer that nobody takes any more
	_ = c.cmd.Wait()
	c.cmd = nil
}

func (c *catFile) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	c.end()
}
