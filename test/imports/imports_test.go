// Package imports holds no code. Its test keeps the direction of imports: who may import whom, each with the reason, and
// what the packages that decide must never reach: a clock, a file, a socket, the environment, chance.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sluicegate/sluice/"

// row says what of this module a package may import outside its tests.
type row struct {
	pkg string
	may []string
	why string
}

// direction is the architecture: imports point down this table's levels, and never up or around.
var direction = []row{
	{"window", nil, "when: it knows neither files nor paths, so that schedules can be proved alone"},
	{"layout", nil, "where: it knows neither files nor times, so that rules can be proved alone"},
	{"meter", nil, "counts what a run takes; what there is to take it does not know"},
	{"flux/manifest", []string{"meter"}, "one YAML document: which others there are, and who reads it, is not its business"},
	{"flux/kustomize", []string{"flux/manifest", "meter"}, "what a directory makes, read and not built: it knows no cluster"},
	{"flux/giturl", nil, "which repository a URL names: it knows forges, and neither Flux nor files"},
	{"flux/graph", []string{"flux/giturl", "flux/kustomize", "flux/manifest", "meter"}, "where, by references: it knows files and Flux, and no file of ours"},
	{"flux/build", []string{"flux/graph", "flux/kustomize", "flux/manifest", "meter"}, "builds with kustomize in a child process; it knows entries and objects, and no releases"},
	{"docs/spec", nil, "the file's schema as bytes, beside the page that explains it"},
	{"config", []string{"flux/giturl", "flux/graph", "window", "layout", "docs/spec"}, "the one place that turns YAML into windows and rules"},
	{"config/edit", []string{"config"}, "changes the file's bytes; whether the file is valid it asks config, and who writes it is not its business"},
	{"flux/reach", []string{"config", "flux/graph", "flux/kustomize", "flux/manifest", "layout", "meter", "window"}, "what the graph means for releases; who reads and builds the trees is not its business"},
	{"escape", nil, "how somebody else's text is printed; where it comes from is not its business"},
	{"flux/survey", []string{"escape", "config", "flux/graph", "flux/manifest", "layout", "meter", "window"}, "drafts a file from a tree; who reads the tree and writes the file is not its business"},
	{"flux/render", []string{"escape", "plan", "config", "flux/graph", "flux/kustomize", "flux/manifest", "layout", "meter", "window"}, "manifests from file and tree; it writes what suspend runs by, and never runs it"},
	{"flux/analysis", []string{"config", "flux/build", "flux/graph", "flux/kustomize", "flux/manifest", "flux/reach", "flux/render", "layout", "meter", "plan"}, "asks the other packages of flux about trees; where these come from, and who starts processes, is not its business"},
	{"flux/revisions", []string{"config", "flux/analysis", "flux/build", "flux/graph", "flux/reach", "flux/render", "layout", "gitremote", "meter", "plan"}, "answers questions about commits; who decides by them is not its business"},
	{"plan", []string{"config", "layout", "window"}, "the nouns that all share carry the compiled policy"},
	{"gate", []string{"plan", "config", "layout", "window"}, "decides on pull requests from a snapshot alone"},
	{"promoter", []string{"plan", "config", "layout", "window"}, "decides on windowed branches from a snapshot alone"},
	{"bound", []string{"plan"}, "tells which reads are older than what was announced, from snapshots alone; who reads and when is not its business"},
	{"event", []string{"plan"}, "tells which writes an event makes void, from snapshots and actions alone; who is told of events, and who writes, is not its business"},
	{"clock", nil, "two clocks as values; who reads them is not its business"},
	{"budget", []string{"clock"}, "counts what GitHub grants and shares it out; who sends and who waits is not its business"},
	{"outbox", []string{"budget", "clock", "plan", "store", "config", "layout", "window"}, "what is owed and who writes next; it neither writes nor decides"},
	{"gitremote", []string{"meter", "plan"}, "speaks git; decides nothing, so it knows no policy"},
	{"forge/client", []string{"budget", "plan", "config", "layout", "window"}, "carries requests to GitHub; what is asked, and why, is not its business"},
	{"forge/look", []string{"forge/client", "budget", "plan", "config", "layout", "window"}, "what a look reads with; what it reads is not its business"},
	{"forge/branches", []string{"forge/client", "forge/look", "budget", "plan", "config", "layout", "window"}, "reads branches and moves them; pull requests are not its business"},
	{"forge", []string{"forge/branches", "forge/client", "forge/look", "budget", "plan", "config", "layout", "window"}, "speaks GitHub; fills snapshots, policies among them, and decides nothing"},
	{"person", []string{"forge/client", "budget", "plan", "config", "layout", "window"}, "does by a person's token what people tell sluice; what it means is not its business"},
	{"store", []string{"plan", "config", "layout", "window"}, "keeps what GitHub cannot be asked for"},
	{"health", []string{"budget", "forge/client", "plan", "store", "config", "layout", "window"}, "says what does not work; whom that concerns, and what is done about it, is not its business"},
	{"reconcile", []string{"plan", "bound", "event", "health", "budget", "clock", "outbox", "forge", "forge/branches", "forge/client", "store", "gitremote", "config", "layout", "window"}, "names the values that forge and store exchange; what it calls it declares itself, and how to decide is given to it"},
	{"listen", nil, "who may hold what of a port; it knows nothing of what is said over it"},
	{"webhook", []string{"listen", "plan", "store"}, "says whose connection has shown the secret; notes deliveries as the store's values; it neither looks nor decides"},
	{"login", []string{"person", "plan"}, "who is let in, and what GitHub lets them read; what they are shown is not its business"},
	{"web", []string{"login", "plan", "store", "config", "layout", "window"}, "shows what was decided and decides nothing"},
	{"api", []string{"person", "store", "report", "plan", "config", "config/edit", "meter", "window"}, "answers programs; what is decided and who may ask it is told"},
	{"flux/suspend", []string{"plan", "config", "window"}, "holds a cluster from inside; it shares the arithmetic of the windows, and the words for instants"},
	{"metrics", nil, "counts what it is given; what there is to count it does not know"},
	{"internal/standin", nil, "what a GitHub holds, over git: if it shared sluice's code, it would share its mistakes"},
	{"internal/standin/api", []string{"internal/standin"}, "how that GitHub is spoken to; what is answered follows from what it holds"},
	{"internal/standin/site", []string{"internal/standin"}, "what people see of it; it reads by the methods that tests read by"},
	{"deploy/flux", nil, "the sample repository as files, for the demo and for the test of its manifests"},
	{"report", []string{"config", "flux/analysis", "flux/graph", "flux/manifest", "flux/reach", "flux/survey", "gate", "layout", "meter", "plan", "window"}, "what people and programs are shown; who shows it, and how, is not its business"},
	{"service", []string{"api", "person", "event", "budget", "config", "flux/revisions", "forge", "forge/client", "gate", "listen", "login", "metrics", "plan", "promoter", "reconcile", "store", "web", "webhook"}, "the service, wired; where its settings come from is not its business"},
	{"cmd/sluice", []string{"*"}, "flags and printing: it alone knows everybody"},
	{"cmd/sluice-demo", []string{"escape", "service", "store", "plan", "deploy/flux", "internal/standin", "internal/standin/api", "internal/standin/site"}, "the service against the GitHub that stands in: the one program that has it"},
	{"internal/golden", nil, "what tests find against what stands in testdata"},
	{"internal/fluxtrees", nil, "small Flux repositories, for the tests of whatever reads one"},
	{"internal/race", nil, "whether the race detector is on"},
	{"internal/scenario", []string{"plan", "internal/golden"}, "what the tests of gate and promoter share"},
	{"test/githubapi", nil, "GitHub's own descriptions, against which sluice is held"},
	{"test/flux", nil, "Flux's own schemas and kustomize, against which the manifests of deploy/flux are held"},
	{"test/e2e", nil, "looks at the built binary from outside"},
	{"test/imports", nil, "this test"},
	{"test/attack", nil, "wires the service as cmd/sluice does, in its tests alone"},
	{"test/hour", nil, "wires the service as cmd/sluice does, in its tests alone"},
}

