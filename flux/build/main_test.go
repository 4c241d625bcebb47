package build

import (
	"fmt"
	"os"
	"testing"
)

// asChild is the argument by which this test's binary is the child process.
const asChild = "build-child"

func TestMain(m *testing.M) {
	patience = 60 // the machine may be a busy one: it is the processor's time that the tests hold
	if len(os.Args) == 2 && os.Args[1] == asChild {
		if err := Child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "sluice: "+err.Error())
			os.Exit(2)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "probe" {
		probe()
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "orphan" {
		orphan()
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == "no-child" {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// command starts the child.
func command() []string { return []string{os.Args[0], asChild} }
