package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// This file is what the client does in the modern era only.

// hopOf are the members that the _meta of each request has.
func hopOf(capabilities string) string {
	return `"io.modelcontextprotocol/protocolVersion":"` + modernRevision + `","io.modelcontextprotocol/clientInfo":{"name":"scr\u0069pt","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities
}

// asksForInput reports whether an answer is not the end of its request.
func asksForInput(answer *line) bool {
	var result struct {
		Type string `json:"resultType"`
	}
	return json.Unmarshal(answer.Result, &result) == nil && result.Type == "input_required"
}

// again answers the questions of a result by sending the request once more.
func (c *client) again(s step, id, params string, answer *line, got *exchange) (next string) {
	c.t.Helper()
	var result struct {
		Questions json.RawMessage `json:"inputRequests"`
		State     json.RawMessage `json:"requestState"`
	}
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		c.t.Fatal(err)
	}
	last := len(got.inOrder) - 1
	got.inOrder[last] = roundLine + strings.TrimPrefix(got.inOrder[last], "answer ")
	var answers []string
	for key, value := range membersOf(c.t, result.Questions) {
		var question line
		if err := json.Unmarshal(value, &question); err != nil {
			c.t.Fatal(err)
		}
		got.inOrder = append(got.inOrder, "question "+question.Method+" "+orNull(question.Params))
		for _, r := range s.replies {
			if r.method == question.Method {
				answers = append(answers, key+":"+strings.TrimPrefix(r.body, `"result":`))
			}
		}
	}
	if got.rounds++; got.rounds > maxRounds {
		c.t.Fatalf("'%s': more than %d rounds", s.name, maxRounds)
	}
	next = fmt.Sprintf(`"%s, round %d"`, strings.Trim(id, `"`), got.rounds)
	members := `,"inputResponses":{` + strings.Join(answers, ",") + `}`
	if result.State != nil {
		members += `,"requestState":` + string(result.State)
	}
	params = strings.TrimSuffix(strings.TrimRight(params, " "), "}") + members + "}"
	c.link.send(`{"jsonrpc":"2.0","id":` + next + `,"params":` + params + `,"method":` + strconv.Quote(s.method) + `}`)
	return next
}

// roundLine begins the line of an answer that asks for input.
const roundLine = "round "

// maxRounds is how often a request of the script is sent again.
const maxRounds = 5

// membersOf yields the members of an object in their order, with keys and values as they are
// written.
func membersOf(t fataler, object json.RawMessage) func(yield func(key string, value json.RawMessage) bool) {
	return func(yield func(key string, value json.RawMessage) bool) {
		decoder := json.NewDecoder(bytes.NewReader(object))
		if _, err := decoder.Token(); err != nil {
			t.Fatal(err)
		}
		for decoder.More() {
			at := decoder.InputOffset()
			if _, err := decoder.Token(); err != nil {
				t.Fatal(err)
			}
			key := string(bytes.TrimLeft(object[at:decoder.InputOffset()], " ,\t"))
			var value json.RawMessage
			if err := decoder.Decode(&value); err != nil {
				t.Fatal(err)
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// fataler is a test.
type fataler interface{ Fatal(arguments ...any) }
