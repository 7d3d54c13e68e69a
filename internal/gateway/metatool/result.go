package metatool

import (
	"fmt"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Keeper is a Session that can keep results. Clients without a session get every result whole: their later requests
// cannot be told from those of other clients.
type Keeper interface {
	Results() *Results
}

// resultsFor returns the kept results of the client; nil if none are kept for it.
func (s *Surface) resultsFor(session Session) *Results {
	keeper, ok := session.(Keeper)
	if s.discovery.MaxResultBytes <= 0 || !ok {
		return nil
	}
	return keeper.Results()
}

// resultLimit limits the size of a result.
type resultLimit struct {
	results *Results
	max     int  // bytes of what is passed on whole
	native  bool // the client knows the tool's output schema
}

func (v *invocation) limit() *resultLimit {
	results := v.surface.resultsFor(v.Session)
	if results == nil {
		return nil
	}
	return &resultLimit{results, v.surface.discovery.MaxResultBytes, v.native}
}

// Shortened returns the answer for the client: of a result above the limit, the head and how to read on. Call it last,
// after all changes of the result.
func (a Answer) Shortened() Answer {
	result := a.Outcome.Result
	if a.limit == nil || len(result.Bytes()) <= a.limit.max {
		return a
	}
	size, ok := measureResult(result)
	if !ok || size.read <= a.limit.max || a.limit.native && size.structured {
		return a
	}
	handle, ok := a.limit.results.keep(result)
	if !ok {
		return a
	}
	a.Text, a.Outcome = a.limit.head(result, size, handle), call.Outcome{}
	return a
}

// resultSize is the size of a result for a model.
type resultSize struct {
	read       int            // bytes that are read as text
	viewed     []wire.Payload // images and audio: their size in bytes says nothing about tokens
	structured bool
}

// measureResult measures a result; ok is false if it is not a complete result of a tool.
func measureResult(result wire.Payload) (s resultSize, ok bool) {
	s.read = len(result.Bytes())
	for key, value := range result.Members() {
		switch string(key) {
		case "content":
			ok = value.Kind() == "array"
			for block := range value.Elements() {
				if kind, _ := block.Member("type").Text(); kind == "image" || kind == "audio" {
					s.viewed = append(s.viewed, block)
					s.read -= len(block.Bytes())
				}
			}
		case "structuredContent":
			s.structured = true
		case "resultType":
			if kind, _ := value.Text(); kind != "complete" {
				return s, false
			}
		case "task", "inputRequests":
			return s, false
		}
	}
	return s, ok
}

// headBytes is the length of the head of a large result, unless the limit is small.
const headBytes = 4 << 10

// head returns the result that replaces a large one.
func (f *resultLimit) head(result wire.Payload, size resultSize, handle string) []byte {
	text, path := mainText(result)
	end := cutAt(text, min(f.max/4, headBytes))
	note := fmt.Sprintf("The result has %d bytes, more than the %d that are passed on at once (results.maxBytes). "+
		"It is kept as '%s' for %d minutes. Its shape: %s. Read on with read_result: "+
		`{"handle":"%s","offset":%d} for the next part, {"handle":"%s","grep":"…"} for what matches a regular expression, `+
		`{"handle":"%s","path":"%s"} for a part by its path. The first %d bytes of %d follow.`,
		len(result.Bytes()), f.max, handle, int(keptTime.Minutes()), shapeOf(result), handle, end, handle, handle, examplePath(path), end, len(text))
	out := append([]byte(`{"content":[`), textBlock(note)...)
	out = append(append(out, ','), textBlock(text[:end])...)
	for _, block := range size.viewed {
		out = append(append(out, ','), block.Bytes()...)
	}
	out = append(out, ']')
	if isError := result.Member("isError"); isError.Kind() == "boolean" {
		out = append(append(out, `,"isError":`...), isError.Bytes()...)
	}
	if meta := result.Member("_meta"); meta.Kind() == "object" && len(meta.Bytes()) <= headBytes {
		out = append(append(out, `,"_meta":`...), meta.Bytes()...)
	}
	return append(out, '}')
}

func examplePath(path string) string {
	if path == "" {
		return "content[0].text"
	}
	return path
}

func textBlock(text string) []byte {
	return append(wire.AppendString([]byte(`{"type":"text","text":`), text), '}')
}

// mainText returns the text that is read without a path: that of the only text block, or else the whole result as
// JSON, with the path "".
func mainText(result wire.Payload) (text, path string) {
	texts, i := 0, 0
	for block := range result.Member("content").Elements() {
		switch kind, _ := block.Member("type").Text(); kind {
		case "text":
			texts++
			text, _ = block.Member("text").Text()
			path = fmt.Sprintf("content[%d].text", i)
		case "image", "audio":
		default:
			texts = 2
		}
		i++
	}
	if texts != 1 {
		return string(result.Bytes()), ""
	}
	return text, path
}

// cutAt returns where to cut a text to at most size bytes: between two characters, and after at least one.
func cutAt(text string, size int) int {
	if len(text) <= size {
		return len(text)
	}
	for end := size; end > 0; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	_, first := utf8.DecodeRuneInString(text)
	return first
}
