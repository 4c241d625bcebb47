package revisions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// said is an object; fields are what it says beside its kind, namespace and name.
func said(kind, namespace, name, fields string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: %s, namespace: %s%s\n", kind, name, namespace, fields)
}

// toldBy is what a pull request with something windowed is told, and what it breaks.
func toldBy(t *testing.T, k *Keeper, tip, before, head plan.SHA) string {
	t.Helper()
	s := k.Answered(t.Context(), observed(t, 1, tip, before, map[plan.SHA]string{head: "apps/app001-rw/o00.yaml"}), time.Now())
	found := s.Pulls[0].References
	if found == nil {
		t.Fatalf("%+v", s.Pulls[0].Unread)
	}
	var out []string
	for _, n := range found.Told {
		out = append(out, n.Code+": "+string(n.Says))
	}
	if found.Broken != "" {
		out = append(out, "broken: "+found.Broken)
	}
	return strings.Join(out, "\n")
}

// TestStale: a held pull request is told of what changed live since it began and belongs to what it changes, and of nothing else.
func TestStale(t *testing.T) {
	const held, live, listed, other = "apps/app001-rw/o00.yaml", "apps/app000/o00.yaml", "apps/app000/o01.yaml", "apps/app001-rw/o01.yaml"
	web := said("Deployment", "web", "web", "}\nspec: {template: {spec: {volumes: [{name: c, configMap: {name: settings}}], serviceAccountName: runner}}}")
	settings := said("ConfigMap", "web", "settings", "}\ndata: {a: b}")
	labelled := func(kind, namespace, name, value string) string {
		return said(kind, namespace, name, ", labels: {app.kubernetes.io/name: "+value+"}}")
	}
	role := func(verb string) string {
		return labelled("Role", "web", "r", "shop") + "rules: [{verbs: [" + verb + "]}]\n"
	}
	o := newOrigin(t, 2, 2)
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	for name, c := range map[string]struct {
		level, file string // where the base changes
		mine, since string
		want        string
	}{
		"what it refers to":      {"warn", listed, web, strings.Replace(settings, "a: b", "a: c", 1), "stale: changed live since this began: ConfigMap web/settings in apps/app000/o01.yaml, to which Deployment web/web refers; bring the branch"},
		"what refers to it":      {"warn", live, settings, web, "stale: changed live since this began: Deployment web/web in apps/app000/o00.yaml refers to ConfigMap web/settings; "},
		"an account":             {"warn", live, said("ServiceAccount", "web", "runner", "}"), web, "stale: changed live since this began: Deployment web/web in "},
		"one application":        {"warn", live, labelled("Service", "web", "a", "shop"), labelled("Ingress", "web", "b", "shop"), "stale: changed live since this began: Ingress web/b in apps/app000/o00.yaml is of the application of Service web/a; "},
		"another application":    {"warn", live, labelled("Service", "web", "a", "shop"), labelled("Ingress", "web", "b", "blog"), ""},
		"another namespace":      {"warn", live, web, said("ConfigMap", "mail", "settings", "}"), ""},
		"another name":           {"warn", live, web, said("ConfigMap", "web", "others", "}"), ""},
		"another kind":           {"warn", live, web, said("Service", "web", "settings", "}"), ""},
		"what is windowed, too":  {"warn", other, web, settings, ""},
		"off":                    {`"off"`, live, web, settings, ""},
		"hold":                   {"hold", live, web, settings, "broken: changed live since this began: ConfigMap web/settings in "},
		"beside an object of it": {"warn", listed, web, settings + "---\n" + said("Role", "web", "s", "}"), ""},
		"an object of it":        {"warn", listed, web, strings.Replace(settings, "a: b", "a: c", 1), "stale: changed live since this began: ConfigMap web/settings in apps/app000/o01.yaml, "},
		"what no spec says":      {"warn", listed, labelled("Service", "web", "a", "shop"), role("list"), "stale: changed live since this began: Role web/r in apps/app000/o01.yaml is of "},
		"no objects":             {"warn", live, web, "settings: web\n", ""},
		"no file":                {"warn", "apps/app000/gone.yaml", web, settings, "stale: "}, // it is listed nowhere, and a rule makes it live
	} {
		t.Run(name, func(t *testing.T) {
			standing := role("get")
			if c.mine == web { // else it may make them, and nobody makes an object twice
				standing = settings + "---\n" + standing
			}
			before := o.commit("base", "main", map[string]string{config.File: rules + "consistency: {stale: " + c.level + "}\n", listed: standing})
			head := o.commit("topic", string(before), map[string]string{held: c.mine})
			told := func(tip plan.SHA) string { return toldBy(t, k, tip, before, head) }
			if got := told(before); got != "" {
				t.Errorf("nothing changed: %s", got)
			}
			tip := o.commit("base", string(before), map[string]string{c.file: c.since})
			for range 2 { // what is kept says it, too
				if got := told(tip); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
					t.Errorf("told %q, want %q", got, c.want)
				}
			}
			if c.want == "" {
				return
			}
			head = o.commit("topic", string(tip), map[string]string{held: c.mine}) // brought up to date
			before = tip
			if got := told(tip); got != "" {
				t.Errorf("up to date: %s", got)
			}
		})
	}
}

