package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestParseParts(t *testing.T) {
	type parts struct{ method, id, params, result, err, kind string }
	for _, test := range []struct {
		name, text string
		want       parts
	}{
		{
			"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`,
			parts{method: "tools/call", id: "1", params: `{"name":"x"}`, kind: "request"},
		},
		{"request without params", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, parts{method: "ping", id: `"a"`, kind: "request"}},
		{"params of an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`, parts{method: "m", id: "1", params: "[1]", kind: "request"}},
		{"params of null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, parts{method: "m", id: "1", kind: "request"}},
		{"method without text", `{"jsonrpc":"2.0","id":1,"method":""}`, parts{id: "1", kind: "request"}},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{}}`, parts{method: "n", params: "{}", kind: "notification"}},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{"a":[]}}`, parts{id: "1", result: `{"a":[]}`, kind: "response"}},
		{"response of any kind", `{"jsonrpc":"2.0","id":1,"result":null}`, parts{id: "1", result: "null", kind: "response"}},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, parts{id: "1", err: `{"code":1}`, kind: "response"}},
		{"error without an id", `{"jsonrpc":"2.0","error":{}}`, parts{err: `{}`, kind: "response"}},
		{"error with a null id", `{"jsonrpc":"2.0","id":null,"error":{}}`, parts{err: `{}`, kind: "response"}},
		{"other order", `{"result":{},"jsonrpc":"2.0","id":7}`, parts{id: "7", result: "{}", kind: "response"}},
		{"unknown members", `{"x":{"method":"no"},"jsonrpc":"2.0","id":7,"result":1,"x":2}`, parts{id: "7", result: "1", kind: "response"}},
		{"space", " { \"jsonrpc\"\t: \"2.0\" , \"id\" : 7 , \"result\" : [ 1 ] } ", parts{id: "7", result: "[ 1 ]", kind: "response"}},
		// Keys are spelt exactly so, however they are escaped.
		{"capital letters", `{"jsonrpc":"2.0","Id":5,"METHOD":1,"Method":"no","id":7,"result":1}`, parts{id: "7", result: "1", kind: "response"}},
		{"escaped keys", `{"\u006asonrpc":"2\u002e0","i\u0064":7,"\u006dethod":"tools\/call"}`, parts{method: "tools/call", id: "7", kind: "request"}},
		{
			"nested look-alikes", `{"jsonrpc":"2.0","id":1,"result":{"id":2,"id":3,"method":"x","result":{}}}`,
			parts{id: "1", result: `{"id":2,"id":3,"method":"x","result":{}}`, kind: "response"},
		},
		{
			"brackets in strings", `{"jsonrpc":"2.0","id":"}\\\"]","method":"\"{","params":{"a":"}]"}}`,
			parts{method: `"{`, id: `"}\\\"]"`, params: `{"a":"}]"}`, kind: "request"},
		},
		// What is forwarded stays as it is written.
		{"ids", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, parts{method: "m", id: "1.0", kind: "request"}},
		{"large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, parts{method: "m", id: "9007199254740993", kind: "request"}},
		{
			"numbers", `{"jsonrpc":"2.0","id":1,"result":[1.0,1e400,9007199254740993,-0.0,1E5]}`,
			parts{id: "1", result: `[1.0,1e400,9007199254740993,-0.0,1E5]`, kind: "response"},
		},
		{
			"lone surrogates", `{"jsonrpc":"2.0","id":"\ud800","result":{"\udc00":"\ud800x"}}`,
			parts{id: `"\ud800"`, result: `{"\udc00":"\ud800x"}`, kind: "response"},
		},
		{
			"text", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"\\u0000\",\"\u2028\",\"\\/\",\"\u00e9\"]}",
			parts{id: "1", result: "[\"\\u0000\",\"\u2028\",\"\\/\",\"\u00e9\"]", kind: "response"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			frame := NewFrame([]byte(test.text))
			message, err := Parse(frame)
			if err != nil {
				t.Fatal(err)
			}
			got := parts{
				string(message.Method), string(message.ID.Bytes()), string(message.Params.Bytes()),
				string(message.Result.Bytes()), string(message.Error.Bytes()), kindOf(message),
			}
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if message.Repaired || message.Size != len(test.text) || string(frame.Bytes()) != test.text {
				t.Errorf("repaired %t, size %d, bytes %q", message.Repaired, message.Size, frame.Bytes())
			}
		})
	}
}

// kindOf makes sure that a message is of one kind only.
func kindOf(m Message) string {
	kind := ""
	if m.IsRequest() {
		kind += "request"
	}
	if m.IsNotification() {
		kind += "notification"
	}
	if m.IsResponse() {
		kind += "response"
	}
	return kind
}

