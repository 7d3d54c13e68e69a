package wire

import (
	"strings"
	"testing"
)

func payloadOf(t *testing.T, text string) Payload {
	t.Helper()
	value, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestPattern(t *testing.T) {
	long := strings.Repeat("x", maxPattern)
	for _, test := range []struct {
		name, learnt, value string
		gap, kept           string // of the value; no gap: it is not recognized
	}{
		{"the same", `{"k":1,"gap":{"a":1}}`, `{"k":1,"gap":{"a":1}}`, `{"a":1}`, `1`},
		{"another gap, and the kept part before it", `{"k":[2],"gap":{"a":1}}`, `{"k":[2],"gap":{"b":{}, "c":"}}"}}`, `{"b":{}, "c":"}}"}`, `[2]`},
		{"the kept part behind the gap", `{"gap":{},"k":{"t":"}"} }`, `{"gap":{"long":"` + long + `"},"k":{"t":"}"} }`, `{"long":"` + long + `"}`, `{"t":"}"}`},
		{"no kept part", `{"gap":{"a":1}}`, `{"gap":{}}`, `{}`, ``},
		{"other bytes before the gap", `{"k":1,"gap":{}}`, `{"k":2,"gap":{}}`, ``, ``},
		{"other bytes behind the gap", `{"gap":{},"k":1}`, `{"gap":{},"k":2}`, ``, ``},
		{"another space", `{"k":1,"gap":{}}`, `{"k":1,"gap": {}}`, ``, ``},
		{"no object in the gap", `{"k":1,"gap":{}}`, `{"k":1,"gap":"{}"}`, ``, ``},
		{"a further member of the same end", `{"gap":{"a":1}}`, `{"gap":{"a":2},"gap":{"a":3}}`, ``, ``},
		{"a further member before the kept part", `{"gap":{},"k":1}`, `{"gap":{},"k":3,"x":{},"k":1}`, ``, ``},
		{"too short", `{"k":1,"gap":{}}`, `{"k":1}`, ``, ``},
		{"too long to be remembered", `{"k":"` + long + `","gap":{}}`, `{"k":"` + long + `","gap":{}}`, ``, ``},
		{"nothing to remember", `{"gap":null}`, `{"gap":null}`, ``, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pattern Pattern
			pattern.Learn(payloadOf(t, `{"other":{}}`), payloadOf(t, `{}`), Payload{}) // of another buffer
			if _, _, ok := pattern.Match(payloadOf(t, `{"other":{}}`)); ok {
				t.Error("a gap outside of the value is recognized")
			}
			learnt := payloadOf(t, test.learnt)
			pattern.Learn(learnt, learnt.Member("gap"), learnt.Member("k"))
			gap, kept, ok := pattern.Match(payloadOf(t, test.value))
			if ok != (test.gap != "") || string(gap.Bytes()) != test.gap || string(kept.Bytes()) != test.kept {
				t.Errorf("%t, %s, %s", ok, gap.Bytes(), kept.Bytes())
			}
			if _, _, ok := pattern.Match(Payload{}); ok {
				t.Error("an absent value is recognized")
			}
		})
	}
}

// FuzzPattern learns a value and matches another one: what is recognized has the same members as if it were parsed.
func FuzzPattern(f *testing.F) {
	f.Add(`{"gap":{"a":1},"k":1}`, `{"gap":{},"k":1}`)
	f.Add(`{"k":{},"gap":{}}`, `{"k":{},"gap":{},"gap":{"a":"\\"}}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		learnt, err := ParseValue([]byte(first))
		if err != nil {
			t.Skip()
		}
		value, err := ParseValue([]byte(second))
		if err != nil {
			t.Skip()
		}
		var pattern Pattern
		pattern.Learn(learnt, learnt.Member("gap"), learnt.Member("k"))
		gap, kept, ok := pattern.Match(value)
		if ok && (!same(gap, value.Member("gap")) || !same(kept, value.Member("k"))) {
			t.Errorf("%s, %s of %s after %s", gap.Bytes(), kept.Bytes(), second, first)
		}
	})
}

func same(a, b Payload) bool { return a.start == b.start && a.end == b.end }
