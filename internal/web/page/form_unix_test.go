//go:build unix

package page

import (
	"net/http"
	"strings"
	"testing"
)

func TestFormAndCheck(t *testing.T) {
	s := startSite(t, runtime(t))
	const definition = `{"name":"x","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	for _, test := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"form", `{"definition":` + definition + `}`, 200, `{"path":"","type":"object","required":true,"fields":[{"name":"n","path":"/n","type":"integer","required":true}]}`},
		{"form", `{"schema":{"properties":{"a":{"type":"string"}}}}`, 200, `{"path":"","type":"object","required":true,"fields":[{"name":"a","path":"/a","type":"text"}]}`},
		{"form", `{}`, 200, `{"path":"","type":"object","required":true}`},
		{"form", `[]`, 400, ""},
		{"form", `{`, 400, ""},
		{"form", strings.Repeat(" ", maxBody+1), 413, ""},
		{"check", `{"definition":` + definition + `,"arguments":{"n":1}}`, 200, `{"problems":[],"notes":[]}`},
		{"check", `{"definition":` + definition + `,"arguments":{"n":"x","m":1}}`, 200, `{"problems":["Parameter 'n' takes a whole number, not a text"],"notes":["The tool names no parameter 'm'; did you mean 'n'?"]}`},
		{"check", `{"definition":` + definition + `,"arguments":[1]}`, 400, ""},
	} {
		code, text := s.text(t, http.MethodPost, "/ui/api/"+test.path, test.body)
		if code != test.code || test.want != "" && strings.TrimSpace(text) != test.want {
			t.Errorf("%s %.80s: %d %s", test.path, test.body, code, text)
		}
	}
}
