package plan

import (
	"fmt"
	"strings"
)

// String names what is required, with the App that must report it.
func (r RequiredCheck) String() string {
	if r.App == 0 {
		return string(r.Context)
	}
	return fmt.Sprintf("%s by App %d", r.Context, r.App)
}

// MetBy reports whether a check answers a requirement: GitHub folds the case of contexts, and where the requirement names an App,
// only that App's reports count. A status by a person, or by a bot whose App is not known, is nobody's: fail closed.
func (r RequiredCheck) MetBy(c Check) bool {
	return strings.EqualFold(string(c.Context), string(r.Context)) && (r.App == 0 || c.App == r.App)
}

// Among finds the worst report that answers a requirement; false if there is none.
func (r RequiredCheck) Among(all []Check) (worst CheckState, reported bool) {
	worst = CheckGreen
	for _, c := range all {
		if !r.MetBy(c) {
			continue
		}
		reported = true
		if c.State == CheckRed || worst == CheckGreen {
			worst = c.State
		}
	}
	return worst, reported
}