// library says where code of others may be imported; tests adds packages whose tests may, "*" is every one's. Code of others that no row
// names may be imported nowhere.
type library struct {
	prefix string
	in     []string
	tests  []string
	why    string
}

var libraries = []library{
	{"github.com/google/go-github/", []string{"forge/client", "person"}, nil, "GitHub's types stay behind the client, or everybody speaks GitHub"},
	{"github.com/bradleyfalzon/ghinstallation/", []string{"forge/client"}, nil, "the App's key is used in one place"},
	{"github.com/go-git/", []string{"gitremote", "internal/standin", "internal/standin/api", "flux/kustomize"}, nil, "git is spoken by gitremote, and by the GitHub that stands in; kustomize reads .sourceignore and .gitmodules by the code that Flux does"},
	{"github.com/prometheus/", []string{"metrics"}, []string{"metrics"}, "one package names the metrics; the others call functions that they declare themselves"},
	{"github.com/go-json-experiment/json", []string{"webhook", "forge/branches", "forge/client", "cmd/sluice"}, nil, "encoding/json as Go 1.27 has it, where much is read of which little is wanted, and where an answer is written in pieces; it goes when Go 1.27 is required"},
	{"github.com/gin-gonic/gin", []string{"webhook", "web"}, nil, "HTTP is what webhook and web are for"},
	{"golang.org/x/oauth2", []string{"login"}, nil, "GitHub's log-in, with its challenge"},
	{"github.com/gorilla/securecookie", []string{"login"}, nil, "what a browser keeps for us, sealed"},
	{"github.com/spf13/", []string{"cmd/sluice"}, []string{"cmd/sluice"}, "settings and flags are read once, at the start; viper folds case and must never see the repository's file"},
	{"modernc.org/sqlite", []string{"store"}, []string{"store", "test/e2e"}, "one database, one package; the end-to-end suite plays another process that locks or fills it"},
	{"github.com/pressly/goose/", []string{"store"}, nil, "one database, one package"},
	{"github.com/robfig/cron/", []string{"window"}, []string{"window"}, "its own Next is wrong around clock changes; nobody else may fall for it"},
	{"go.yaml.in/yaml/", []string{"config", "config/edit", "flux/manifest", "flux/render", "internal/scenario"}, []string{"*"}, "the repository's file is decoded strictly, in one place, and edited by where its nodes stand; manifest reads Kubernetes' objects, of which it wants little"},
	{"github.com/bmatcuk/doublestar/", nil, []string{"*"}, "layout matches paths; doublestar is its oracle"},
	{"sigs.k8s.io/kustomize/", []string{"flux/build"}, []string{"flux/graph", "test/attack", "test/e2e", "test/flux"}, "builds what Flux would apply; it runs git and asks the network for bases elsewhere, so what people propose it sees in a child process alone"},
	{"sigs.k8s.io/yaml", []string{"flux/build"}, nil, "reads and writes kustomization.yaml as kustomize does"},
	{"github.com/migueleliasweb/go-github-mock/", nil, []string{"forge"}, "single error answers for forge; all else runs against the stand-in"},
	{"github.com/pelletier/go-toml/", []string{"cmd/sluice"}, nil, "says where a settings file is wrong; viper does not"},
	{"golang.org/x/sync/", []string{"forge/look", "person"}, nil, "several reads at once, of which the first error ends the others"},
	{"golang.org/x/term", []string{"cmd/sluice"}, nil, "whether a person reads the log"},
	{"golang.org/x/sys/", []string{"store"}, []string{"test/e2e"}, "who else may read the database, and what the disk has left"},
	{"golang.org/x/crypto/", nil, []string{"gitremote"}, "a server of ssh, against which the client is held"},
	{"github.com/golang-jwt/", []string{"internal/standin/api"}, []string{"internal/standin/api", "test/e2e"}, "the GitHub that stands in checks what an App signs; sluice signs by ghinstallation"},
	{"github.com/getkin/kin-openapi/", []string{"test/githubapi"}, []string{"api"}, "GitHub's description of its REST API, and ours"},
	{"github.com/vektah/gqlparser/", []string{"internal/standin/api", "test/githubapi"}, nil, "the GitHub that stands in answers queries; sluice writes them out"},
	{"github.com/santhosh-tekuri/jsonschema/", nil, []string{"config", "test/flux"}, "schemas are for editors and for Flux; config decides by itself"},
	{"github.com/google/go-cmp/", nil, []string{"*"}, "it panics on what it was not told of: for tests"},
	{"k8s.io/", []string{"flux/suspend"}, nil, "Kubernetes' API is spoken in one place"},
	{"golang.org/x/tools/txtar", nil, []string{"*"}, "scenarios as files"},
}

