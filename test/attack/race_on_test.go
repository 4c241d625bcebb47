//go:build race

package attack

// defaultWorlds is less than without the race detector, under which a world costs ten times as much, most of it in SQLite.
const defaultWorlds = 25
