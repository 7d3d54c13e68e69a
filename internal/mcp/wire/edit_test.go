package wire

import (
	"slices"
	"strings"
	"testing"
)

func TestAppendEdited(t *testing.T) {
	const object = ` {"a" : 1, "b":[1 ,2],"c":"x\u0041" } `
	for _, test := range []struct {
		name  string
		keys  []string // of the members that are replaced
		with  string
		want  string
		start string
	}{
		{name: "nothing", want: `{"a" : 1, "b":[1 ,2],"c":"x\u0041" }`},
		{name: "first", keys: []string{"a"}, with: `"longer"`, want: `{"a" : "longer", "b":[1 ,2],"c":"x\u0041" }`},
		{name: "middle", keys: []string{"b"}, with: `0`, want: `{"a" : 1, "b":0,"c":"x\u0041" }`},
		{name: "last", keys: []string{"c"}, with: `null`, want: `{"a" : 1, "b":[1 ,2],"c":null }`},
		{name: "all", keys: []string{"a", "b", "c"}, with: `{}`, want: `{"a" : {}, "b":{},"c":{} }`},
		{name: "after other text", keys: []string{"a"}, with: `2`, start: "before ", want: `before {"a" : 2, "b":[1 ,2],"c":"x\u0041" }`},
	} {
		t.Run(test.name, func(t *testing.T) {
			payload := value(t, object)
			var edits []Edit
			for _, key := range test.keys {
				edits = append(edits, Edit{payload.Member(key), []byte(test.with)})
			}
			if got := string(AppendEdited([]byte(test.start), payload, edits...)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := string(payload.Bytes()); got != strings.TrimSpace(object) {
				t.Errorf("the value itself became %s", got)
			}
		})
	}
	t.Run("the whole value", func(t *testing.T) {
		payload := value(t, `{"a":1}`)
		if got := string(AppendEdited(nil, payload, Edit{payload, []byte("[]")})); got != "[]" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a part of a message", func(t *testing.T) {
		params := parse(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"t":1},"x":[]}}`).Params
		got := string(AppendEdited(nil, params, Edit{params.Member("_meta").Member("t"), []byte(`"two"`)}))
		if want := `{"_meta":{"t":"two"},"x":[]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestAppendWithMembers(t *testing.T) {
	const three = `{ "a":1 , "b" : [2] ,"\u0063":{ } }`
	for _, test := range []struct{ name, object, drop, extra, want string }{
		{"drop none", three, "", `"x":0`, `{ "a":1 , "b" : [2] ,"\u0063":{ },"x":0}`},
		{"drop first", three, "a", `"x":0`, `{"b" : [2],"\u0063":{ },"x":0}`},
		{"drop middle", three, "b", `"x":0`, `{"a":1,"\u0063":{ },"x":0}`},
		{"drop last, which is escaped", three, "c", `"x":0`, `{"a":1,"b" : [2],"x":0}`},
		{"drop several", three, "a c", `"x":0`, `{"b" : [2],"x":0}`},
		{"drop all", three, "a b c", `"x":0`, `{"x":0}`},
		{"drop all, add none", three, "a b c", ``, `{}`},
		{"drop one, add none", three, "a", ``, `{"b" : [2],"\u0063":{ }}`},
		{"drop none, add none", three, "", ``, `{ "a":1 , "b" : [2] ,"\u0063":{ }}`},
		{"drop what is not there", three, "A d", `"x":0`, `{ "a":1 , "b" : [2] ,"\u0063":{ },"x":0}`},
		{"empty object", `{}`, "a", `"x":0`, `{"x":0}`},
		{"empty object with space", "{ \t}", "a", `"x":0`, `{"x":0}`},
		{"empty object, add none", `{ }`, "", ``, `{}`},
		{"same key twice", `{"a":1,"b":2,"a":3}`, "a", `"a":4`, `{"b":2,"a":4}`},
		{"nested keys stay", `{"o":{"a":1},"a":2}`, "a", `"x":0`, `{"o":{"a":1},"x":0}`},
		{"no object", `[1]`, "", `"x":0`, `{"x":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dropped := strings.Fields(test.drop)
			drops := []func(key string) bool{func(key string) bool { return slices.Contains(dropped, key) }}
			if len(dropped) == 0 {
				drops = append(drops, nil)
			}
			for _, drop := range drops {
				got := string(AppendWithMembers([]byte("> "), value(t, test.object), drop, []byte(test.extra)))
				if got != "> "+test.want {
					t.Errorf("got  %s\nwant > %s", got, test.want)
				}
			}
		})
	}
}

func TestAppendMember(t *testing.T) {
	for _, test := range []struct{ start, want string }{
		{``, `"k\"":"v\n"`},
		{`{`, `{"k\"":"v\n"`},
		{`{"a":1`, `{"a":1,"k\"":"v\n"`},
		{`"a":{}`, `"a":{},"k\"":"v\n"`},
	} {
		if got := string(AppendMember([]byte(test.start), `k"`, "v\n")); got != test.want {
			t.Errorf("after %q: %s, want %s", test.start, got, test.want)
		}
	}
}

func TestBuild(t *testing.T) {
	for _, test := range []struct {
		name string
		got  []byte
		want string
	}{
		{
			"request", append(AppendRequestPrefix([]byte("> "), 18446744073709551615, "a\"/b"), "[]"+Suffix...),
			`> {"jsonrpc":"2.0","id":18446744073709551615,"method":"a\"/b","params":[]}`,
		},
		{"notification", Notification("n", []byte(`{"a":1}`)), `{"jsonrpc":"2.0","method":"n","params":{"a":1}}`},
		{"notification without params", Notification("n", nil), `{"jsonrpc":"2.0","method":"n"}`},
		{"result", Result([]byte(`"i"`), []byte(`{"a": 1.0}`)), `{"jsonrpc":"2.0","id":"i","result":{"a": 1.0}}`},
		{"result prefix", append(AppendResultPrefix([]byte("> "), []byte("1")), "2"+Suffix...), `> {"jsonrpc":"2.0","id":1,"result":2}`},
		{"error", ErrorResponse([]byte("7"), -32600, "a \"b\"\n"), `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"a \"b\"\n"}}`},
		{"error without an id", ErrorResponse(nil, 1, ""), `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`},
		{"error of bytes", ErrorResponse([]byte("7"), 1, "\xff\n"), "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\"\ufffd\\n\"}}"},
		{"error prefix", append(AppendErrorPrefix([]byte("> "), []byte("1")), "{}"+Suffix...), `> {"jsonrpc":"2.0","id":1,"error":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if string(test.got) != test.want+"\n" {
				t.Fatalf("got  %q\nwant %q", test.got, test.want+"\n")
			}
			if strings.Count(string(test.got), "\n") != 1 {
				t.Error("a message must be one line")
			}
			parse(t, strings.TrimPrefix(test.want, "> "))
		})
	}
}
