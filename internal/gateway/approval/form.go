package approval

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file writes the form that a client shows to its user, and reads what the client sends back.

// field is the name of the form's only value.
const field = "approval"

// choices are the answers in the order in which they are offered.
var choices = []struct {
	answer Answer
	title  string
}{
	{Once, "Yes, this once"},
	{Same, "Yes, also later in this session with the same arguments"},
	{Session, "Yes, for all calls of this tool in this session"},
	{No, "No"},
}

// Revisions have written the titles of choices in two ways. The older one is valid in all legacy revisions, and the
// modern one has deprecated it.
var (
	legacyForm = form(func() string {
		var words, titles []string
		for _, choice := range choices {
			words = append(words, quoted(choice.answer.String()))
			titles = append(titles, quoted(choice.title))
		}
		return `"enum":[` + strings.Join(words, ",") + `],"enumNames":[` + strings.Join(titles, ",") + `]`
	}())
	modernForm = form(func() string {
		var options []string
		for _, choice := range choices {
			options = append(options, `{"const":`+quoted(choice.answer.String())+`,"title":`+quoted(choice.title)+`}`)
		}
		return `"oneOf":[` + strings.Join(options, ",") + `]`
	}())
)

func form(options string) string {
	return `{"type":"object","properties":{"` + field + `":{"type":"string","title":"Allow this call?",` + options + `}},"required":["` + field + `"]}`
}

func quoted(text string) string { return string(wire.AppendString(nil, text)) }

// params returns those of the question for a client.
func params(message string, modern bool) wire.Payload {
	schema := legacyForm
	if modern {
		schema = modernForm
	}
	text := append(wire.AppendMember([]byte("{"), "message", message), `,"requestedSchema":`...)
	return wire.Raw(append(append(text, schema...), '}'))
}

// IsQuestion reports whether the params of an elicitation are those of a question about a call. A server can ask the same,
// but gets nothing from the answer that it could use.
func IsQuestion(params wire.Payload) bool {
	schema := string(params.Member("requestedSchema").Bytes())
	return schema == legacyForm || schema == modernForm
}

// Titles are the choices of a person whose session ends with the call, so that nothing can be allowed for later.
var Titles = []string{"Yes", "No"}

// Chosen returns the result of an elicitation for one of the Titles.
func Chosen(choice int) []byte {
	return []byte(`{"action":"accept","content":{"` + field + `":"` + []Answer{Once, No}[choice].String() + `"}}`)
}

// clientAnswer is what a client sent back.
type clientAnswer struct {
	answer    Answer
	dismissed bool // the person closed the form without a choice; the answer is No
	unable    bool // nobody was asked
}

// isNo reports whether a person chose no.
func (a clientAnswer) isNo() bool { return a.answer == No && !a.dismissed && !a.unable }

// read reads the client's response. Whatever is not clearly a yes is a no.
func read(response wire.Message, unsupported bool) clientAnswer {
	if unsupported || !response.Error.IsAbsent() {
		return clientAnswer{unable: true}
	}
	switch action, _ := response.Result.Member("action").Text(); action {
	case "accept":
	case "cancel":
		return clientAnswer{dismissed: true}
	default:
		return clientAnswer{}
	}
	var found []wire.Payload
	for key, value := range response.Result.Member("content").Members() {
		if string(key) == field {
			found = append(found, value)
		}
	}
	if len(found) != 1 {
		return clientAnswer{}
	}
	word, _ := found[0].Text()
	answer, _ := ParseAnswer(word)
	return clientAnswer{answer: answer}
}
