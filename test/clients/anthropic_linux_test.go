package clients

import (
	"encoding/json"
	"net/http"
	"strings"
)

// This file is the format of the Anthropic Messages API.

func (m *model) speakAnthropic() {
	m.handle("POST /v1/messages", readAnthropic, writeAnthropic)
	m.transport.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"input_tokens": 1000})
	})
}

func readAnthropic(body []byte) (conversation, error) {
	var request struct {
		System   json.RawMessage
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return conversation{}, err
	}
	c := conversation{system: texts(request.System)}
	for _, t := range request.Tools {
		c.tools = append(c.tools, tool{name: t.Name})
	}
	for _, m := range request.Messages {
		var blocks []struct {
			Type, Text string
			Content    json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			c.system += "\n" + texts(m.Content)
			continue
		}
		for _, block := range blocks {
			if block.Type == "tool_result" {
				c.results = append(c.results, texts(block.Content))
			}
			c.system += "\n" + block.Text
		}
	}
	return c, nil
}

func writeAnthropic(w http.ResponseWriter, _ *http.Request, body []byte, said reply) {
	var request struct {
		Model  string
		Stream bool
	}
	_ = json.Unmarshal(body, &request) // it was read before
	block, stop := object{"type": "text", "text": said.text}, "end_turn"
	if said.call != nil {
		block = object{"type": "tool_use", "id": "toolu_" + strings.ReplaceAll(said.call.tool.name, "-", "_"), "name": said.call.tool.name, "input": said.call.arguments}
		stop = "tool_use"
	}
	usage := object{"input_tokens": 1000, "output_tokens": 10}
	whole := object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": request.Model,
		"content": []any{block}, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	begun, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": said.text}
	if said.call != nil {
		begun = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": encode(said.call.arguments)}
	}
	whole["content"], whole["stop_reason"] = []any{}, nil
	event(w, "message_start", object{"type": "message_start", "message": whole})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": begun})
	event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	event(w, "message_stop", object{"type": "message_stop"})
}