// TestStaleOfABranch: what branches alone hold is merged at once, and told nothing.
func TestStaleOfABranch(t *testing.T) {
	const path = "apps/app001-rw/o00.yaml"
	web := said("Deployment", "web", "web", "}\nspec: {serviceName: web}")
	o := newOrigin(t, 2, 1)
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	file := strings.Replace(rules, "  entrypoints:", "  rules: [{paths: ["+path+"], release: {branches: [rw/a]}}]\n  entrypoints:", 1) +
		"branches: [{name: rw/a, from: main, window: weekend}]\nconsistency: {stale: hold}\n"
	before := o.commit("main", "main", map[string]string{config.File: file})
	head := o.commit("topic", "main", map[string]string{path: web})
	tip := o.commit("main", "main", map[string]string{"apps/app000/o00.yaml": said("Service", "web", "web", "}")})
	if got := toldBy(t, k, tip, before, head); got != "" {
		t.Errorf("told %q", got)
	}
}

// TestUncompared: what is too much to be compared is said to be.
func TestUncompared(t *testing.T) {
	o := newOrigin(t, 2, 1)
	before := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	head := o.commit("topic", "main", map[string]string{"apps/app001-rw/o00.yaml": object("app001-rw", 0, "y")})
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("docs/%d.yaml", i)] = object("docs", i, "x")
	}
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	large := strings.Repeat("# text\n", 140_000) // less than a file may have
	const much = "stale: more changed since this began than is compared with it: bring the branch up to date"
	for i, more := range []map[string]string{
		files, {"docs/more.yaml": object("docs", 0, "x")}, // as many as are compared, and one more
		{"docs/objects.yaml": strings.Repeat("a: b\n---\n", 2001)}, {"docs/text.yaml": strings.Repeat("# text\n", 700_000)}, // which the mirror has not
		{"docs/1.yaml": large, "docs/2.yaml": large, "docs/3.yaml": large, "docs/4.yaml": large, "docs/5.yaml": large},
	} {
		from, want := "main", much
		if i == 0 {
			want = ""
		}
		if i > 1 {
			from = string(before)
		}
		tip := o.commit("main", from, more)
		if got := toldBy(t, k, tip, before, head); got != want {
			t.Errorf("%d: told %q, want %q", i, got, want)
		}
	}
}

// TestUnenforced: a pull request that windows an entry point, where nothing holds what is merged, is told so.
func TestUnenforced(t *testing.T) {
	o := newOrigin(t, 2, 1)
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	point := func(name string) map[string]string {
		text := o.git("", "-C", o.dir, "show", "main:clusters/one/app001-rw.yaml")
		return map[string]string{"clusters/one/app002.yaml": strings.NewReplacer("name: app001-rw,", "name: "+name+",", "./apps/app001-rw", "./apps/two").Replace(text), "apps/two/a.yaml": object("two", 0, "x")}
	}
	const says = "windowed here, but what is merged to main arrives at once, because mode: observe holds no pull request: flux-system/app002-rw of one"
	for _, c := range []struct{ file, name, want string }{
		{"mode: observe\n", "app002-rw", "enforced: " + says},
		{"mode: observe\n", "app002", ""},
		{"pull_requests: {window: status}\n", "app002-rw", "enforced: " + strings.Replace(says, "mode: observe holds no pull request", "pull_requests.window: status holds none unless the branch requires sluice's status", 1)},
		{"", "app002-rw", ""},
		{"mode: observe\nconsistency: {enforced: hold}\n", "app002-rw", "broken: " + says},
		{"mode: observe\nconsistency: {enforced: \"off\"}\n", "app002-rw", ""},
	} {
		tip := o.commit("base", "main", map[string]string{config.File: rules + c.file})
		head := o.commit("topic", string(tip), point(c.name))
		if got := toldBy(t, k, tip, tip, head); got != c.want {
			t.Errorf("%q, %s: told %q, want %q", c.file, c.name, got, c.want)
		}
	}
}

// TestUnenforcedByItsSource: one that its windowed branch held reads main by the change, where nothing holds what is merged.
func TestUnenforcedByItsSource(t *testing.T) {
	o := newOrigin(t, 2, 1)
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	const file = "clusters/one/app001-rw.yaml"
	follows, sync := o.git("", "-C", o.dir, "show", "main:"+file), o.git("", "-C", o.dir, "show", "main:clusters/one/flux-system/gotk-sync.yaml")
	source, _, _ := strings.Cut(strings.NewReplacer("name: flux-system,", "name: held,", "branch: main", "branch: held").Replace(sync), "---")
	tip := o.commit("base", "main", map[string]string{
		config.File:              rules + "branches:\n  - {name: held, from: main, window: weekend}\nmode: observe\n",
		"clusters/one/held.yaml": source, file: strings.Replace(follows, "name: flux-system}", "name: held}", 1),
	})
	want := "enforced: windowed here, but what is merged to main arrives at once, because mode: observe holds no pull request: flux-system/app001-rw of one"
	if got := toldBy(t, k, tip, tip, o.commit("topic", string(tip), map[string]string{file: follows + "\n"})); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := toldBy(t, k, tip, tip, o.commit("other", string(tip), map[string]string{"apps/app001-rw/o00.yaml": object("app001-rw", 0, "new")})); got != "" {
		t.Errorf("told %q of what stays on its branch", got)
	}
}
