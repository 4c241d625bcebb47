package forge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// Of what is merged GitHub may demand a number of reviews, or one by the code owners of what changes. Who owns what stands in a file of the
// base, which is read where nothing else demands a review of everything: it says whether one person alone can change the rules.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners

// ownerFiles are where GitHub looks for it; the first that is there counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// demand is which reviews the rules of a base demand.
type demand struct {
	count  int  // by anybody who may write
	owners bool // by the code owners of what changes
}

// and is what two demands come to.
func (d demand) and(e demand) demand { return demand{max(d.count, e.count), d.owners || e.owners} }

// addReviewed adds what the rules of a base, as they were read just now, mean for reviews. It decides nothing but a warning: what could not be
// read for it spoils nothing else.
func (l *observation) addReviewed(ctx context.Context, name plan.Branch, r rules) (rules, error) {
	d := r.demand
	if l.classic(name) {
		of := l.bases[name].RefUpdateRule
		d = d.and(demand{of.RequiredApprovingReviewCount, of.RequiresCodeOwnerReviews})
	}
	var err error
	if r.reviewed, err = l.reviewed(ctx, name, d); err != nil {
		if endsLook(ctx, err) {
			return r, fmt.Errorf("read the code owners of %s: %w", name, err)
		}
		r.reviewed = plan.ReviewsUnknown
		l.log.Warn("CODEOWNERS could not be read", "base", name, "error", err)
	}
	l.f.rules.put(keyOf(l.repo), baseKey{keyOf(l.repo), name}, r)
	return r, nil
}

// reviewed is what a demand amounts to on a base as it stands.
func (l *observation) reviewed(ctx context.Context, name plan.Branch, d demand) (plan.ReviewDemand, error) {
	switch raw := l.bases[name]; {
	case d.count > 0:
		return plan.ReviewsOfAll, nil
	case !d.owners || raw == nil || raw.Target == nil:
		return plan.ReviewsOfNone, nil
	default:
		return l.readOwners(ctx, raw.Target.Oid)
	}
}

// readOwners reads who owns what at a commit. That it has no such file is known only beside its tree.
func (l *observation) readOwners(ctx context.Context, at string) (plan.ReviewDemand, error) {
	names := []string{treeOf(plan.SHA(at))}
	for _, file := range ownerFiles {
		names = append(names, at+":"+file)
	}
	named, err := l.askNamed(ctx, objectsQuery(l.repo.Owner, l.repo.Name, names, objectText))
	if err == nil {
		err = shown(named, "o0")
	}
	if err != nil {
		return plan.ReviewsUnknown, err
	}
	for i := range ownerFiles {
		o, err := find[rawObject](named, fmt.Sprintf("o%d", i+1))
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
