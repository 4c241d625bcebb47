package store

import (
	"context"
	"os"
)

// op is one write that waits for its transaction. do may run more than once, each time in a new transaction.
type op struct {
	ctx  context.Context
	do   func(context.Context, *session) error
	done chan error // has room for the answer: the writer never waits for a caller who left
}

// do runs one write and returns when it is on the disk. Writes that arrive while another transaction is being written
// share the next one; with nothing under way there is no wait.
func (s *Store) do(ctx context.Context, f func(context.Context, *session) error) error {
	return s.send(ctx, s.ops, f)
}

// doFirst is do for what is short and waited for from outside: a webhook's sender, or a success that is about to be written. It gives what
// f gave. A caller who leaves shares no variable with f, which may still run.
func doFirst[T any](ctx context.Context, s *Store, f func(context.Context, *session) (T, error)) (T, error) {
	var got, none T
	if err := s.send(ctx, s.first, func(ctx context.Context, tx *session) (err error) {
		got, err = f(ctx, tx)
		return err
	}); err != nil {
		return none, err
	}
	return got, nil
}

func (s *Store) send(ctx context.Context, ops chan<- *op, f func(context.Context, *session) error) error {
	o := &op{ctx: ctx, do: f, done: make(chan error, 1)}
	select {
	case ops <- o:
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err() // it may be written nevertheless: every write may be done again
	}
}

// run is the writer. It ends when the store is closed, with nothing half-written.
func (s *Store) run() {
	defer close(s.stopped)
	batch := make([]*op, 0, batchMost)
	for {
		batch = s.gather(batch[:0])
		if len(batch) == 0 {
			select {
			case o := <-s.first:
				batch = s.gather(append(batch, o))
			case o := <-s.ops:
				batch = s.gather(append(batch, o))
			case <-s.closing:
				return
			}
		}
		s.commit(batch)
	}
}

// gather adds writes that wait already, and waits for none: few of those that may be long, and one at most as soon as any that go first
// wait for the end of the transaction. So neither keeps the other for long.
func (s *Store) gather(batch []*op) []*op {
	for range longMost {
		batch = waiting(batch, s.ops, 1)
		long := len(batch)
		if batch = waiting(batch, s.first, batchMost); len(batch) > long {
			break
		}
	}
	return batch
}

// waiting adds so many writes that wait at most.
func waiting(batch []*op, ops <-chan *op, most int) []*op {
	for range most {
		select {
		case o := <-ops:
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch and answers each of its writes. An error that is one write's own must not fail its neighbours:
// then each is written by itself. An error of the file fails them all at once, else they would each wait for it.
func (s *Store) commit(batch []*op) {
	batch = abandon(batch)
	err := s.transact(batch)
	if err == nil || len(batch) == 1 || ofTheFile(err) {
		for _, o := range batch {
			o.done <- err
		}
		return
	}
	for i, o := range batch {
		o.done <- s.transact(batch[i : i+1])
	}
}

// abandon drops the writes whose callers have left already.
func abandon(batch []*op) []*op {
	kept := batch[:0]
	for _, o := range batch {
		if err := o.ctx.Err(); err != nil {
			o.done <- err
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

// transact runs writes in one transaction. Its context is no caller's and never ends: one that leaves must neither undo the
// others nor break the connection that they share.
func (s *Store) transact(batch []*op) error {
	if len(batch) == 0 {
		return nil
	}
	ctx := context.Background()
	if err := s.session.begin(ctx); err != nil {
		return err
	}
	for _, o := range batch {
		if err := o.do(ctx, s.session); err != nil {
			s.session.rollback(ctx)
			return err
		}
	}
	if err := s.session.commit(ctx); err != nil {
		return err
	}
	return s.present()
}

// present makes sure, before anything is acknowledged, that what was written still has its name: SQLite goes on writing a
// file that was removed, and all of it would be lost with the process.
func (s *Store) present() error {
	info, err := os.Stat(s.path)
	if err != nil || !os.SameFile(info, s.file) {
		return ErrGone
	}
	return nil
}
