package rig

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
)

// Hidden is a description with what a person does not see, or that a terminal obeys.
const Hidden = "plain\u200b\u202e\u2066\U000e0041\x1b[31m\ufeff words"

// listRoles have odd lists of tools.
var listRoles = map[string]role{
	"twice": {tools: "," + tool("same") + "," + tool("same") + "," + tool("echo")},
	"absurd": {tools: `,{"name":"none"},{"name":"null","inputSchema":null},{"name":"text","inputSchema":"x"},` +
		`{"name":"array","inputSchema":[]},{"name":"loop","inputSchema":{"$ref":"#"}},{"inputSchema":{"type":"object"}},` +
		`{"name":"","inputSchema":{}},{"name":5,"inputSchema":{}},null,"x",` + tool("fine")},
	"many": {on: on("tools/list", func(s *server, m request) { s.answer(m, `{"tools":[`+tool("echo")+manyTools(10000)+`]}`) })},
	"pages": {on: on("tools/list", func(s *server, m request) {
		switch m.Params.Cursor {
		case "":
			s.answer(m, `{"tools":[`+tool("echo")+`],"nextCursor":"two"}`)
		case "two":
			s.answer(m, `{"tools":[`+tool("second")+`],"nextCursor":"three"}`)
		default:
			s.answer(m, `{"tools":[`+tool("third")+`]}`)
		}
	})},
	"endless-pages": {on: on("tools/list", func(s *server, m request) {
		s.answer(m, `{"tools":[`+tool("echo")+`],"nextCursor":"`+rand.Text()+`"}`)
	})},
	"repeated-page": {on: on("tools/list", func(s *server, m request) {
		s.answer(m, `{"tools":[`+tool("echo")+`],"nextCursor":"again"}`)
	})},
	"changing": {calls: map[string]func(*server, request){
		"flood": func(s *server, m request) {
			s.add("fresh")
			s.raw([]byte(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", 5000)))
			s.text(m, "flooded")
		},
		"add": func(s *server, m request) {
			s.add("added")
			s.changed()
			s.text(m, "done")
		},
		"remove": func(s *server, m request) {
			s.mu.Lock()
			s.gone = append(slices.Clone(s.gone), "victim")
			s.mu.Unlock()
			s.changed()
			s.text(m, "done")
		},
		"victim": func(s *server, m request) { s.text(m, "alive") },
	}},
	"hidden": {tools: `,{"name":"sly","description":` + quote(Hidden) + `,"inputSchema":{"type":"object","properties":{"p":{"type":"string","description":` +
		quote(Hidden) + `}}},"annotations":{"title":` + quote(Hidden) + `}}`},
	"impostor": {tools: "," + tool("open_toolbox") + "," + tool("use_tool")},
}

func manyTools(n int) string {
	var all strings.Builder
	for i := range n {
		all.WriteString("," + tool(fmt.Sprintf("tool-%d", i)))
	}
	return all.String()
}

func (s *server) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra += "," + tool(name)
}
