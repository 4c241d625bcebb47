package revisions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sluicegate/sluice/flux/build"
)

// idle is after which time a child process ends: it has the memory of a tree.
const idle = 30 * time.Second

// askMost is how long an answer of one may take. Tests, which may stand beside much else, give it more.
var askMost = time.Minute

// child is a process that answers.
type child struct {
	*build.Process
	ask      *json.Encoder
	answers  *json.Decoder
	left     *io.LimitedReader // of its answer
	answered bool              // it has answered something
	over     bool              // it is of no more use
}

// start starts a child by a command.
func start(ctx context.Context, command []string) (*child, error) {
	p, err := build.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	left := &io.LimitedReader{R: p.Out}
	return &child{Process: p, ask: json.NewEncoder(p.In), answers: json.NewDecoder(left), left: left}, nil
}

// answer is what a child says to a question.
func (c *child) answer(q question) (*reply, error) {
	c.over = true
	timer := time.AfterFunc(askMost, c.Stop)
	c.left.N = maxQuestion
	var r reply
	err := c.ask.Encode(q)
	if err == nil {
		err = c.answers.Decode(&r)
	}
	switch {
	case !timer.Stop():
		return nil, errSlow
	case err != nil:
		return nil, fmt.Errorf("the process that reads it: %w", err)
	}
	switch c.over = r.Over; {
	case r.Err != "" && r.Sure:
		return nil, errors.New(r.Err)
	case r.Err != "":
		return nil, &unreadableError{r.Err}
	case r.Answers == nil && r.Tracked == nil:
		return nil, errors.New("the process that reads it gave no answer")
	}
	c.answered = true
	return &r, nil
}

// errSlow is an answer that takes too long, whatever the child had to do before.
var errSlow = fmt.Errorf("it takes longer than %s", askMost)

// unreadableError is what a child could not read, perhaps as its mirror is broken.
type unreadableError struct{ text string }

func (e *unreadableError) Error() string { return e.text }

// ask has the child answer, which is started if there is none. One that has answered before may have come to its bounds by that: it is asked again of a new one.
func (k *Keeper) ask(ctx context.Context, q question) (*reply, error) {
	for {
		if k.child == nil {
			var err error
			if k.child, err = start(ctx, k.o.Command); err != nil {
				return nil, err
			}
		}
		again := k.child.answered
		found, err := k.child.answer(q)
		if !k.child.over {
			return found, err
		}
		k.rest()
		if !again || errors.Is(err, errSlow) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// rest ends the child.
func (k *Keeper) rest() {
	if k.child != nil {
		k.child.End()
	}
	k.child = nil
}
