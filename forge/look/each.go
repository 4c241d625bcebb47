package look

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

// readers is how many REST reads of one look are under way at once. GitHub allows an App 100 at once, all looks together.
const readers = 4

// Each does f for every item, a few at once, and gives the first error. After an error no further item is begun.
func Each[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	all, until := errgroup.WithContext(ctx)
	all.SetLimit(readers)
	for _, item := range items {
		all.Go(func() error {
			if until.Err() != nil {
				return context.Cause(until)
			}
			return f(until, item)
		})
	}
	return cmp.Or(all.Wait(), context.Cause(ctx))
}

// Indices are the places of a list.
func Indices[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range list {
		all[i] = i
	}
	return all
}
