package clients

import (
	"encoding/json"
	"io"
	"net/http"
)

// This file is the formats of OpenAI: the Responses API and the Chat Completions API.

func (m *model) speakOpenAI() {
	m.handle("POST /v1/responses", readResponses, writeResponses)
	m.handle("POST /v1/chat/completions", readChat, writeChat)
}

func readResponses(body []byte) (conversation, error) {
	var request struct {
		Instructions string
		Tools        []struct {
			Type, Name, Description string
			Tools                   []struct{ Name string }
		}
		Input []struct {
			Type            string
			Output, Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return conversation{}, err
	}
	c := conversation{system: request.Instructions}
	for _, t := range request.Tools {
		if t.Type == "namespace" {
			c.system += "\n" + t.Description
		} else {
			c.tools = append(c.tools, tool{name: t.Name})
		}
		for _, inner := range t.Tools {
			c.tools = append(c.tools, tool{t.Name, inner.Name})
		}
	}
	for _, item := range request.Input {
		if item.Type == "function_call_output" {
			c.results = append(c.results, texts(item.Output))
		} else {
			c.system += "\n" + texts(item.Content)
		}
	}
	return c, nil
}

func writeResponses(w http.ResponseWriter, _ *http.Request, _ []byte, said reply) {
	item := object{
		"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
		"content": []any{object{"type": "output_text", "text": said.text, "annotations": []any{}}},
	}
	if said.call != nil {
		item = object{
			"type": "function_call", "id": "fc_1", "call_id": "call_" + said.call.tool.name, "status": "completed",
			"name": said.call.tool.name, "arguments": encode(said.call.arguments),
		}
		if said.call.tool.namespace != "" {
			item["namespace"] = said.call.tool.namespace
		}
	}
	response := object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "response.created", object{"type": "response.created", "response": response})
	event(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", object{"type": "response.completed", "response": object{
		"id": "resp_1", "object": "response", "status": "completed", "output": []any{item},
		"usage": object{
			"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}})
}

func readChat(body []byte) (conversation, error) {
	var request struct {
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return conversation{}, err
	}
	var c conversation
	for _, t := range request.Tools {
		c.tools = append(c.tools, tool{name: t.Function.Name})
	}
	for _, m := range request.Messages {
		if m.Role == "tool" {
			c.results = append(c.results, texts(m.Content))
		} else {
			c.system += "\n" + texts(m.Content)
		}
	}
	return c, nil
}

func writeChat(w http.ResponseWriter, _ *http.Request, body []byte, said reply) {
	var request struct {
		Model  string
		Stream bool
	}
	_ = json.Unmarshal(body, &request) // it was read before
	message, finish := object{"role": "assistant", "content": said.text}, "stop"
	if said.call != nil {
		finish = "tool_calls"
		message = object{"role": "assistant", "content": nil, "tool_calls": []any{object{
			"index": 0, "id": "call_" + said.call.tool.name, "type": "function",
			"function": object{"name": said.call.tool.name, "arguments": encode(said.call.arguments)},
		}}}
	}
	usage := object{"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
	chunk := func(kind, part string, content object, finish any) object {
		return object{
			"id": "chatcmpl-1", "object": kind, "created": 1, "model": request.Model, "usage": usage,
			"choices": []any{object{"index": 0, part: content, "finish_reason": finish}},
		}
	}
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(chunk("chat.completion", "message", message, finish))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, "", chunk("chat.completion.chunk", "delta", message, nil))
	event(w, "", chunk("chat.completion.chunk", "delta", object{}, finish))
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
