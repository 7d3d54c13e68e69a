package condition

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// unmet judges arguments that are given as JSON.
func unmet(t testing.TB, r *Requirement, arguments, folder string) string {
	t.Helper()
	value, err := wire.ParseValue([]byte(arguments))
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return r.Unmet(value, folder)
}

func number(t testing.TB, text string) *Number {
	t.Helper()
	n, err := ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func raw(values ...string) (all []wire.Payload) {
	for _, value := range values {
		all = append(all, wire.Raw([]byte(value)))
	}
	return all
}

// Every value that a server may read for the argument must hold.
func TestArguments(t *testing.T) {
	const absent, other = "it is absent", "it is another value"
	for _, test := range []struct{ name, arguments, why string }{
		{"a", `{"a": "x"}`, ""},
		{"a", `{"a": "y"}`, other},
		{"a", `{"\u0061": "\u0078"}`, ""},
		{"a", `{}`, absent},
		{"a", `{"b": "x"}`, absent},
		{"a", `[{"a": "x"}]`, absent},
		{"a", `"{\"a\": \"x\"}"`, absent},
		{"a", `{"a": null}`, other},
		{"a", `{"a": {}}`, other},
		{"a", `{"a": true}`, other},
		{"a", `{"a": ["x", "x"]}`, ""},
		{"a", `{"a": [["x"], "x"]}`, ""},
		{"a", `{"a": ["x", "y"]}`, other},
		{"a", `{"a": [["x"], ["y"]]}`, other},
		{"a", `{"a": []}`, "it is an empty list"},
		{"a", `{"a": ["x", []]}`, "it is an empty list"},
		{"a", `{"a": ["x", null]}`, other},
		// Decoders differ in which of several members they take, and whether case matters.
		{"a", `{"a": "x", "a": "x"}`, ""},
		{"a", `{"a": "x", "a": "y"}`, other},
		{"a", `{"a": "y", "a": "x"}`, other},
		{"a", `{"a": "x", "\u0061": "y"}`, other},
		{"a", `{"a": "x", "A": "y"}`, other},
		{"a", `{"A": "x"}`, absent},
		{"file_path", `{"file_path": "x", "filePath": "y"}`, other},
		{"filePath", `{"filePath": "x", "file-path": "y"}`, other},
		{"file_path", `{"filePath": "x"}`, absent},
		{"file_path.b", `{"file_path": {"b": "x"}, "filepath": {"b": "y"}}`, other},
		{"ask", `{"ask": "x", "a\u017f\u212a": "y"}`, other},
		{"a", `{"a": "x", "a\u0000b": "y"}`, other},
		{"a", `{"a\u0000": "x"}`, absent},
		{"a.b", `{"a": {"b": "x"}}`, ""},
		{"a.b", `{"a": {"b": "y"}}`, other},
		{"a.b", `{"a.b": "x"}`, ""},
		{"a.b", `{"a.b": "y"}`, other},
		{"a.b", `{"a.b": "x", "a": {"b": "x"}}`, ""},
		{"a.b", `{"a.b": "x", "a": {"b": "y"}}`, other},
		{"a.b", `{"a.b": "y", "a": {"b": "x"}}`, other},
		{"a.b", `{"a": {}, "a": {"b": "x"}}`, absent},
		{"a.b", `{"a": {"b": "x"}, "A": {"b": "y"}}`, other},
		{"a.b", `{"a": [{"b": "x"}, {"b": ["x"]}]}`, ""},
		{"a.b", `{"a": [{"b": "x"}, {"b": "y"}]}`, other},
		{"a.b", `{"a": [{"b": "x"}, {}]}`, absent},
		{"a.b", `{"a": []}`, "it is an empty list"},
		{"a.b", `{"a": "{\"b\": \"x\"}"}`, "it is looked for inside of a value that is not an object"},
		{"a.b", `{"a": null}`, "it is looked for inside of a value that is not an object"},
		{"a.b.c", `{"a.b": {"c": "x"}}`, ""},
		{"a.b.c", `{"a": {"b.c": "x"}}`, ""},
		{"a.b.c", `{"a": {"b": {"c": "x"}}, "a.b": {"c": "y"}}`, other},
		{"a.b.c", `{"a": {"b": {"c": "x"}, "b.c": "y"}}`, other},
	} {
		r := Requirement{Argument: test.name, Condition: Condition{OneOf: raw(`"x"`)}}
		want := test.why
		if want != "" {
			want = `must be "x": ` + want
		}
		if got := unmet(t, &r, test.arguments, ""); got != want {
			t.Errorf("%s of %s: %q, want %q", test.name, test.arguments, got, want)
		}
	}
	r := Requirement{Argument: "a"}
	if r.Unmet(wire.Payload{}, "") != "must be given: it is absent" || unmet(t, &r, `{"a": {}}`, "") != "" {
		t.Error("without a condition, any value holds")
	}
	r.OneOf = raw(`1`)
	if got := unmet(t, &r, `{"a": [`+strings.Repeat("1,", maxValues)+`1]}`, ""); !strings.Contains(got, "too many") {
		t.Errorf("a long list: %q", got)
	}
	if got := unmet(t, &r, `{"a": [`+strings.Repeat("1,", maxValues-1)+`1]}`, ""); got != "" {
		t.Errorf("a list: %q", got)
	}
}

func TestOneOf(t *testing.T) {
	r := Requirement{Argument: "a", Condition: Condition{OneOf: raw(`"1"`, `2`, `0.50`, `true`, `null`)}}
	for value, holds := range map[string]bool{
		`"1"`: true, `1`: false, `2`: true, `2.0`: true, `20e-1`: true, `"2"`: false, `0.5`: true, `5e-1`: true, `true`: true, `false`: false,
		`null`: true, `"null"`: false, `2.0000000000000000000001`: false, `2e999999999`: false, `-2`: false, `{}`: false,
	} {
		if got := unmet(t, &r, `{"a": `+value+`}`, ""); (got == "") != holds {
			t.Errorf("%s: %q", value, got)
		}
	}
}

func TestAtMost(t *testing.T) {
	for _, test := range []struct {
		most, value string
		holds       bool
	}{
		{"100", "100", true},
		{"100", "1e2", true},
		{"100", "100.00", true},
		{"100", "-5", true},
		{"100", "101", false},
		{"100", "100.00000000000000000000000001", false},
		{"9007199254740992", "9007199254740993", false}, // the same as a float
		{"0.1", "0.10000000000000000001", false},
		{"100", `"50"`, false},
		{"100", "true", false},
		{"100", "null", false},
		{"100", "{}", false},
		{"100", "1e999", false},
		{"100", "1e1000", false},
		{"100", "1e-1000", false},
		{"100", "1e99999999999999999999", false},
		{"100", "1e+0000000000000000000000000000000000001", true},
		{"100", "0." + strings.Repeat("1", maxDigits), false},
		{"1e400", "1e399", true},
		{"-1", "-1", true},
		{"-1", "0", false},
		{"0", "-0", true},
	} {
		r := Requirement{Argument: "a", Condition: Condition{AtMost: number(t, test.most)}}
		if got := unmet(t, &r, `{"a": `+test.value+`}`, ""); (got == "") != test.holds {
			t.Errorf("%s for %s: %q", test.value, test.most, got)
		}
	}
	for _, wrong := range []string{"", "1/2", "0x10", "1_000", "Inf", "NaN", "+1", "01", ".5", "1.", "1e", " 1", "1e1000"} {
		if n, err := ParseNumber(wrong); err == nil {
			t.Errorf("%q is %v", wrong, n)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, value string
		holds          bool
	}{
		{"[a-z]+", `"abc"`, true},
		{"[a-z]+", `"abc1"`, false},
		{"[a-z]+", `"abc\n"`, false},
		{"(?m)^[a-z]+$", `"abc\ndef"`, false},
		{"a|b", `"b"`, true},
		{"a|b", `"ab"`, false},
		{"a|ab", `"ab"`, true},
		{"", `""`, true},
		{"", `"a"`, false},
		{".*", `"a\nb"`, false},
		{"(?s).*", `"a\nb"`, true},
		{"1", `1`, false},
		{".*", `null`, false},
		{".*", `"\ud800"`, false},
	} {
		pattern, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		r := Requirement{Argument: "a", Condition: Condition{Matches: pattern}}
		if got := unmet(t, &r, `{"a": `+test.value+`}`, ""); (got == "") != test.holds {
			t.Errorf("%s for %s: %q", test.value, test.pattern, got)
		}
	}
	for _, wrong := range []string{"a)|(b", "(", "*", "(?<=a)b", `\1`} {
		if _, err := ParsePattern(wrong); err == nil {
			t.Errorf("%q is a pattern", wrong)
		}
	}
}

// A reason says what is wanted, and shows nothing of a value that may be a secret.
func TestReasons(t *testing.T) {
	host, err := ParseHost("*.example.com")
	if err != nil {
		t.Fatal(err)
	}
	pattern, err := ParsePattern("v[0-9]+")
	if err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2"
	var many []wire.Payload
	for i := range 9 {
		many = append(many, raw(fmt.Sprint(i))...)
	}
	for _, test := range []struct {
		condition   Condition
		value, want string
	}{
		{Condition{Matches: pattern}, `"hunter2"`, "must match v[0-9]+: it does not"},
		{Condition{OneOf: many}, `"hunter2"`, "must be 0, 1, 2, 3, 4 or 4 others: it is another value"},
		{Condition{AtMost: number(t, "5.0")}, `"hunter2"`, "must be at most 5.0: it is not a number"},
		{Condition{ReadsOnly: true}, `"hunter2"`, "must be one SQL statement that only reads: it is not a query that is understood"},
		{Condition{ReadsOnly: true}, `"select 1; drop table x"`, "must be one SQL statement that only reads: it is more than one statement"},
		{Condition{Hosts: []Host{host}}, `"https://user:hunter2@evil/"`, "must be an http address at *.example.com: it has a user name, or seems to"},
		{Condition{Hosts: []Host{host}}, `"https://evil/?key=hunter2"`, "must be an http address at *.example.com: 'evil' is another host"},
		{Condition{Hosts: []Host{host}, AtMost: number(t, "1")}, `"x"`, "must be an http address at *.example.com and be at most 1: it is not a number"},
	} {
		r := Requirement{Argument: "a", Condition: test.condition}
		if got := unmet(t, &r, `{"a": `+test.value+`}`, ""); got != test.want || strings.Contains(got, secret) {
			t.Errorf("%s: %q, want %q", test.value, got, test.want)
		}
	}
	if got := (&Condition{Within: slices.Repeat([]string{"/" + strings.Repeat("x", 200)}, 2)}).String(); len(got) > 2*maxShown+40 {
		t.Errorf("long folders: %q", got)
	}
}

// What takes long to judge does not hold, since the client's other calls wait meanwhile.
func TestUnmetIsBounded(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	pattern, err := ParsePattern("([a-z ]*){1,500}x")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		value     string
		count     int
		condition Condition
	}{
		"paths":           {strings.Repeat("a/../", 700) + "a", 1000, Condition{Within: []string{root}}},
		"a long text":     {strings.Repeat("ab c", 2_500_000), 1, Condition{Matches: pattern}},
		"many statements": {"select " + strings.Repeat("a+(b),", 30_000) + "1", 100, Condition{ReadsOnly: true}},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(wire.AppendString(nil, test.value))
			list := strings.TrimSuffix(strings.Repeat(text+",", test.count), ",")
			r := Requirement{Argument: "a", Condition: test.condition}
			began := time.Now()
			if unmet := r.Unmet(wire.Raw([]byte(`{"a":[`+list+`]}`)), root); !strings.Contains(unmet, "too long") {
				t.Errorf("it is judged: %s", unmet)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
