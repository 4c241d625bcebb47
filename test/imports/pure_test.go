package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pure is the packages that only compute: what they say follows from what they are given. Each has all that it may import, this module's
// packages apart (see direction). Nothing else is allowed: no clock, no file, no socket, no environment, no chance.
var pure = map[string]string{
	"window":         "archive/zip bytes cmp embed errors fmt io/fs iter math/bits regexp slices sort strconv strings sync sync/atomic time github.com/robfig/cron/v3",
	"layout":         "fmt math path slices strconv strings sync unicode unicode/utf8",
	"flux/manifest":  "bytes cmp crypto/sha256 encoding/base64 encoding/hex encoding/json errors fmt io iter maps path regexp regexp/syntax slices strconv strings text/template/parse unicode unicode/utf8 go.yaml.in/yaml/v3",
	"flux/kustomize": "bytes cmp errors fmt io io/fs maps path reflect regexp slices strings github.com/go-git/gcfg github.com/go-git/go-git/v5/plumbing/format/gitignore",
	"flux/giturl":    "cmp path regexp strconv strings",
	"flux/graph":     "cmp fmt io/fs maps path regexp slices strconv strings",
	"flux/analysis":  "bytes cmp context errors fmt io io/fs maps slices strings time",
	"config":         "bytes cmp crypto/sha256 errors fmt io path regexp slices strconv strings time unicode/utf8 go.yaml.in/yaml/v3",
	"config/edit":    "bytes cmp encoding/json errors fmt maps reflect regexp slices strings go.yaml.in/yaml/v3",
	"flux/reach":     "cmp fmt maps path slices strconv strings",
	"flux/survey":    "cmp errors fmt maps path regexp slices strings unicode unicode/utf8",
	"plan":           "cmp fmt iter maps slices strconv strings time unicode unicode/utf8",
	"bound":          "iter maps slices time",
	"event":          "slices",
	"gate":           "cmp fmt maps math path slices strings time",
	"report":         "cmp encoding/json errors fmt path slices strings time",
	"promoter":       "cmp fmt maps path slices strings time unicode/utf8",
}

// parts is what a pure package may use of packages that reach further than to compute: their functions, methods and variables. Types and
// constants do nothing.
var parts = map[string]string{
	// No Now, no Local, no LoadLocation: the instant and its zone are arguments.
	"time": "Date FixedZone LoadLocationFromTZData Parse ParseDuration UTC Unix Location.String " +
		"Duration.Abs Duration.Hours Duration.String Duration.Truncate " +
		"Time.Add Time.After Time.Before Time.Compare Time.Date Time.Equal Time.Format Time.Hour Time.In Time.IsZero Time.Minute Time.Nanosecond " +
		"Time.Second Time.Sub Time.Truncate Time.UTC Time.Unix Time.Weekday Time.Year Time.Zone Time.ZoneBounds",
	// What reads an archive reads it from memory.
	"archive/zip": "File Name NewReader",
	// What writes goes to a buffer.
	"fmt": "Errorf Fprintf Sprintf",
	"io":  "EOF LimitReader ReadAll",
}

// load parses and checks a package's files outside its tests against the compiled packages that it imports.
func load(t *testing.T, compiled map[string]string, dir string, names []string) (*token.FileSet, []*ast.File, *types.Info, error) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	_, err := (&types.Config{Importer: from}).Check(dir, fset, files, info)
	return fset, files, info, err
}

// exports is where the compiler left what it knows of each package that some import.
func exports(t *testing.T, of ...string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, of...)...)
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	out := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p struct{ ImportPath, Export string }
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out[p.ImportPath] = p.Export
	}
}