func TestParseRefusesShapes(t *testing.T) {
	for _, test := range []struct {
		text, reason, id string
		isRPC            bool
	}{
		{`[]`, "a message must be a JSON object, not an array", "", false},
		{`"x"`, "a message must be a JSON object, not a string", "", false},
		{`null`, "a message must be a JSON object, not null", "", false},
		{` 1 `, "a message must be a JSON object, not a number", "", false},
		{`true`, "a message must be a JSON object, not a boolean", "", false},
		{`{}`, `'jsonrpc' must be "2.0"`, "", false},
		{`{"level":"info","id":3}`, `'jsonrpc' must be "2.0"`, "3", false},
		{`{"jsonrpc":"1.0","id":3,"method":"m"}`, `'jsonrpc' must be "2.0"`, "3", false},
		{`{"jsonrpc":2.0,"id":3,"method":"m"}`, `'jsonrpc' must be "2.0"`, "3", false},
		{`{"Jsonrpc":"2.0","id":3,"method":"m"}`, `'jsonrpc' must be "2.0"`, "3", false},
		// Without a method of exactly that name there is none.
		{`{"jsonrpc":"2.0","id":3,"Method":"m"}`, "a message needs a 'method', or just one of 'result' and 'error'", "3", true},
		{`{"jsonrpc":"2.0","id":3}`, "a message needs a 'method', or just one of 'result' and 'error'", "3", true},
		{`{"jsonrpc":"2.0","id":3,"result":1,"error":{}}`, "a message needs a 'method', or just one of 'result' and 'error'", "3", true},
		{`{"jsonrpc":"2.0","id":3,"method":5}`, "'method' must be a string, not a number", "3", true},
		{`{"jsonrpc":"2.0","id":3,"method":null}`, "'method' must be a string, not null", "3", true},
		{`{"jsonrpc":"2.0","id":3,"method":"m","params":"p"}`, "'params' must be an object, not a string", "3", true},
		{`{"jsonrpc":"2.0","id":3,"error":"broken"}`, "'error' must be an object, not a string", "3", true},
		{`{"jsonrpc":"2.0","result":{}}`, "a response needs an 'id'", "", true},
		{`{"jsonrpc":"2.0","id":null,"result":{}}`, "a response needs an 'id'", "", true},
		{`{"jsonrpc":"2.0","id":{},"method":"m"}`, "an id must be a string or a number, not an object", "", true},
		{`{"jsonrpc":"2.0","id":[1],"result":{}}`, "an id must be a string or a number, not an array", "", true},
		{`{"id":true,"method":"m"}`, "an id must be a string or a number, not a boolean", "", false},
		{`{"jsonrpc":"2.0","id":null,"method":"m"}`, "an id must be a string or a number, not null", "", true},
		// Two peers may not see different messages in one.
		{`{"jsonrpc":"2.0","id":3,"method":"a","method":"b"}`, "the key 'method' stands twice", "3", true},
		{`{"jsonrpc":"2.0","id":3,"method":"a","\u006dethod":"b"}`, "the key 'method' stands twice", "3", true},
		{`{"jsonrpc":"2.0","id":3,"id":3,"method":"a"}`, "the key 'id' stands twice", "3", true},
		{`{"jsonrpc":"2.0","id":3,"method":"a","params":{},"params":{}}`, "the key 'params' stands twice", "3", true},
		{`{"jsonrpc":"2.0","id":3,"result":1,"result":1}`, "the key 'result' stands twice", "3", true},
		{`{"jsonrpc":"2.0","id":3,"error":{},"error":{}}`, "the key 'error' stands twice", "3", true},
		{`{"jsonrpc":"2.0","jsonrpc":"2.0","id":3,"result":1}`, "the key 'jsonrpc' stands twice", "3", true},
	} {
		_, err := Parse(NewFrame([]byte(test.text)))
		shape := asShapeError(t, err)
		if shape.Error() != test.reason || string(shape.ID.Bytes()) != test.id || shape.IsRPC != test.isRPC {
			t.Errorf("%s:\n got %q, id %s, isRPC %t\nwant %q, id %s, isRPC %t",
				test.text, shape.Reason, shape.ID.Bytes(), shape.IsRPC, test.reason, test.id, test.isRPC)
		}
	}
}

func TestParseRefusesSyntax(t *testing.T) {
	for _, text := range []string{
		"", "hello", `{"jsonrpc":"2.0"`, `{"jsonrpc":"2.0","id":1,"method":"m"} x`,
		nested(100_000, "[", "", "]"), `{"jsonrpc":"2.0","id":1,"result":` + nested(MaxDepth, "[", "", "]") + `}`,
		"\xff", "{\xc0\xaf}",
	} {
		if _, err := Parse(NewFrame([]byte(text))); !isSyntaxError(err) {
			t.Errorf("%.40q: error %v, want a *SyntaxError", text, err)
		}
		if _, _, err := ParseBatch(NewFrame([]byte(text))); !isSyntaxError(err) {
			t.Errorf("%.40q: error %v of ParseBatch, want a *SyntaxError", text, err)
		}
	}
}

