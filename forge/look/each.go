package look

import (
	"context"
	"sync"
)

// readers is how many REST reads of one look are under way at once. GitHub allows an App 100 at once, all looks together.
const readers = 4

// Each does f for every item, a few at once, and gives the first error. After an error no further item is begun.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var wg sync.WaitGroup
	for range min(readers, len(items)) {
		wg.Go(func() {
			for item := range next {
				if err := f(ctx, item); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, item := range items {
		select {
		case next <- item:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// Indices are the places of a list.
func Indices[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range list {
		all[i] = i
	}
	return all
}
