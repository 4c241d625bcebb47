package branches

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// Of what is merged GitHub may demand a number of reviews, or one by the code owners of what changes. Who owns what stands in a file of the
// base, which is read where nothing else demands a review of everything: it says whether one person alone can change the rules.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners

// ownerFiles are where GitHub looks for it; the first that is there counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// namesOfOwners is how many objects are asked for of one base: those files, and its tree.
const namesOfOwners = 4

// demand is which reviews the rules of a base demand.
type demand struct {
	count  int  // by anybody who may write
	owners bool // by the code owners of what changes
}

// and is what two demands come to.
func (d demand) and(e demand) demand { return demand{max(d.count, e.count), d.owners || e.owners} }

// addReviewed adds what the rules of some bases, as they were read just now, mean for reviews. It decides nothing but a warning: what could not
// be read for it spoils nothing else, and what was known before stays.
func (l *Reader) addReviewed(ctx context.Context, names []plan.Branch, known []rules, read []int) error {
	var owned []int
	for _, i := range read {
		switch d := l.demandOf(names[i], known[i]); {
		case !known[i].known:
			continue
		case d.count > 0:
			known[i].reviewed = plan.ReviewsOfAll
		case !d.owners || l.tip(names[i]) == "":
			known[i].reviewed = plan.ReviewsOfNone
		default:
			owned = append(owned, i)
			continue
		}
		keptRules.Put(l.Memory, names[i], known[i])
	}
	for some := range slices.Chunk(owned, look.MaxAliases/namesOfOwners) {
		if err := l.readOwners(ctx, names, known, some); err != nil {
			return err
		}
	}
	return nil
}

// demandOf is the demand of rulesets and of protection together.
func (l *Reader) demandOf(name plan.Branch, r rules) demand {
	if !l.classic(name) {
		return r.demand
	}
	of := l.Bases[name].RefUpdateRule
	return r.demand.and(demand{of.RequiredApprovingReviewCount, of.RequiresCodeOwnerReviews})
}

// tip is where a base stands; "" if that is not known.
func (l *Reader) tip(name plan.Branch) plan.SHA {
	if raw := l.Bases[name]; raw != nil && raw.Target != nil {
		return plan.SHA(raw.Target.Oid)
	}
	return ""
}

// readOwners reads in one query who owns what on some bases.
func (l *Reader) readOwners(ctx context.Context, names []plan.Branch, known []rules, some []int) error {
	var asked []string
	for _, i := range some {
		asked = append(asked, look.TreeOf(l.tip(names[i])))
		for _, file := range ownerFiles {
			asked = append(asked, string(l.tip(names[i]))+":"+file)
		}
	}
	named, err := l.AskNamed(ctx, look.ObjectsQuery(l.Repo.Owner, l.Repo.Name, asked, look.ObjectText))
	if ctx.Err() != nil { // a limit ends no look for the sake of a warning
		return fmt.Errorf("read code owners: %w", ctx.Err())
	}
	for n, i := range some {
		reviewed, bad := plan.ReviewsUnknown, err
		if bad == nil {
			reviewed, bad = ownersAmong(named, n*namesOfOwners)
		}
		if bad != nil {
			l.Log.Warn("CODEOWNERS could not be read", "base", names[i], "error", bad)
			continue
		}
		known[i].reviewed = reviewed
		keptRules.Put(l.Memory, names[i], known[i])
	}
	return nil
}

// ownersAmong finds the answer for one base from an alias on. That it has no such file is known only beside its tree.
func ownersAmong(named client.Answers, first int) (plan.ReviewDemand, error) {
	if err := look.Shown(named, fmt.Sprintf("o%d", first)); err != nil {
		return plan.ReviewsUnknown, err
	}
	for n := range ownerFiles {
		o, err := client.Find[look.RawObject](named, fmt.Sprintf("o%d", first+1+n))
		switch {
		case err != nil:
			return plan.ReviewsUnknown, err
		case o == nil:
			continue
		case o.Text == nil || o.IsTruncated:
			return plan.ReviewsOfNone, nil // what nobody can read names nobody
		}
		return reviewedByOwners(*o.Text), nil
	}
	return plan.ReviewsOfNone, nil
}

// reviewedByOwners is what the owners in a CODEOWNERS file have to review. The last line that matches a path counts.
func reviewedByOwners(text string) plan.ReviewDemand {
	rules, all := false, false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		owned := slices.ContainsFunc(words[1:], func(w string) bool { return strings.Contains(w, "@") })
		switch pattern := words[0]; {
		case slices.Contains([]string{"*", "**", "/**", "**/*"}, pattern):
			rules, all = owned, owned
		case ownsFile(pattern, config.File):
			rules, all = owned, all && owned
		default:
			all = all && owned
		}
	}
	switch {
	case all:
		return plan.ReviewsOfAll
	case rules:
		return plan.ReviewsOfRules
	}
	return plan.ReviewsOfNone
}

// ownsFile reports whether a pattern of CODEOWNERS matches a file: as in .gitignore, without "!" and "[", and where the last name has a
// star only what stands right there.
func ownsFile(pattern, file string) bool {
	if strings.ContainsAny(pattern, `![\`) {
		return false
	}
	names := strings.Split(strings.Trim(pattern, "/"), "/")
	if len(names) == 1 && !strings.HasPrefix(pattern, "/") {
		names = append([]string{"**"}, names...)
	}
	names = slices.CompactFunc(names, func(a, b string) bool { return a == "**" && b == "**" }) // each one more would multiply the ways to match
	inside := !strings.Contains(names[len(names)-1], "*")
	parts := strings.Split(file, "/")
	for n := 1; n < len(parts); n++ {
		if inside && matchNames(names, parts[:n]) {
			return true
		}
	}
	return !strings.HasSuffix(pattern, "/") && matchNames(names, parts)
}

// matchNames reports whether patterns match names one by one; "**" is any number of them.
func matchNames(patterns, names []string) bool {
	if len(patterns) == 0 {
		return len(names) == 0
	}
	if patterns[0] == "**" {
		return matchNames(patterns[1:], names) || len(names) > 0 && matchNames(patterns, names[1:])
	}
	if len(names) == 0 {
		return false
	}
	ok, err := path.Match(patterns[0], names[0])
	return ok && err == nil && matchNames(patterns[1:], names[1:])
}
