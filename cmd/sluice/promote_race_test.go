//go:build race

package main

// racing: the race detector's own memory and time would be measured.
const racing = true
