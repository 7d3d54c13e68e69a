package metatool

import (
	"fmt"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Keeper is a Session that results can be kept for. Clients without a session have no
// later request that could be told from another client's, and get every result whole.
type Keeper interface {
	Results() *Results
}

// resultsFor returns where large results for the client are kept; nil if they are not.
func (s *Surface) resultsFor(session Session) *Results {
	keeper, ok := session.(Keeper)
	if s.discovery.MaxResultBytes <= 0 || !ok {
		return nil
	}
	return keeper.Results()
}

// resultLimit is how a result is made to fit.
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

// Shortened returns the answer as the client gets it: of a result that is too large, the head
// and how to read on. Call it last, when nothing of the result is changed any more.
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

// resultSize is what a model gets to see of a result.
type resultSize struct {
	read       int            // bytes that are read as text
	viewed     []wire.Payload // blocks that are no text: their bytes are not what they cost
	structured bool
}

// measureResult looks through a result; ok is false if it is no complete result of a tool.
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

// headBytes is how much of a large result is shown at once, if the limit is not small.
const headBytes = 4 << 10

// head is the result that stands for a larger one.
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

// mainText is what is read of a result if no path is given: the text of its only block that
// is read as text, or else all of it as JSON, with the path "".
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

// cutAt returns where a text is cut that is to have at most size bytes: between two
// characters, and behind the first of them in any case.
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
