package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestPayloadKind(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "object", `[1]`: "array", `""`: "string", `0`: "number", `-1.5`: "number", `true`: "boolean", `false`: "boolean", `null`: "null",
	} {
		if got := value(t, text).Kind(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if value(t, text).IsAbsent() {
			t.Errorf("%s is absent", text)
		}
	}
	var absent Payload
	if absent.Kind() != "undefined" || !absent.IsAbsent() || len(absent.Bytes()) != 0 {
		t.Errorf("absent payload: kind %s, bytes %q", absent.Kind(), absent.Bytes())
	}
}

func TestPayloadText(t *testing.T) {
	for _, test := range []struct {
		in, want string
		ok       bool
	}{
		{`"plain"`, "plain", true},
		{`""`, "", true},
		{`"a\"b\\c\/\b\f\n\r\t"`, "a\"b\\c/\b\f\n\r\t", true},
		{`"\u00e9\ud83d\ude00\u0000"`, "\u00e9\U0001f600\x00", true},
		{`"a\ud800b\udc00"`, "a\ufffdb\ufffd", true}, // no text has these
		{`5`, "", false},
		{`null`, "", false},
		{`["a"]`, "", false},
	} {
		if got, ok := value(t, test.in).Text(); got != test.want || ok != test.ok {
			t.Errorf("%s: %q %t, want %q %t", test.in, got, ok, test.want, test.ok)
		}
	}
	if text, ok := (Payload{}).Text(); ok {
		t.Errorf("an absent payload has the text %q", text)
	}
}

