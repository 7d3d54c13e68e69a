package clients

import (
	"encoding/json"
	"net/http"
	"strings"
)

// This file is the format of the Gemini API.

func (m *model) speakGemini() {
	generate := func(w http.ResponseWriter, r *http.Request, _ []byte, said reply) {
		part := object{"text": said.text}
		if said.call != nil {
			part = object{"functionCall": object{"name": said.call.tool.name, "args": said.call.arguments}}
		}
		answer := object{
			"candidates": []any{object{
				"index": 0, "finishReason": "STOP",
				"content": object{"role": "model", "parts": []any{part}},
			}},
			"usageMetadata": object{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
		}
		if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
			w.Header().Set("Content-Type", "text/event-stream")
			event(w, "", answer)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}
	m.handle("POST /v1beta/models/{action}", readGemini, func(w http.ResponseWriter, r *http.Request, body []byte, said reply) {
		if strings.HasSuffix(r.URL.Path, ":countTokens") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(object{"totalTokens": 1000})
			return
		}
		generate(w, r, body, said)
	})
}

func readGemini(body []byte) (conversation, error) {
	type content struct {
		Parts []struct {
			Text             string
			FunctionResponse *struct{ Response map[string]any }
		}
	}
	var request struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return conversation{}, err
	}
	var c conversation
	for _, group := range request.Tools {
		for _, t := range group.FunctionDeclarations {
			c.tools = append(c.tools, tool{name: t.Name})
		}
	}
	for _, content := range append(request.Contents, request.SystemInstruction) {
		for _, part := range content.Parts {
			c.system += "\n" + part.Text
			if part.FunctionResponse == nil {
				continue
			}
			if output, ok := part.FunctionResponse.Response["output"].(string); ok {
				c.results = append(c.results, output)
			} else {
				c.results = append(c.results, encode(part.FunctionResponse.Response))
			}
		}
	}
	return c, nil
}
