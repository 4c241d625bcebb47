package client

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// oldestServer is the oldest Enterprise Server that is supported: GitHub's own oldest. Its schema has every field and mutation that is used.
const oldestServer = "3.16"

// schema is what the schema of a GitHub was seen to lack.
type schema struct {
	log *slog.Logger

	mu    sync.Mutex
	lacks map[string]string // by the operation that asked for it, as TYPE.FIELD
}

// Lacks names what GitHub's schema was last seen to lack of what is needed, each as a line for people; none: nothing.
func (f *App) Lacks() []string {
	f.schema.mu.Lock()
	defer f.schema.mu.Unlock()
	var out []string
	for _, name := range f.schema.lacks {
		out = append(out, sayLacks(name))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// learn remembers what an operation's end says of the schema.
func (s *schema) learn(operation string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lack noField
	switch errors.As(err, &lack); {
	case err == nil:
		delete(s.lacks, operation)
	case lack != "" && s.lacks[operation] != string(lack):
		s.lacks[operation] = string(lack)
		s.log.Error(sayLacks(string(lack)), "operation", operation)
	}
}

// noField is below an Error of an operation that GitHub's schema does not fit: TYPE.FIELD, or whatever of that is known.
type noField string

func (n noField) Error() string { return "not in the schema: " + string(n) }

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	quoted     = regexp.MustCompile(`['"\x60]([A-Za-z_][A-Za-z0-9_]{0,99})['"\x60]`)
)

// missing is what of the schema an error says is not there. GitHub names it beside the message. Other servers quote it in the message, the
// field before its type.
func (e graphError) missing() noField {
	var names []string
	for _, name := range []string{e.Extensions.TypeName, e.Extensions.FieldName} {
		if identifier.MatchString(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		for _, m := range quoted.FindAllStringSubmatch(e.Message, 2) {
			names = append([]string{m[1]}, names...)
		}
	}
	if len(names) == 0 {
		return wordUnnamed
	}
	return noField(strings.Join(names, "."))
}

// sayLacks is short enough to stand whole in a status, behind what could not be done and before when it is tried again.
func sayLacks(name string) string {
	return fmt.Sprintf("GitHub lacks %s: sluice needs Enterprise Server %s", name, oldestServer)
}