func isSyntaxError(err error) bool {
	_, ok := errors.AsType[*SyntaxError](err)
	return ok
}

func TestParseRepairsText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"\xff", "\ufffd"},
		{"a\x80b", "a\ufffdb"},
		{"\xc3", "\ufffd"},                         // an unfinished letter
		{"\xe2\x82", "\ufffd\ufffd"},               // one for each byte
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},     // a surrogate
		{"\xc0\xaf", "\ufffd\ufffd"},               // a longer form of a slash
		{"\u20ac\xff\u20ac", "\u20ac\ufffd\u20ac"}, // the rest stays
	} {
		frame := read(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"`+test.in+`"}}`)
		message, err := Parse(frame)
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		want := `{"x":"` + test.want + `"}`
		if !message.Repaired || string(message.Params.Bytes()) != want || message.Size != len(`{"jsonrpc":"2.0","id":1,"method":"m","params":}`)+len(want) {
			t.Errorf("%q: repaired %t, size %d, params %q, want %q", test.in, message.Repaired, message.Size, message.Params.Bytes(), want)
		}
		// Its parts can be forwarded in place as those of any other.
		if room := message.Params.start; room < headroom {
			t.Errorf("%q: %d bytes before the params", test.in, room)
		}
	}
	valid := parse(t, "{\"jsonrpc\":\"2.0\",\"method\":\"\ufffd\"}")
	if valid.Repaired {
		t.Error("U+FFFD that the peer sent was taken for a repair")
	}
}

func TestParseKeepsToOneLine(t *testing.T) {
	text := "\r{\n\"jsonrpc\"\r\n:\"2.0\",\"id\":1,\"result\":\r{\"a\\nb\"\n:\r\n[\n]\t,\"c\":\"\\r\\n\\u000a\"}}\r\n"
	frame := NewFrame([]byte(text))
	message, err := Parse(frame)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(message.Result.Bytes()), "{\"a\\nb\" :  [ ]\t,\"c\":\"\\r\\n\\u000a\"}"; got != want {
		t.Errorf("result %q, want %q", got, want)
	}
	if strings.ContainsAny(string(frame.Bytes()), "\r\n") {
		t.Errorf("line ends are left: %q", frame.Bytes())
	}
}

func TestParseBatchHasALimit(t *testing.T) {
	for n, want := range map[int]error{MaxBatch: nil, MaxBatch + 1: errLongBatch} {
		for _, element := range []string{`{"jsonrpc":"2.0","id":1,"method":"m"}`, "1"} {
			text := "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
			if _, _, err := ParseBatch(NewFrame([]byte(text))); !errors.Is(err, want) {
				t.Errorf("%d of %s: error %v", n, element, err)
			}
		}
	}
}

func TestParseBatch(t *testing.T) {
	const request, response = `{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`
	for _, test := range []struct {
		name, text string
		ids        string
		rejected   int
	}{
		{"one element", "[" + request + "]", "1", 0},
		{"several", " [ " + request + " , " + response + " ] ", "1 2", 0},
		{"none", "[]", "", 0},
		{"no messages", `[1,[],` + request + `,{"id":9}]`, "1", 3},
		{"an array in an array", `[[` + request + `]]`, "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			frame := NewFrame([]byte(test.text))
			messages, rejected, err := ParseBatch(frame)
			if err != nil || !frame.IsBatch() {
				t.Fatalf("error %v, batch %t", err, frame.IsBatch())
			}
			var ids []string
			for _, message := range messages {
				ids = append(ids, string(message.ID.Bytes()))
			}
			for _, reason := range rejected {
				asShapeError(t, reason)
			}
			if strings.Join(ids, " ") != test.ids || len(rejected) != test.rejected {
				t.Errorf("ids %v, rejected %v", ids, rejected)
			}
		})
	}
	t.Run("elements have a buffer each", func(t *testing.T) {
		messages, _, err := ParseBatch(read(t, "["+request+","+response+"]"))
		if err != nil {
			t.Fatal(err)
		}
		messages[0].ID.Wrap([]byte(strings.Repeat("<", 20)), []byte(strings.Repeat(">", 60)))
		if string(messages[1].ID.Bytes()) != "2" || string(messages[1].Result.Bytes()) != "{}" {
			t.Errorf("forwarding one message changed another: %+v", messages[1])
		}
	})
	t.Run("repaired", func(t *testing.T) {
		messages, _, err := ParseBatch(NewFrame([]byte("[" + request + ",{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}]")))
		if err != nil || len(messages) != 2 || !messages[0].Repaired || string(messages[1].Method) != "\ufffd" {
			t.Errorf("messages %+v, error %v", messages, err)
		}
	})
	for _, text := range []string{"", " ", "{}", `"["`} {
		if NewFrame([]byte(text)).IsBatch() {
			t.Errorf("%q is taken for a batch", text)
		}
	}
}
