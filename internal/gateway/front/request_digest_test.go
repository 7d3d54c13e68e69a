package front

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestBinding(t *testing.T) {
	of := func(params string) digest { return bind("me", "tools/call", wire.Raw([]byte(params))) }
	base := of(`{"name":"t","arguments":{"a":[1,{"b":"x"}],"c":null}}`)
	for _, same := range []string{
		`{"arguments":{"c":null,"a":[ 1,{"b":"\u0078"} ]},"name":"t"}`,
		`{"name":"t","_meta":{"a":1},"inputResponses":{},"requestState":"s","arguments":{"a":[1,{"b":"x"}],"c":null}}`,
	} {
		if of(same) != base {
			t.Errorf("%s is bound to something else", same)
		}
	}
	for _, other := range []string{
		`{"name":"t","arguments":{"a":[1,{"b":"y"}],"c":null}}`, `{"name":"t","arguments":{"a":[1],"c":null}}`,
		`{"name":"t","arguments":{"a":[1,{"b":"x"}]}}`, `{"name":"t"}`, `{}`, `{"name":"t","arguments":{"a":["1",{"b":"x"}],"c":null}}`,
		`{"name":"t","arguments":{"a":[{"b":"x"},1],"c":null}}`, `{"name":"t","arguments":{"a":[1,{"x":"b"}],"c":null}}`,
		`{"name":"t","arguments":{"a":[1,["b","x"]],"c":null}}`, `{"name":"t","arguments":{"a":[1,{"b":"x"}],"c":"null"}}`,
		`{"name":"t","arguments":{"a":[1,{"b":"\u0079"}],"c":null}}`, `{"name":"t","arguments":{"c":[1,{"b":"x"}],"a":null}}`,
	} {
		if of(other) == base {
			t.Errorf("%s is bound to the same", other)
		}
	}
	if bind("you", "tools/call", wire.Raw([]byte(`{}`))) == of(`{}`) || bind("me", "prompts/get", wire.Raw([]byte(`{}`))) == of(`{}`) {
		t.Error("the caller and the method do not matter")
	}
}

// A value that nests deep is read a limited number of times, and still told apart from others.
func TestBindingOfDeepValues(t *testing.T) {
	deep := func(inner string) digest {
		const levels = 9_000
		text := `{"arguments":` + strings.Repeat("[", levels) + inner + strings.Repeat("]", levels) + "}"
		return bind("me", "tools/call", wire.Raw([]byte(text)))
	}
	long := strings.Repeat(`{},`, 300_000)
	one, again, other := deep(long+"1"), deep(long+"1"), deep(long+"2")
	if one != again || one == other {
		t.Error("deep values are not told apart")
	}
}

func FuzzBind(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x"}],"_meta":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := wire.ParseValue(bytes.Clone(data))
		if err != nil {
			return
		}
		if bind("", "", value) != bind("", "", wire.Raw(bytes.Clone(value.Bytes()))) {
			t.Error("the same value is bound to two things")
		}
	})
}
