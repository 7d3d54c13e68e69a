package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// This file is the list of what may differ between a session with a server and one through the
// workbench. All else is compared byte for byte.
//
//  1. The envelope of a message: the order of jsonrpc, id, method, params, result and error, and whitespace
//     between them. The values of id (of answers), params, result and error are compared as they are written.
//  2. Ids of the server's requests, which are each hop's own: also where notifications/cancelled names one.
//  3. Values of progress tokens that the server gives to its requests, and those that it gets. Tokens that the client gives
//     must come back to it as they were, and those of the server to the server.
//  4. In the answer to initialize: serverInfo and instructions, which are the workbench's; capabilities are compared as values.
//  5. Pages of lists: the workbench joins them. Their elements are compared, but not cursors, nor what stands beside
//     the list in a result, since there is no page that it could belong to.
//  6. In the params of a call, as the server gets them: the order of members, and arguments {} where there were none.
//  7. ping, which asks about a hop and is answered there.
//  8. How often tools/list_changed comes. The workbench looks what changed, and is silent if nothing did.
//  9. The workbench asks for roots itself, over HTTP, where clients with the same roots share servers.
//  10. The order of notifications other than progress and cancelled, in both directions.
//  11. How the acknowledgement of subscriptions/listen is written, which is the workbench's own; its values are compared.
//
// era_fields_test.go lists what may differ where the client is of one era of the protocol and the server of the other.

// isWorkbenchsOwn reports whether a question is not that of a server: no step waits for it.
func isWorkbenchsOwn(s step, question *line) bool {
	return question.Method == "roots/list" && !slices.ContainsFunc(s.replies, func(r reply) bool { return r.method == question.Method })
}

// answerLines is an answer as it is compared.
func answerLines(s step, m *line) []string {
	if m.Error != nil {
		return []string{"answer to " + string(m.ID) + " error " + string(m.Error)}
	}
	switch {
	case s.method == "server/discover":
		var result struct {
			Capabilities json.RawMessage `json:"capabilities"`
		}
		if err := json.Unmarshal(m.Result, &result); err != nil {
			return []string{"not readable: " + string(m.Result)}
		}
		return []string{"answer with capabilities " + sorted(result.Capabilities)}
	case s.method == "initialize":
		var result struct {
			Version      json.RawMessage `json:"protocolVersion"`
			Capabilities json.RawMessage `json:"capabilities"`
		}
		if err := json.Unmarshal(m.Result, &result); err != nil {
			return []string{"not readable: " + string(m.Result)}
		}
		return []string{fmt.Sprintf("answer %s with capabilities %s", result.Version, sorted(result.Capabilities))}
	case s.list != "":
		var members map[string]json.RawMessage
		var elements []json.RawMessage
		if err := json.Unmarshal(m.Result, &members); err != nil {
			return []string{"not readable: " + string(m.Result)}
		}
		if err := json.Unmarshal(members[s.list], &elements); err != nil {
			return []string{"no " + s.list + ": " + string(m.Result)}
		}
		var lines []string
		for _, element := range elements {
			lines = append(lines, s.list+" "+string(element))
		}
		return lines
	}
	return []string{"answer to " + string(m.ID) + " " + orNull(m.Result)}
}

// sorted is a value of which neither the order of members counts, nor how anything is written.
func sorted(value json.RawMessage) string {
	var read any
	if err := json.Unmarshal(value, &read); err != nil {
		return "not readable: " + string(value)
	}
	text, _ := json.Marshal(read)
	return string(text)
}

// hideQuestion replaces the id of a question by its number.
func (c *client) hideQuestion(params json.RawMessage) string {
	var which struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(params, &which)
	number, known := c.questions[string(which.RequestID)]
	if !known {
		return orNull(params)
	}
	return string(bytes.Replace(params, which.RequestID, fmt.Appendf(nil, "question %d", number), 1))
}

// hideQuestionToken hides the value of the progress token of a question.
func hideQuestionToken(params json.RawMessage) string {
	text, token := orNull(params), tokenOf(params)
	if token == "null" {
		return text
	}
	at := strings.Index(text, `"progressToken"`)
	return text[:at] + strings.Replace(text[at:], token, "TOKEN", 1)
}
