package metatool

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// FuzzReadResult reads any result with any arguments: it never panics, and answers with
// valid JSON that is no larger than it may be.
func FuzzReadResult(f *testing.F) {
	f.Add(`{"handle":"r1","path":"content[0].text.a[\"b\"]","offset":1,"length":2}`, `{"content":[{"type":"text","text":"{\"a\":{\"b\":\"äöü\"}}"}]}`)
	f.Add(`{"handle":"r1","grep":"^.|x*$","limit":3}`, `{"content":[{"type":"text","text":"a\n\näx\n"}],"structuredContent":{"a":[1]}}`)
	f.Add(`{"handle":"r1","path":"$[0]"}`, `[[]]`)
	f.Fuzz(func(t *testing.T, arguments, result string) {
		input, err := wire.ParseValue([]byte(arguments))
		if err != nil {
			t.Skip()
		}
		value, err := wire.ParseValue([]byte(result))
		if err != nil {
			t.Skip()
		}
		if shape := shapeOf(value); len(shape) > shapeBytes {
			t.Errorf("a shape of %d bytes", len(shape))
		}
		r, problem := parseRead(input)
		if problem != "" {
			return
		}
		text, path := mainText(value)
		if r.path != "" {
			picked, err := valueAt(value, r.path)
			if err != nil {
				return
			}
			text = string(picked.Bytes())
		}
		const most = 100
		answer := r.answer(t.Context(), text, path, most)
		parsed, err := wire.ParseValue(answer.Text)
		if err != nil {
			t.Fatalf("the answer %q is no JSON: %v", answer.Text, err)
		}
		blocks := 0
		for block := range parsed.Member("content").Elements() {
			part, _ := block.Member("text").Text()
			if blocks == 1 && r.grep == nil && (len(part) > most || utf8.ValidString(text) && !strings.Contains(text, part)) {
				t.Errorf("a part of %d bytes: %q of %q", len(part), part, text)
			}
			blocks++
		}
		if blocks == 0 {
			t.Error("an answer without words")
		}
	})
}
