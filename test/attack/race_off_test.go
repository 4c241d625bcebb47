//go:build !race

package attack

const defaultWorlds = 100
