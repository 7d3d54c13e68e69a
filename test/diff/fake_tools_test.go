package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// toolParams are what tools look at in the params of their call.
type toolParams struct {
	Arguments struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Notes  []struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		} `json:"notes"`
	} `json:"arguments"`
	Meta struct {
		Token        json.RawMessage `json:"progressToken"`
		Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		Level        string          `json:"io.modelcontextprotocol/logLevel"`
	} `json:"_meta"`
}

// call runs a tool. Those that do something have a function here; the others are bytes.
func (f *fake) call(m line, name string, stop <-chan struct{}) {
	var params toolParams
	_ = json.Unmarshal(m.Params, &params)
	switch name {
	case "echo":
		f.respond(m, fmt.Sprintf(`{"content":[],"params":%s}`, callParams(m.Params, params.Meta.Token)))
	case "progress":
		f.progress(m, params.Meta.Token)
		f.respond(m, `{"content":[{"type":"text","text":"done"}]}`)
	case "hang":
		f.progress(m, params.Meta.Token)
		<-stop
		f.ended <- struct{}{}
	case "ask":
		f.respond(m, f.askAndTell(m, params.Arguments.Method, params.Arguments.Params))
	case "ask_two":
		_, first := f.ask(m.about, "elicitation/create", `{"mode":"form","message":"first","requestedSchema":{"type":"object","properties":{}}}`)
		_, second := f.ask(m.about, "roots/list", "")
		f.respond(m, fmt.Sprintf(`{"content":[],"answers":[%s,%s]}`, answerText(<-first), answerText(<-second)))
	case "take_back":
		id, _ := f.ask(m.about, "elicitation/create", `{"mode":"form","message":"never \u006dind","requestedSchema":{"type":"object","properties":{}}}`)
		f.notify(m.about, "notifications/cancelled", fmt.Sprintf(`{"reason":"too l\u0061te","requestId":%s,"_meta":{"a":1.0}}`, id))
		f.respond(m, `{"content":[{"type":"text","text":"taken back"}]}`)
	case "notes":
		for _, note := range params.Arguments.Notes {
			if note.Method == "notifications/tools/list_changed" {
				f.grow()
			}
			f.notify(nil, note.Method, string(note.Params))
		}
		f.respond(m, `{"content":[]}`)
	case "log":
		f.notify(m.about, "notifications/message", `{"level":"info","data":{"b":9007199254740993,"a":"\u00e9"},"logger":"x\/y","_meta":{},"zzz":null}`)
		f.notify(m.about, "notifications/message", `{ "data" : "plain" , "level" : "emergency" }`)
		f.respond(m, `{"content":[]}`)
	case "heard":
		f.mu.Lock()
		heard, cancelled := strings.Join(slices.Sorted(slices.Values(f.heard)), ","), f.cancelled
		f.mu.Unlock()
		f.respond(m, fmt.Sprintf(`{"content":[],"heard":[%s],"cancelled":%d}`, heard, cancelled))
	case "cancelled":
		select {
		case <-f.ended: // over HTTP, the end of a request may be noticed later than the next one
			f.respond(m, `{"content":[],"cancelled":true}`)
		case <-time.After(patience / 2):
			f.respond(m, `{"content":[],"cancelled":false}`)
		}
	case "told":
		f.mu.Lock()
		told := f.told
		f.mu.Unlock()
		var said struct {
			Capabilities json.RawMessage `json:"capabilities"`
		}
		_ = json.Unmarshal(told, &said)
		f.respond(m, fmt.Sprintf(`{"content":[],"capabilities":%s}`, orNull(said.Capabilities)))
	default:
		f.stored(m, name)
	}
}

// stored answers with bytes of the table.
func (f *fake) stored(m line, name string) {
	if problem, ok := problems["tools/call "+name]; ok {
		f.fail(m, problem)
		return
	}
	if result, ok := replies["tools/call "+name]; ok {
		f.respond(m, result)
		return
	}
	f.respond(m, fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":"no such tool: %s"}]}`, name))
}

// callParams shows the params of a call as they arrived, but for their order, the value of the
// progress token, and empty arguments, which are as good as none.
func callParams(params, token json.RawMessage) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &members); err != nil {
		return "null"
	}
	var shown []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := string(members[name])
		if name == "arguments" && value == "{}" {
			continue
		}
		if at := strings.Index(value, `"progressToken"`); name == "_meta" && token != nil && at >= 0 {
			value = value[:at] + strings.Replace(value[at:], string(token), `"TOKEN"`, 1)
		}
		shown = append(shown, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(shown, ",") + "}"
}

func (f *fake) progress(m line, token json.RawMessage) {
	if token == nil {
		return
	}
	for _, form := range []string{
		`{"progressToken":%s,"progress":0.10,"total":1e1,"message":"h\u0061lf"}`,
		`{ "message" : "\ud83d\ude00" , "_meta":{"k":[ ]}, "progress":9007199254740993 , "progressToken" : %s, "future":{} }`,
	} {
		f.notify(m.about, "notifications/progress", fmt.Sprintf(form, token))
	}
}

func (f *fake) askAndTell(m line, method string, params json.RawMessage) string {
	_, answer := f.ask(m.about, method, string(params))
	return fmt.Sprintf(`{"content":[],"answer":%s}`, answerText(<-answer))
}

// answerText shows the client's answer as it arrived.
func answerText(answer line) string {
	if answer.Error != nil {
		return fmt.Sprintf(`{"error":%s}`, answer.Error)
	}
	return fmt.Sprintf(`{"result":%s}`, orNull(answer.Result))
}
