package suspend

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// Target is one Flux Kustomization and the windows that hold it: all of them must be releasable.
type Target struct {
	Namespace, Name string
	Windows         []window.Name
}

// String is the Kustomization as Flux calls it.
func (t Target) String() string { return t.Namespace + "/" + t.Name }

const (
	maxNamespace = 63  // Kubernetes' bound on a label, which a namespace's name is
	maxName      = 253 // Kubernetes' bound on the name of an object
)

var (
	namespaceShape = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	nameShape      = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
)

// ParseTarget reads NAMESPACE/NAME=WINDOW, or several windows with commas between them.
func ParseTarget(text string) (Target, error) {
	object, windows, _ := strings.Cut(text, "=")
	t := Target{}
	var slash bool
	t.Namespace, t.Name, slash = strings.Cut(object, "/")
	if !slash || windows == "" {
		return Target{}, fmt.Errorf("%q: want NAMESPACE/NAME=WINDOW", text)
	}
	if len(t.Namespace) > maxNamespace || !namespaceShape.MatchString(t.Namespace) {
		return Target{}, fmt.Errorf("%q: %q is not the name of a namespace", text, t.Namespace)
	}
	if len(t.Name) > maxName || !nameShape.MatchString(t.Name) {
		return Target{}, fmt.Errorf("%q: %q is not the name of a Kustomization", text, t.Name)
	}
	for name := range strings.SplitSeq(windows, ",") {
		if name == "" {
			return Target{}, fmt.Errorf("%q: a window without a name", text)
		}
		t.Windows = append(t.Windows, window.Name(name))
	}
	return t, nil
}

// unknown is the first window of a target that a file does not have, and the one that was most likely meant.
func (t Target) unknown(calendar *window.Calendar) (name window.Name, near string, found bool) {
	for _, n := range t.Windows {
		if !calendar.Has(n) {
			return n, config.Nearest(string(n), config.Strings(calendar.Names())), true
		}
	}
	return "", "", false
}