// TestPure: a package that only computes imports and uses what its row names, and all of that: a permission that nobody needs goes.
func TestPure(t *testing.T) {
	compiled, used, found := exports(t, "./config/edit", "./gate", "./promoter", "./report", "./flux/survey"), map[string]map[string]bool{}, 0
	for _, p := range packages(t) {
		row, ok := pure[p.name()]
		if !ok {
			continue
		}
		found++
		for _, path := range foreign(row, p.Imports) {
			t.Errorf("%s must not import %s: it only computes", p.name(), path)
		}
		for _, path := range strings.Fields(row) {
			if !slices.Contains(p.Imports, path) {
				t.Errorf("%s imports %s no more: its permission goes", p.name(), path)
			}
		}
		fset, _, info, err := load(t, compiled, p.Dir, p.GoFiles)
		if err != nil {
			t.Fatal(err)
		}
		for path, names := range reached(info) {
			for name, at := range names {
				if !slices.Contains(strings.Fields(parts[path]), name) {
					t.Errorf("%s: %s.%s: %s only computes", fset.Position(at), path, name, p.name())
				}
				if used[path] == nil {
					used[path] = map[string]bool{}
				}
				used[path][name] = true
			}
		}
	}
	if found != len(pure) {
		t.Errorf("%d of %d packages are there", found, len(pure))
	}
	for path, names := range parts {
		for _, name := range strings.Fields(names) {
			if !used[path][name] {
				t.Errorf("nobody uses %s.%s any more: its permission goes", path, name)
			}
		}
	}
}

// foreign is what a package imports that its row does not name, this module's packages apart.
func foreign(row string, imports []string) []string {
	may := strings.Fields(row)
	return slices.DeleteFunc(slices.Clone(imports), func(path string) bool {
		return strings.HasPrefix(path, module) || slices.Contains(may, path)
	})
}

// reached is what code uses of the packages of parts, by whatever name: functions, methods and variables, and where.
func reached(info *types.Info) map[string]map[string]token.Pos {
	out := map[string]map[string]token.Pos{}
	for id, o := range info.Uses {
		if o.Pkg() == nil {
			continue
		}
		path := o.Pkg().Path()
		if _, ok := parts[path]; !ok {
			continue
		}
		name := o.Name()
		switch o := o.(type) {
		case *types.Func:
			name = nameOf(o)
		case *types.Var:
		default:
			continue
		}
		if out[path] == nil {
			out[path] = map[string]token.Pos{}
		}
		out[path][name] = id.Pos()
	}
	return out
}

// nameOf is a function's name, or a method's after its type's: a Time's After compares, the package's waits.
func nameOf(f *types.Func) string {
	receiver := f.Signature().Recv()
	if receiver == nil {
		return f.Name()
	}
	on := receiver.Type()
	if p, ok := on.(*types.Pointer); ok {
		on = p.Elem()
	}
	if named, ok := on.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}

// TestReached: the clock is found whatever it is called.
func TestReached(t *testing.T) {
	compiled := exports(t, "time")
	for name, c := range map[string]struct{ code, want string }{
		"by another name": {"import clock \"time\"\nvar _ = clock.Now()", "Now"},
		"a dot":           {"import . \"time\"\nvar _ = Now()", "Now"},
		"a method":        {"import \"time\"\nfunc f(t time.Time) time.Time { return t.Local() }", "Time.Local"},
		"of a call":       {"import \"time\"\nvar _ = time.Unix(0, 0).Local()", "Time.Local"},
		"a value":         {"import \"time\"\nvar _ = time.Local", "Local"},
		"as a value":      {"import \"time\"\nvar now = time.Now", "Now"},
		"an embedded one": {"import \"time\"\ntype x struct{ time.Time }\nfunc f(t x) time.Time { return t.Local() }", "Time.Local"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n"+c.code+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, info, err := load(t, compiled, dir, []string{"x.go"})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(maps.Keys(reached(info)["time"]))
			if !slices.Contains(got, c.want) || slices.Contains(strings.Fields(parts["time"]), c.want) {
				t.Errorf("found %v, want %s, which nobody may", got, c.want)
			}
		})
	}
}

// TestForeign: no package that only computes may import chance, however harmless its package sounds, nor a module that its row does not name.
func TestForeign(t *testing.T) {
	for name, row := range pure {
		for _, path := range []string{
			"hash/maphash", "math/rand", "math/rand/v2", "crypto/rand", "os", "net/http", "unsafe", "github.com/bmatcuk/doublestar/v4",
			"github.com/robfig/cron", "go.yaml.in/yaml/v4", "golang.org/x/sys/unix",
		} {
			may := strings.Fields(row)[0]
			if got := foreign(row, []string{may, module + "plan", path}); !slices.Equal(got, []string{path}) {
				t.Errorf("%s imports %v that it must not, want %s", name, got, path)
			}
		}
	}
}
