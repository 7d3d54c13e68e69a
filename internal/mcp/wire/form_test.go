package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// learn parses a message and learns it, with the arguments and the _meta of its params as slots.
func learn(t testing.TB, forms *Forms, text string) {
	t.Helper()
	message, err := forms.Parse(NewFrame([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	message.Learn(func() any { return text }, message.Params.Member("arguments"), message.Params.Member("_meta"))
}

const (
	plainCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"n","arguments":{"a":1}}}`
	lateID    = `{"method":"tools/call","params":{"name":"n","_meta":{"progressToken":1},"arguments":{}},"jsonrpc":"2.0","id":"x-1"}`
)

func TestFormsRecognize(t *testing.T) {
	for _, test := range []struct {
		name, learnt, message string
		arguments, meta       string // of the slots
		known                 bool
	}{
		{"the same", plainCall, plainCall, `{"a":1}`, "", true},
		{"other arguments", plainCall, strings.Replace(plainCall, `{"a":1}`, `[{"}":"\"}}"}, -1.5e3]`, 1), `[{"}":"\"}}"}, -1.5e3]`, "", true},
		{"another id", plainCall, strings.Replace(plainCall, `7`, `"seven"`, 1), `{"a":1}`, "", true},
		{"a longer id", plainCall, strings.Replace(plainCall, `7`, `70000000000`, 1), `{"a":1}`, "", true},
		{"the id last", lateID, strings.Replace(lateID, `x-1`, `y-22`, 1), `{}`, `{"progressToken":1}`, true},
		{"another _meta", lateID, strings.Replace(lateID, `{"progressToken":1}`, `{"k":"v","progressToken":"t"}`, 1), `{}`, `{"k":"v","progressToken":"t"}`, true},
		{"no arguments", `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, `{"jsonrpc":"2.0","id":2,"method":"m","params":{}}`, "", "", true},

		{"another tool", plainCall, strings.Replace(plainCall, `"n"`, `"o"`, 1), "", "", false},
		{"another method", plainCall, strings.Replace(plainCall, `call`, `list`, 1), "", "", false},
		{"a space", plainCall, strings.Replace(plainCall, `"id":`, `"id": `, 1), "", "", false},
		{"a member more", plainCall, strings.Replace(plainCall, `{"a":1}`, `{"a":1},"task":{}`, 1), "", "", false},
		{"a member more at the end", plainCall, strings.Replace(plainCall, `1}}}`, `1}},"x":{"y":{"z":1}}}`, 1), "", "", false},
		{"a member twice", plainCall, strings.Replace(plainCall, `{"a":1}`, `{"a":1},"arguments":{"a":1}`, 1), "", "", false},
		{"no id", plainCall, strings.Replace(plainCall, `"id":7,`, ``, 1), "", "", false},
		{"an array of messages", plainCall, `{"jsonrpc":"2.0","id":7}`, "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var forms Forms
			learn(t, &forms, test.learnt)
			message, err := forms.Parse(read(t, test.message))
			want, wantErr := Parse(read(t, test.message))
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if known := message.Meaning() != nil; known != test.known {
				t.Fatalf("known: %t, want %t", known, test.known)
			}
			if problem := difference(&message, &want); problem != "" {
				t.Error(problem)
			}
			if !test.known {
				return
			}
			if message.Meaning() != test.learnt {
				t.Errorf("it means %v", message.Meaning())
			}
			if arguments, meta := message.Slot(0), message.Slot(1); string(arguments.Bytes()) != test.arguments || string(meta.Bytes()) != test.meta {
				t.Errorf("the slots are %q and %q", arguments.Bytes(), meta.Bytes())
			}
		})
	}
}

