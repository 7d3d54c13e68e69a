package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var fuzzSeeds = []string{
	``, ` `, `{}`, `[]`, `null`, `-0.5e+10`, `"\ud83d\ude00\ud800"`, `{"a":1,"a":{"b":[true,false,null]}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"t":"a\"}b"}}}`,
	`{"result":{"content":[{"type":"text","text":"\n"}]},"jsonrpc":"2.0","id":"a\\"}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`,
	`{"\u006asonrpc":"2.0","i\u0064":7,"\u006dethod":"m\/n","Method":1}`,
	"\r{ \"jsonrpc\" :\n\"2.0\",\"id\":1.0,\"result\":[ 1e400 , 9007199254740993 ]\t}\r\n",
	"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xc3\",\"params\":[\"\xe2\x82\"]}",
	"\ufeff{}\n\n[1]\r\n{\"id\":5", `{"id":1,"id":2}`, `[{"jsonrpc":"2.0","method":"m"},1,[]]`,
	`{"x":"\`, `{"id":"` + strings.Repeat("x", 300) + `"}`, `{"id":` + strings.Repeat(" ", 300) + `1}`,
	nested(100, `[{"":`, `"\\\""`, `}]`), strings.Repeat("[", 200), strings.Repeat("]", 20),
}

// FuzzParse compares with two other implementations.
func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := isValid(data)
		if err := validate(data); (err == nil) != valid {
			t.Fatalf("validate: %v, valid: %t", err, valid)
		}
		message, err := Parse(NewFrame(bytes.Clone(data)))
		if isSyntaxError(err) == valid {
			t.Fatalf("Parse: %v, valid: %t", err, valid)
		}
		if !valid {
			return
		}
		whole, err2 := ParseValue(bytes.Clone(data))
		if err2 != nil || !utf8.Valid(whole.Bytes()) || bytes.ContainsAny(whole.Bytes(), "\r\n") {
			t.Fatalf("ParseValue: %q, error %v", whole.Bytes(), err2)
		}
		if strings.Count(string(data), "[")+strings.Count(string(data), "{") < 1000 {
			checkRejoined(t, whole)
		}
		if err == nil {
			checkParts(t, message, whole)
		} else if shape := asShapeError(t, err); shape.Reason == "" {
			t.Fatal("refused without a reason")
		}
	})
}

// checkRejoined takes a value apart and puts it together again.
func checkRejoined(t *testing.T, whole Payload) {
	var want bytes.Buffer
	if err := json.Compact(&want, whole.Bytes()); err != nil {
		t.Fatal(err)
	}
	if got := rejoin(nil, whole); !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("taken apart and joined:\n%q, want\n%q", got, want.Bytes())
	}
}

func rejoin(dst []byte, p Payload) []byte {
	opening := len(dst)
	switch p.Kind() {
	case "object":
		for key, member := range p.Pairs() {
			dst = append(append(append(dst, ','), key.Bytes()...), ':')
			dst = rejoin(dst, member)
		}
	case "array":
		for element := range p.Elements() {
			dst = rejoin(append(dst, ','), element)
		}
	default:
		return append(dst, p.Bytes()...)
	}
	if len(dst) == opening {
		dst = append(dst, ',')
	}
	dst[opening] = p.Bytes()[0] // instead of the first comma
	return append(dst, p.Bytes()[0]+2)
}

// checkParts compares a message with what encoding/json finds in it.
func checkParts(t *testing.T, message Message, whole Payload) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(whole.Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	if id := want["id"]; string(id) == "null" {
		delete(want, "id")
	}
	for key, part := range map[string]Payload{"id": message.ID, "params": message.Params, "result": message.Result, "error": message.Error} {
		if !bytes.Equal(part.Bytes(), want[key]) {
			t.Fatalf("%s: %q, want %q", key, part.Bytes(), want[key])
		}
	}
	method, version := "", ""
	if raw, ok := want["method"]; ok {
		if err := json.Unmarshal(raw, &method); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(want["jsonrpc"], &version); err != nil || version != "2.0" {
		t.Fatalf("version %q, error %v", version, err)
	}
	if _, ok := want["method"]; ok == message.IsResponse() || string(message.Method) != method {
		t.Fatalf("method %q, want %q", message.Method, method)
	}
}

// pieces hands out data in pieces of the given sizes, over and over.
type pieces struct {
	data  []byte
	sizes []byte
	next  int
}

func (p *pieces) Read(buf []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	size := len(p.data)
	if len(p.sizes) > 0 {
		size = 1 + int(p.sizes[p.next%len(p.sizes)])*300
		p.next++
	}
	n := copy(buf, p.data[:min(size, len(p.data))])
	p.data = p.data[n:]
	return n, nil
}

// FuzzReader checks that frames do not depend on how they arrive.
func FuzzReader(f *testing.F) {
	for i, seed := range fuzzSeeds {
		f.Add([]byte(seed+"\n"+seed), []byte{byte(i), 0, 200}, uint32(i*5000), uint32(i*4000), uint32(i*7000))
	}
	f.Add([]byte("{}\n\n{}"), []byte{}, uint32(chunkSize), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, data, sizes []byte, before, after, limit uint32) {
		const most = 3 * chunkSize
		stream := slices.Concat(bytes.Repeat([]byte("a"), int(before%most)), data, bytes.Repeat([]byte("b"), int(after%most)), []byte("\n"), data)
		stream = slices.Concat(stream, []byte("\n"), stream)
		longest := int(limit % most)
		r := NewReader(&pieces{data: stream, sizes: sizes}, longest)
		if longest == 0 {
			longest = DefaultLimit
		}
		for _, line := range bytes.Split(stream, []byte("\n")) {
			want := bytes.TrimRight(line, " \t\r")
			want = bytes.TrimLeft(bytes.TrimPrefix(want, []byte("\ufeff")), " \t\r")
			if len(want) == 0 && len(line) <= longest {
				continue
			}
			frame, err := r.Next()
			if len(line) > longest {
				tooLong, ok := errors.AsType[*TooLongError](err)
				id, hasMethod := Skim(line)
				if !ok || tooLong.Size != int64(len(line)) || !bytes.Equal(tooLong.ID, id) || tooLong.IsRequest != hasMethod {
					t.Fatalf("line of %d bytes with limit %d: error %+v, id %q", len(line), longest, err, id)
				}
			} else if err != nil || !bytes.Equal(frame.Bytes(), want) {
				t.Fatalf("frame %.100q, want %.100q, error %v", frame.Bytes(), want, err)
			}
		}
		if frame, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end: %q, error %v", frame.Bytes(), err)
		}
	})
}

// FuzzSkim checks that what is found in a valid message is right, and that whatever is
// found can be written.
func FuzzSkim(f *testing.F) {
	for i, seed := range fuzzSeeds {
		f.Add([]byte(seed), uint(i*3))
	}
	f.Fuzz(func(t *testing.T, data []byte, split uint) {
		id, hasMethod := Skim(data)
		var s skimmer
		at := int(split % uint(len(data)+1))
		s.feed(data[:at])
		s.feed(data[at:])
		if !bytes.Equal(s.id, id) || s.hasMethod != hasMethod {
			t.Fatalf("in two parts: id %q, method %t, want id %q, method %t", s.id, s.hasMethod, id, hasMethod)
		}
		if id != nil {
			if answer, err := Parse(NewFrame(bytes.TrimSuffix(ErrorResponse(id, 1, ""), []byte("\n")))); err != nil || answer.Repaired || !bytes.Equal(answer.ID.Bytes(), id) {
				t.Fatalf("the id %q cannot be answered: %v", id, err)
			}
		}
		message, err := Parse(NewFrame(bytes.Clone(data)))
		if err != nil || message.Repaired || hasEscapedKey(data) {
			return
		}
		if hasMethod != (message.Method != nil) {
			t.Fatalf("method %t, want %q", hasMethod, message.Method)
		}
		if !bytes.Equal(id, message.ID.Bytes()) && (id != nil || len(data) < longestSkim) {
			t.Fatalf("id %q, want %q", id, message.ID.Bytes())
		}
	})
}

// hasEscapedKey tells whether a valid message has a key that Skim cannot read.
func hasEscapedKey(data []byte) bool {
	whole, _ := ParseValue(bytes.Clone(data))
	for key := range whole.Pairs() {
		if bytes.IndexByte(key.Bytes(), '\\') >= 0 {
			return true
		}
	}
	return false
}

// FuzzEdit compares objects before and after.
func FuzzEdit(f *testing.F) {
	for i, seed := range fuzzSeeds {
		f.Add([]byte(seed), byte(i), i%2 == 0)
	}
	f.Add([]byte(`{ "a":1 , "b" : [2] ,"\u0063":{ } }`), byte(2), true)
	f.Fuzz(func(t *testing.T, data []byte, dropped byte, add bool) {
		object, err := ParseValue(data)
		if err != nil || object.Kind() != "object" {
			return
		}
		drop := func(key string) bool { return len(key)%3 == int(dropped%4) }
		var want, replaced []string
		var edits []Edit
		for key, member := range object.Members() {
			if !drop(string(key)) {
				want = append(want, string(key), string(member.Bytes()))
				replaced = append(replaced, string(key), string(member.Bytes()))
				continue
			}
			edits = append(edits, Edit{member, []byte(`["new"]`)})
			replaced = append(replaced, string(key), `["new"]`)
		}
		var extra []byte
		if add {
			extra = []byte(`"extra":0`)
			want = append(want, "extra", "0")
		}
		before := string(object.Bytes())
		isDropping := drop
		if len(edits) == 0 {
			isDropping = nil
		}
		checkMembers(t, AppendWithMembers(nil, object, isDropping, extra), want)
		checkMembers(t, AppendEdited(nil, object, edits...), replaced)
		if string(object.Bytes()) != before {
			t.Fatalf("the object itself became %q, was %q", object.Bytes(), before)
		}
	})
}

func checkMembers(t *testing.T, object []byte, want []string) {
	if err := validate(object); err != nil {
		t.Fatalf("%q: %v", object, err)
	}
	var got []string
	for key, member := range Raw(object).Members() {
		got = append(got, string(key), string(member.Bytes()))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q has the members %q, want %q", object, got, want)
	}
}
