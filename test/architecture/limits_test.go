package architecture

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/limits.md")

const limitsPage = "../../docs/limits.md"

const limitsHead = `# Limits

Every wait has a bound and every buffer has a limit. This page lists the constants that set them, by package. The
[configuration](configuration.md) can change some: timeouts, message size, result size, sessions.

<!-- Written by ` + "`go test ./test/architecture -run TestLimits -update`" + ` from the comments of the constants. -->
`

// isLimit matches the names of constants that bound something.
var isLimit = regexp.MustCompile(`^(max|longest|most)[A-Z]|(Time|Limit|Patience|Wait|Queue|Budget|TTL)$`)

// limit is a constant that bounds something.
type limit struct{ folder, name, value, comment string }

func TestLimits(t *testing.T) {
	want := limitsHead
	folder := ""
	for _, l := range limits(t) {
		if l.comment == "" {
			t.Errorf("%s: %s needs a comment that says what it bounds, and what happens beyond it", l.folder, l.name)
		}
		if l.folder != folder {
			folder = l.folder
			want += "\n## " + folder + "\n\n| constant | value | |\n| --- | --- | --- |\n"
		}
		want += fmt.Sprintf("| `%s` | %s | %s |\n", l.name, l.value, l.comment)
	}
	if *update {
		if err := os.WriteFile(limitsPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(limitsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/limits.md differs from the source: run 'go test ./test/architecture -run TestLimits -update'")
	}
}

// limits returns all limits of the program, from the client down.
func limits(t *testing.T) (all []limit) {
	constants := make(map[string]ast.Expr) // by package and name
	var found []limit
	expressions := make(map[limit]ast.Expr)
	eachFile(t, func(folder, file string) {
		if isOutside(folder) || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, value := range spec.Values {
					name := spec.Names[i].Name
					constants[parsed.Name.Name+"."+name] = value
					if isLimit.MatchString(name) || mentions(value, "time") {
						l := limit{folder: folder, name: name, comment: commentOf(group, spec, name)}
						found, expressions[l] = append(found, l), value
					}
				}
			}
		}
	})
	position := positions()
	slices.SortStableFunc(found, func(a, b limit) int { return position[b.folder] - position[a.folder] })
	for _, l := range found {
		value := evaluate(constants, path.Base(l.folder), expressions[l])
		switch {
		case value.Kind() != constant.Int && value.Kind() != constant.Float:
			continue // named like a limit, but a string or a flag
		case isDuration(constants, path.Base(l.folder), expressions[l]):
			nanoseconds, _ := constant.Int64Val(constant.ToInt(value))
			l.value = duration(time.Duration(nanoseconds))
		default:
			n, _ := constant.Int64Val(constant.ToInt(value))
			l.value = number(constants, path.Base(l.folder), n, expressions[l])
		}
		all = append(all, l)
	}
	if len(all) < 100 {
		t.Fatalf("found only %d limits: are they written in another form?", len(all))
	}
	return all
}

// commentOf returns what the source says of a constant, without its name. The comment of a group counts for a group of
// one only.
func commentOf(group *ast.GenDecl, spec *ast.ValueSpec, name string) string {
	text := spec.Doc.Text()
	if text == "" {
		text = spec.Comment.Text()
	}
	if text == "" && len(group.Specs) == 1 {
		text = group.Doc.Text()
	}
	text = strings.Join(strings.Fields(text), " ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, name+" "), "is ")
	return strings.ReplaceAll(strings.TrimSuffix(text, "."), "|", `\|`)
}

// mentions reports whether an expression has a name of the package in it.
func mentions(expression ast.Expr, name string) (found bool) {
	ast.Inspect(expression, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if ok {
			id, isIdent := selector.X.(*ast.Ident)
			found = found || isIdent && id.Name == name
		}
		return !found
	})
	return found
}

// evaluate computes a constant of ints, durations and other constants; it is unknown if there is anything else in it.
func evaluate(constants map[string]ast.Expr, in string, expression ast.Expr) constant.Value {
	switch e := expression.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return evaluate(constants, in, e.X)
	case *ast.Ident:
		if other, ok := constants[in+"."+e.Name]; ok {
			return evaluate(constants, in, other)
		}
	case *ast.SelectorExpr:
		from := e.X.(*ast.Ident).Name
		if from == "time" {
			unit := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour, "Microsecond": time.Microsecond}
			return constant.MakeInt64(int64(unit[e.Sel.Name]))
		}
		if other, ok := constants[from+"."+e.Sel.Name]; ok {
			return evaluate(constants, from, other)
		}
	case *ast.BinaryExpr:
		x, y := evaluate(constants, in, e.X), evaluate(constants, in, e.Y)
		if x.Kind() == constant.Unknown || y.Kind() == constant.Unknown {
			return constant.MakeUnknown()
		}
		if e.Op == token.SHL {
			by, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(by))
		}
		if e.Op == token.QUO {
			return constant.BinaryOp(x, token.QUO_ASSIGN, y) // of integers
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return constant.MakeUnknown()
}

// isDuration reports whether a constant, or one that it is made of, is a time.
func isDuration(constants map[string]ast.Expr, in string, expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.Ident:
		other, ok := constants[in+"."+e.Name]
		return ok && isDuration(constants, in, other)
	case *ast.SelectorExpr:
		from := e.X.(*ast.Ident).Name
		other, ok := constants[from+"."+e.Sel.Name]
		return from == "time" || ok && isDuration(constants, from, other)
	case *ast.BinaryExpr:
		return isDuration(constants, in, e.X) || isDuration(constants, in, e.Y)
	case *ast.ParenExpr:
		return isDuration(constants, in, e.X)
	}
	return false
}

// duration writes a time as people do.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= unit.size && d%unit.size == 0 {
			return fmt.Sprintf("%d %s", d/unit.size, unit.name)
		}
	}
	return d.String()
}

// number writes a count; one that the source writes with a shift, itself or in a constant that it names, is of bytes.
func number(constants map[string]ast.Expr, in string, n int64, expression ast.Expr) string {
	if hasShift(constants, in, expression) {
		for i, unit := range []string{"GiB", "MiB", "KiB"} {
			if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
				return fmt.Sprintf("%d %s", n/size, unit)
			}
		}
	}
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func hasShift(constants map[string]ast.Expr, in string, expression ast.Expr) (found bool) {
	ast.Inspect(expression, func(node ast.Node) bool {
		switch e := node.(type) {
		case *ast.BinaryExpr:
			found = found || e.Op == token.SHL
		case *ast.SelectorExpr:
			from := e.X.(*ast.Ident).Name
			if other, ok := constants[from+"."+e.Sel.Name]; ok {
				found = found || hasShift(constants, from, other)
			}
			return false
		case *ast.Ident:
			if other, ok := constants[in+"."+e.Name]; ok {
				found = found || hasShift(constants, in, other)
			}
		}
		return !found
	})
	return found
}