// difference says what of a message is not as it should be.
func difference(got, want *Message) string {
	parts := func(m *Message) string {
		return fmt.Sprintf("method %q, id %s, params %s, result %s, error %s, %d bytes", m.Method, m.ID.Bytes(), m.Params.Bytes(), m.Result.Bytes(), m.Error.Bytes(), m.Size)
	}
	if a, b := parts(got), parts(want); a != b {
		return fmt.Sprintf("got %s, want %s", a, b)
	}
	return ""
}

func TestFormsRefuseWhatIsNoMessage(t *testing.T) {
	for _, arguments := range []string{``, `{`, `{"a"}`, `{"a":1}}`, `1 2`, `tru`, "{\"a\":\"\x01\"}", `{"a":1},`} {
		var forms Forms
		learn(t, &forms, plainCall)
		text := strings.Replace(plainCall, `{"a":1}`, arguments, 1)
		if message, err := forms.Parse(NewFrame([]byte(text))); err == nil {
			t.Errorf("%q was taken for %+v", text, message)
		}
	}
	for _, id := range []string{`null`, `{}`, `true`, `[1]`} {
		var forms Forms
		learn(t, &forms, plainCall)
		if _, err := forms.Parse(NewFrame([]byte(strings.Replace(plainCall, `7`, id, 1)))); err == nil {
			t.Errorf("the id %s was taken", id)
		}
	}
}

func TestFormsRepairText(t *testing.T) {
	var forms Forms
	learn(t, &forms, plainCall)
	message, err := forms.Parse(NewFrame([]byte(strings.Replace(plainCall, `"a"`, "\"\xff\"", 1))))
	if err != nil || !message.Repaired {
		t.Errorf("repaired: %t, error %v", message.Repaired, err)
	}
}

