package wire

import (
	"strings"
	"testing"
)

func TestSkim(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, test := range []struct {
		name, text, id string
		hasMethod      bool
	}{
		{"id at the head", `{"jsonrpc":"2.0","id":5,"result":{"content":[]}}`, "5", false},
		{"id at the tail", `{"result":{"content":[{"id":1}]},"jsonrpc":"2.0","id":5}`, "5", false},
		{"text", `{"id":"a\"},\\","result":1}`, `"a\"},\\"`, false},
		{"negative", `{"id":-5}`, "-5", false},
		{"space", " {\n\"id\" \t: 5 ,\"method\" : 1 } ", "5", true},
		{"method first", `{"method":"m","params":{"id":9},"id":5}`, "5", true},
		{"method last", `{"id":5,"method":"m"}`, "5", true},
		{"first of two", `{"id":5,"id":6}`, "5", false},
		{"unusable one first", `{"id":null,"id":6}`, "6", false},
		// Members of members, and look-alikes.
		{"nested only", `{"params":{"id":1,"method":"m"},"list":[{"id":2}]}`, "", false},
		{"other case", `{"ID":1,"Id":2,"Method":"m"}`, "", false},
		{"as a value", `{"a":"id","b":"method"}`, "", false},
		{"as text", `{"a":"\"id\":1,\"method\":2"}`, "", false},
		{"longer keys", `{"idx":1,"xid":2,"methods":3}`, "", false},
		{"in an array", `[{"id":1,"method":"m"}]`, "", false},
		{"bare", `"id":1,"method":2`, "", false},
		// What is no id.
		{"null", `{"id":null}`, "", false},
		{"object", `{"id":{"a":1}}`, "", false},
		{"array", `{"id":[1]}`, "", false},
		{"boolean", `{"id":true}`, "", false},
		{"nothing", `{"id":}`, "", false},
		{"bad number", `{"id":01}`, "", false},
		{"two values", `{"id":1 2}`, "", false},
		{"not UTF-8", "{\"id\":\"\xff\"}", "", false},
		{"line end in text", "{\"id\":\"a\nb\"}", "", false},
		{"too long", `{"id":"` + long + `","method":1}`, "", true},
		{"longest", `{"id":"` + long[:longestSkim-3] + `"}`, `"` + long[:longestSkim-3] + `"`, false},
		{"one more", `{"id":"` + long[:longestSkim-2] + `"}`, "", false},
		{"space that hides an end", `{"id":` + strings.Repeat(" ", longestSkim-3) + `123456}`, "", false},
		{"long key", `{"` + long + `":1,"id":5}`, "5", false},
		// Broken off: what was not seen to its end may be another id.
		{"in an id", `{"method":"m","id":12`, "", true},
		{"in a string", `{"id":12,"method":"m`, "12", true},
		{"in a value", `{"id":12,"result":[[{`, "12", false},
		{"no JSON", `hello, "world": {`, "", false},
		{"stray brackets", `}}]]{"id":1}`, "", false},
		{"nothing at all", ``, "", false},
		{"invalid elsewhere", `{"id":12,"result":nope}`, "12", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			id, hasMethod := Skim([]byte(test.text))
			if string(id) != test.id || hasMethod != test.hasMethod {
				t.Errorf("id %q, method %t, want id %q, method %t", id, hasMethod, test.id, test.hasMethod)
			}
			// However it is split up.
			var s skimmer
			for i := range len(test.text) {
				s.feed([]byte(test.text[i : i+1]))
			}
			if string(s.id) != test.id || s.hasMethod != test.hasMethod {
				t.Errorf("byte by byte: id %q, method %t, want id %q, method %t", s.id, s.hasMethod, test.id, test.hasMethod)
			}
		})
	}
}

func TestSkimKeepsNothingOfTheMessage(t *testing.T) {
	message := []byte(`{"id":12,"result":{}}`)
	id, _ := Skim(message)
	clear(message)
	if string(id) != "12" {
		t.Errorf("the id became %q with its message", id)
	}
}