// pkg is a package as `go list` tells it.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

// name is the package's path inside the module.
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// packages lists the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var out []pkg
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			if len(out) < 5 {
				t.Fatalf("go list found %d packages", len(out))
			}
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

func TestDirection(t *testing.T) {
	rows := map[string]row{}
	for _, r := range direction {
		if r.why == "" {
			t.Errorf("%s: no reason", r.pkg)
		}
		rows[r.pkg] = r
	}
	for _, p := range packages(t) {
		r, ok := rows[p.name()]
		if !ok {
			t.Errorf("%s has no row: say what it may import, and why", p.name())
			continue
		}
		for _, bad := range r.wrong(p.Imports) {
			t.Errorf("%s must not import %s: %s", p.name(), bad, r.why)
		}
	}
}

// wrong is what of this module among imports the row does not allow. Nothing outside tests imports what is for tests.
func (r row) wrong(imports []string) []string {
	var out []string
	for _, path := range imports {
		name, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		forTests := strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/")
		if !slices.Contains(r.may, name) && (forTests || !slices.Contains(r.may, "*")) {
			out = append(out, name)
		}
	}
	return out
}

func TestLibraries(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") || strings.HasPrefix(path, module) {
				continue
			}
			i := slices.IndexFunc(libraries, func(l library) bool { return strings.HasPrefix(path, l.prefix) })
			if i < 0 {
				t.Errorf("%s imports %s, which has no row: say who may, and why", p.name(), path)
				continue
			}
			used[libraries[i].prefix] = true
		}
		for _, lib := range libraries {
			for _, bad := range lib.wrong(p) {
				t.Errorf("%s must not import %s: %s", p.name(), bad, lib.why)
			}
		}
	}
	for _, lib := range libraries {
		if !used[lib.prefix] {
			t.Errorf("nobody imports %s any more", lib.prefix)
		}
	}
}

