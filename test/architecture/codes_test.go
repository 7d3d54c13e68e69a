package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/docs"
)

// codeFile declares all codes of errors.
const codeFile = "internal/base/toolbox/code.go"

func TestEveryCodeIsExplainedAndUsed(t *testing.T) {
	codes := declaredCodes(t)
	used := make(map[string]bool)
	eachSource(t, func(_, file string, parsed *ast.File) {
		if strings.HasSuffix(file, codeFile) {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selected, ok := n.(*ast.SelectorExpr); ok && isNamed(selected.X, "toolbox") {
				used[selected.Sel.Name] = true
			}
			return true
		})
	})
	explained := make(map[string]bool)
	var order []string
	for _, section := range docs.Errors() {
		if explained[section.Code] {
			t.Errorf("docs/errors.md explains %s twice", section.Code)
		}
		explained[section.Code] = true
		order = append(order, section.Code)
		if !slices.ContainsFunc(codes, func(c code) bool { return c.text == section.Code }) {
			t.Errorf("docs/errors.md explains %s, which is no code of %s", section.Code, codeFile)
		}
		if section.Text == "" {
			t.Errorf("docs/errors.md says nothing about %s", section.Code)
		}
	}
	if !slices.IsSorted(order) {
		t.Error("the sections of docs/errors.md are not in alphabetical order")
	}
	for _, c := range codes {
		if !explained[c.text] {
			t.Errorf("%s has no section in docs/errors.md", c.text)
		}
		if !used[c.name] {
			t.Errorf("toolbox.%s is not used by anything", c.name)
		}
	}
}

// Texts of the built-in servers go to MCP clients, which do not know our codes.
func TestEveryErrorForPeopleHasACode(t *testing.T) {
	found := 0
	eachSource(t, func(name, file string, parsed *ast.File) {
		if name == "internal/servers/builtin" {
			return
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !isErrorForPeople(name, literal.Type) {
				return true
			}
			found++
			if !slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
				pair, ok := e.(*ast.KeyValueExpr)
				return ok && isNamed(pair.Key, "Code")
			}) {
				t.Errorf("%s has an error without a Code: give it one of %s", file, codeFile)
			}
			return true
		})
	})
	if found == 0 {
		t.Error("no errors were found")
	}
}

// isErrorForPeople reports that a type is toolbox.Error, or the error of a configuration.
func isErrorForPeople(name string, kind ast.Expr) bool {
	if selected, ok := kind.(*ast.SelectorExpr); ok {
		return selected.Sel.Name == "Error" && (isNamed(selected.X, "toolbox") || isNamed(selected.X, "config"))
	}
	return (name == "internal/base/toolbox" || name == "internal/setup/config") && isNamed(kind, "Error")
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// code is a constant: its name in Go, and what people see.
type code struct{ name, text string }

func declaredCodes(t *testing.T) []code {
	t.Helper()
	var codes []code
	eachSource(t, func(_, file string, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !isNamed(spec.Type, "Code") {
				return true
			}
			if !strings.HasSuffix(file, codeFile) {
				t.Errorf("%s declares %s, which belongs into %s", file, spec.Names[0].Name, codeFile)
			}
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code{spec.Names[0].Name, text})
			return true
		})
	})
	if len(codes) == 0 {
		t.Fatal("no codes were found")
	}
	if !slices.IsSortedFunc(codes, func(a, b code) int { return strings.Compare(a.text, b.text) }) {
		t.Errorf("the codes of %s are not in alphabetical order", codeFile)
	}
	return codes
}

// eachSource calls visit for each file of the program that is no test.
func eachSource(t *testing.T, visit func(name, file string, parsed *ast.File)) {
	t.Helper()
	eachFile(t, func(name, file string) {
		if strings.HasSuffix(file, "_test.go") || isOutside(name) {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		visit(name, file, parsed)
	})
}
