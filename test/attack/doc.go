// Package attack holds no code. Its test attacks: random worlds of a stand-in GitHub and the service in one bubble of virtual time,
// in which people do whatever GitHub lets them, GitHub fails, and the service is killed. What must hold is judged on the
// stand-in's own state, by an oracle that shares nothing with the code that decides (oracle_test.go).
//
//	go test ./test/attack                                  a hundred worlds; with -race, 25
//	go test ./test/attack -worlds 10000 -shrink            ten thousand, and a short story of what was found
//	go test ./test/attack -run TestWorlds -seed 17 -story  one world, told step by step
//	go test ./test/attack -rules c                         one invariant alone
//
// A world is made from its seed alone. The same seed draws the same steps at the same virtual instants; which of two goroutines
// comes first within one instant, and the jitter of the loop's back-off, are left to chance as they are in life.
package attack