func TestPayloadMember(t *testing.T) {
	object := ` { "a" : 1 , "b":{"a":2,"c":[3]}, "\u0063" : "x" ,"d":1,"d":[2] , "":0, "q\"":true, "\\":false } `
	for name, want := range map[string]string{
		"a": "1", "b": `{"a":2,"c":[3]}`, "c": `"x"`, "d": "[2]", "": "0", `q"`: "true", `\`: "false",
		"A": "", "\\u0063": "", "missing": "", "2": "",
	} {
		if got := string(value(t, object).Member(name).Bytes()); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	for _, text := range []string{`[{"a":1}]`, `"a"`, `1`, `{}`, `{ }`} {
		if got := value(t, text).Member("a"); !got.IsAbsent() {
			t.Errorf("%s has a member %s", text, got.Bytes())
		}
	}
	if got := (Payload{}).Member("a").Member("b"); !got.IsAbsent() {
		t.Errorf("an absent payload has a member %s", got.Bytes())
	}
}

func TestPayloadMembersAndElements(t *testing.T) {
	for _, test := range []struct {
		in                string
		members, elements string
	}{
		{`{}`, "", ""},
		{`[]`, "", ""},
		{"[ \t ]", "", ""},
		{`{"a":1}`, "a=1", ""},
		{`{"a":1,"a":2,"\u0061":[ ]}`, "a=1 a=2 a=[ ]", ""},
		{`{ "x" : {"y":"}"} , "z" : "\\" }`, `x={"y":"}"} z="\\"`, ""},
		{`[1]`, "", "1"},
		{`[ 1 , "a,b" ,[[]],{"k":[1,2]},null ,-1e5]`, "", `1|"a,b"|[[]]|{"k":[1,2]}|null|-1e5`},
		{"[true\t,false\n,0\r]", "", "true|false|0"},
		{`["\"","\\\"","\\\\",""]`, "", `"\""|"\\\""|"\\\\"|""`},
		{`"[1]"`, "", ""},
		{`12`, "", ""},
	} {
		var members, elements []string
		for key, member := range value(t, test.in).Members() {
			members = append(members, string(key)+"="+string(member.Bytes()))
		}
		for element := range value(t, test.in).Elements() {
			elements = append(elements, string(element.Bytes()))
		}
		if got := strings.Join(members, " "); got != test.members {
			t.Errorf("%s: members %s, want %s", test.in, got, test.members)
		}
		if got := strings.Join(elements, "|"); got != test.elements {
			t.Errorf("%s: elements %s, want %s", test.in, got, test.elements)
		}
	}
}

func TestPayloadIterationCanStop(t *testing.T) {
	var seen []string
	for key := range value(t, `{"a":1,"b":2,"c":3}`).Members() {
		if seen = append(seen, string(key)); len(seen) == 2 {
			break
		}
	}
	for element := range value(t, `[1,2,3]`).Elements() {
		seen = append(seen, string(element.Bytes()))
		break
	}
	if !slices.Equal(seen, []string{"a", "b", "1"}) {
		t.Errorf("saw %v", seen)
	}
}

func TestParseValue(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: `{}`, " \r\n[1,\n2]\t\n": "[1, 2]", "\"\xff\"": "\"\ufffd\"", ` 5 `: `5`,
	} {
		if got := string(value(t, in).Bytes()); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", " ", "{", "1 2", "\ufeff{}"} {
		if payload, err := ParseValue([]byte(in)); !isSyntaxError(err) || !payload.IsAbsent() {
			t.Errorf("%q: %q, error %v", in, payload.Bytes(), err)
		}
	}
}

func TestWrap(t *testing.T) {
	const prefix, suffix = `{"id":77,"params":`, "}\n"
	arguments := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":` + arguments + `}}`
	want := prefix + arguments + suffix

	// Read by a Reader, the buffer has room around every part.
	inPlace := mustParse(t, read(t, message)).Params.Member("arguments")
	out := inPlace.Wrap([]byte(prefix), []byte(suffix))
	if string(out) != want {
		t.Errorf("in place: %.60q...", out)
	}
	if &out[len(prefix)] != &inPlace.Bytes()[0] {
		t.Error("the value was moved")
	}
	if allocs := testing.AllocsPerRun(20, func() { inPlace.Wrap([]byte(prefix), []byte(suffix)) }); allocs != 0 {
		t.Errorf("%v allocations in place", allocs)
	}

	// A buffer that ends with the value has none.
	exact := Raw(slices.Clip([]byte(arguments)))
	before := bytes.Clone(exact.Bytes())
	copied := exact.Wrap([]byte(prefix), []byte(suffix))
	if string(copied) != want {
		t.Errorf("copied: %.60q...", copied)
	}
	if !bytes.Equal(exact.Bytes(), before) {
		t.Error("copying changed the value")
	}
}

func TestWrapUsesRoomExactly(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after int // room around the value
		prefix        int
		suffix        int
		inPlace       bool
	}{
		{"plenty", 100, 100, 10, 10, true},
		{"just enough", 10, 10, 10, 10, true},
		{"prefix too long", 9, 10, 10, 10, false},
		{"suffix too long", 10, 9, 10, 10, false},
		{"nothing to add", 0, 0, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			buf := make([]byte, test.before+3+test.after)
			copy(buf[test.before:], "123")
			payload := Payload{slices.Clip(buf)[:test.before+3], test.before, test.before + 3}
			prefix, suffix := strings.Repeat("<", test.prefix), strings.Repeat(">", test.suffix)
			out := payload.Wrap([]byte(prefix), []byte(suffix))
			if string(out) != prefix+"123"+suffix {
				t.Errorf("got %q", out)
			}
			if inPlace := &out[test.prefix] == &buf[test.before]; inPlace != test.inPlace {
				t.Errorf("in place: %t, want %t", inPlace, test.inPlace)
			}
		})
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"": `x""`, "a\"b\\": `x"a\"b\\"`, "\n\x00\x1f": `x"\n\u0000\u001f"`, "\u00e9\u2028</": "x\"\u00e9\u2028</\"", "a\xffb": "x\"a\ufffdb\"",
	} {
		if got := string(AppendString([]byte("x"), in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func mustParse(t testing.TB, frame Frame) Message {
	t.Helper()
	message, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	return message
}