// wrong is what a package imports of the library where it must not. Whoever may import it may do so in tests too.
func (l library) wrong(p pkg) []string {
	var out []string
	if strings.HasPrefix(p.name(), "internal/") { // all of it is for tests
		p.Imports, p.TestImports = nil, slices.Concat(p.Imports, p.TestImports)
	}
	for _, path := range p.Imports {
		if strings.HasPrefix(path, l.prefix) && !slices.Contains(l.in, p.name()) {
			out = append(out, path)
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		may := slices.Concat(l.in, l.tests)
		if strings.HasPrefix(path, l.prefix) && !slices.Contains(may, p.name()) && !slices.Contains(may, "*") {
			out = append(out, path+" in tests")
		}
	}
	return out
}

// TestRules: the rules above catch what they are for.
func TestRules(t *testing.T) {
	gate := row{"gate", []string{"plan"}, "why"}
	if bad := gate.wrong([]string{"time", module + "plan", module + "forge", module + "test/githubapi"}); !slices.Equal(bad, []string{"forge", "test/githubapi"}) {
		t.Error(bad)
	}
	all := row{"cmd/sluice", []string{"*"}, "why"}
	if bad := all.wrong([]string{module + "forge", module + "test/e2e"}); !slices.Equal(bad, []string{"test/e2e"}) {
		t.Error(bad)
	}
	lib := library{"x/y/", []string{"a"}, []string{"b"}, "why"}
	for name, want := range map[string]int{"a": 0, "b": 1, "c": 2} {
		p := pkg{ImportPath: module + name, Imports: []string{"x/y/z", "x/z"}, XTestImports: []string{"x/y/w"}}
		if bad := lib.wrong(p); len(bad) != want {
			t.Errorf("%s: %v", name, bad)
		}
	}
}
