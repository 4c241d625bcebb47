// Package metrics gives what operators measure in the form that Prometheus reads.
//
// # Model
//
// What happens is counted as it happens, by the methods of [Set], which forge, webhook and reconcile call through the few functions that
// they declare themselves. What merely is (budgets left, verdicts, debts) is read at each scrape, so that nothing has to be kept up to
// date. Names follow Prometheus' conventions: base units, _total for counters, and a unit at the end.
//
// # Invariants
//
// No label holds what a stranger may choose: events, routes and answers come from fixed lists, or become "other". No repository is
// named: there may be many, and their names may be private. The page names them.
package metrics