func TestFormsAreNotLearntOf(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		slot func(Message) Payload
	}{
		"a notification":  {`{"jsonrpc":"2.0","method":"m","params":{"a":1}}`, func(m Message) Payload { return m.Params.Member("a") }},
		"a response":      {`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, func(m Message) Payload { return m.Result.Member("a") }},
		"no params":       {`{"jsonrpc":"2.0","id":1,"method":"m"}`, func(Message) Payload { return Payload{} }},
		"a result beside": {`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1},"result":1}`, func(m Message) Payload { return m.Params.Member("a") }},
		"a slot elsewhere": {plainCall, func(m Message) Payload {
			slot := m.Params.Member("arguments")
			return Payload{bytes.Clone(slot.buf), slot.start, slot.end}
		}},
		"all params as a slot": {plainCall, func(m Message) Payload { return m.Params }},
		"the id as a slot":     {plainCall, func(m Message) Payload { return m.ID }},
		"much that is fixed":   {strings.Replace(plainCall, `"n"`, `"`+strings.Repeat("n", maxFormSize)+`"`, 1), func(m Message) Payload { return m.Params.Member("arguments") }},
	} {
		t.Run(name, func(t *testing.T) {
			var forms Forms
			for range 2 {
				message, err := forms.Parse(NewFrame([]byte(test.text)))
				if err != nil || message.Meaning() != nil {
					t.Fatalf("means %v, error %v", message.Meaning(), err)
				}
				message.Learn(func() any { return name }, test.slot(message))
			}
		})
	}
}

func TestFormsInSlotsAreNotLearnt(t *testing.T) {
	var forms Forms
	message, err := forms.Parse(NewFrame([]byte(plainCall)))
	if err != nil {
		t.Fatal(err)
	}
	outer := message.Params.Member("arguments")
	message.Learn(func() any { return 1 }, outer, outer.Member("a"))
	if message, _ = forms.Parse(NewFrame([]byte(plainCall))); message.Meaning() != nil {
		t.Error("a slot in a slot was learnt")
	}
}

func TestFormsAreFew(t *testing.T) {
	var forms Forms
	call := func(i int) string { return strings.Replace(plainCall, `"n"`, fmt.Sprintf(`"tool%d"`, i), 1) }
	isKnown := func(i int) bool {
		message, err := forms.Parse(NewFrame([]byte(call(i))))
		return err == nil && message.Meaning() != nil
	}
	for i := range maxForms + 1 {
		learn(t, &forms, call(i))
		learn(t, &forms, call(i))
	}
	if !isKnown(maxForms-1) || isKnown(maxForms) {
		t.Errorf("known: the last of them %t, one more %t", isKnown(maxForms-1), isKnown(maxForms))
	}
	for oldest := range 2 {
		for range strangers + 1 { // what the client does instead from now on
			learn(t, &forms, call(10+oldest))
		}
		if isKnown(oldest) || !isKnown(oldest+1) || !isKnown(10) || !isKnown(10+oldest) {
			t.Errorf("known: the oldest %t, the second oldest %t, the first new one %t, the newest %t", isKnown(oldest), isKnown(oldest+1), isKnown(10), isKnown(10+oldest))
		}
	}
}

func TestFormsAreLearntOnce(t *testing.T) {
	var forms Forms
	var both [2]Message
	for i := range both {
		both[i], _ = forms.Parse(NewFrame([]byte(plainCall)))
	}
	for _, message := range both {
		message.Learn(func() any { return 1 }, message.Params.Member("arguments"))
	}
	if n := len(*forms.known.Load()); n != 1 {
		t.Errorf("%d forms are known", n)
	}
}

// Clients over HTTP send several requests at once.
func TestFormsAtOnce(t *testing.T) {
	var forms Forms
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				name := fmt.Sprintf("tool%d", (g+i/50)%6)
				text := strings.Replace(plainCall, `"n"`, `"`+name+`"`, 1)
				message, err := forms.Parse(NewFrame([]byte(text)))
				if meaning := message.Meaning(); err != nil || meaning != nil && meaning != name {
					t.Errorf("%s is %v, error %v", name, meaning, err)
				}
				message.Learn(func() any { return name }, message.Params.Member("arguments"))
			}
		})
	}
	all.Wait()
}

func FuzzForms(f *testing.F) {
	for _, first := range []string{plainCall, lateID, `{"params":{"arguments":null},"id":1,"jsonrpc":"2.0","method":"m"}`} {
		for _, second := range fuzzSeeds {
			f.Add([]byte(first), []byte(second), []byte(`8`), []byte(second))
		}
		f.Add([]byte(first), []byte(lateID), []byte(`"\u0041"`), []byte(`{"a":[1,{}]}`))
	}
	f.Fuzz(func(t *testing.T, first, second, id, arguments []byte) {
		var forms Forms
		message, err := forms.Parse(NewFrame(bytes.Clone(first)))
		if err != nil || message.Repaired {
			return
		}
		slots := []Payload{message.Params.Member("arguments"), message.Params.Member("_meta")}
		message.Learn(func() any { return 1 }, slots...)
		// One like it, if id and arguments are values.
		type part struct {
			Payload
			with []byte
		}
		parts := []part{{message.ID, id}, {slots[0], arguments}}
		slices.SortFunc(parts, func(a, b part) int { return a.start - b.start })
		var like []byte
		at := 0
		for _, p := range parts {
			like = append(append(like, first[at:p.start]...), p.with...)
			at = p.end
		}
		like = append(like, first[at:]...)
		for _, text := range [][]byte{first, second, like} {
			got, err := forms.Parse(NewFrame(bytes.Clone(text)))
			want, wantErr := Parse(NewFrame(bytes.Clone(text)))
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%q: error %v, want %v", text, err, wantErr)
			}
			if problem := difference(&got, &want); problem != "" {
				t.Fatalf("%q: %s", text, problem)
			}
			if got.Meaning() == nil {
				continue
			}
			for i, name := range []string{"arguments", "_meta"} {
				if !bytes.Equal(got.Slot(i).Bytes(), want.Params.Member(name).Bytes()) {
					t.Fatalf("%q: the slot for %s is %q", text, name, got.Slot(i).Bytes())
				}
			}
		}
	})
}
