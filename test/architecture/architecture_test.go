// Package architecture tests the rules that hold across all packages: who may import
// whom, and that every package says what it is for.
package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mcp-workbench/mcp-workbench/"

// folders are the folders of the program from the bottom up. A package imports packages of lower folders, and of its own
// folder those that stand before it.
var folders = []struct {
	name     string
	packages []string
}{
	{"docs", []string{""}},
	{"internal/base", []string{"toolbox", "secret", "hidden", "safefile", "stored", "linediff", "journal", "tty", "webclient"}},
	{"internal/mcp", []string{"wire", "protocol", "tracecontext", "hops", "era", "localclient"}},
	// Below the configuration, which names the built-in servers and checks conditions.
	{"internal/servers", []string{"builtin"}},
	{"internal/gateway", []string{"condition"}},
	{"internal/setup", []string{"jsonc", "config", "trust", "clients", "configwrite", "importer"}},
	{"internal/access", []string{"identity", "httpauth", "keyring", "credentials", "connect"}},
	{"internal/servers", []string{"sandbox", "process", "forms", "downstream", "oauth", "catalog", "search", "fleet"}},
	{"internal/gateway", []string{"subject", "call", "policy", "ledger", "approval", "elicitation", "metatool", "tokencost", "passthrough", "front"}},
	{"internal/observe", []string{"meter", "recording", "history", "exposition", "telemetry", "audit"}},
	{"internal/sharing", []string{"runtimedir", "control", "relay", "daemon"}},
	{"internal/app", []string{"", "loader", "service"}},
	{"internal/terminal", []string{"browser", "login", "arguments", "console", "policycheck", "changes", "completion", "lockdiff", "overview", "approve", "top", "pastcalls", "uninstall", "doctor"}},
	{"internal/web", []string{"page"}},
	{"internal/cli", []string{""}},
	{"cmd/mcp-workbench", []string{""}},
}

// positions returns the place of each package in the order that imports follow downwards.
func positions() map[string]int {
	all := make(map[string]int)
	for _, folder := range folders {
		for _, name := range folder.packages {
			all[path.Join(folder.name, name)] = len(all)
		}
	}
	return all
}

// isOutside reports whether a package stands apart: it holds tests, or what tests use.
func isOutside(name string) bool { return strings.HasPrefix(name, "test/") }

func TestImportsPointDownwards(t *testing.T) {
	position := positions()
	for name, imports := range packages(t) {
		if isOutside(name) {
			continue
		}
		own, ok := position[name]
		if !ok {
			t.Errorf("%s is in no layer: add it to the table of this test and to docs/architecture.md", name)
			continue
		}
		for _, imported := range imports {
			if lower, ok := position[imported]; !ok || lower >= own {
				t.Errorf("%s imports %s, which is not in a lower layer", name, imported)
			}
		}
	}
}

func TestEveryLayerHasItsPackages(t *testing.T) {
	found := packages(t)
	for name := range positions() {
		if _, ok := found[name]; !ok {
			t.Errorf("the table names %s, which does not exist", name)
		}
	}
}

// packages returns the packages of the module with what each imports from the module.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	eachFile(t, func(name, file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		imports := found[name]
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inside, ok := strings.CutPrefix(imported, module); ok {
				imports = append(imports, inside)
			}
		}
		found[name] = imports
	})
	if len(found) == 0 {
		t.Fatal("no packages were found")
	}
	return found
}

func TestEveryPackageHasItsSentence(t *testing.T) {
	documented := make(map[string]bool)
	eachFile(t, func(name, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		begin := "Package " + strings.TrimSuffix(parsed.Name.Name, "_test") + " "
		if parsed.Name.Name == "main" {
			begin = "Command " + path.Base(name) + " "
		}
		sentence, _, _ := strings.Cut(parsed.Doc.Text(), "\n\n")
		documented[name] = documented[name] || strings.HasPrefix(sentence, begin) && strings.Contains(sentence, ".")
	})
	for name, ok := range documented {
		if !ok {
			t.Errorf("%s does not say in a first sentence what it is for", name)
		}
	}
}

// eachFile calls visit for each Go file of the module with the name of its package.
func eachFile(t *testing.T, visit func(name, file string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && file != root && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata" || base == "tools" || base == "bin") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(base, ".go") {
			return nil
		}
		name, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal("this test must run in the repository: ", err)
	}
}

// maxLines is how long a file of the program may be.
const maxLines = 400

func TestFilesAreShort(t *testing.T) {
	eachFile(t, func(name, file string) {
		if isOutside(name) || strings.HasSuffix(file, "_test.go") {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it", file, n, maxLines)
		}
	})
}
