package config

import (
	"bytes"
	"path/filepath"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// PolicyCase is a call with the verdict that it should get: one case of a file for 'policy test'.
type PolicyCase struct {
	Caller    string       // CallerStdio unless given
	History   []NamedTool  // earlier calls of the caller
	Tool      NamedTool    // that is called
	Arguments wire.Payload // an object
	Verdict   Verdict
}

// NamedTool is the name of a tool in a file.
type NamedTool struct {
	Name string
	At   Problem // its position, for a mistake
}

var casesObject = object{isStrict: true, keys: []key{{
	name: "cases", kinds: []kind{kindArray}, noun: "Case", members: &caseObject, required: "must have a 'cases' list",
	example: `[{"tool": "dev/files/read", "arguments": {"path": "README.md"}, "verdict": "allow"}]`,
}}}

var caseToolKey = key{
	name: "tool", kinds: []kind{kindString}, nonEmpty: true, required: "must have a 'tool' field", example: `"dev/files/read"`,
}

var caseObject = object{isStrict: true, keys: []key{
	{name: "caller", kinds: []kind{kindString}, check: CheckCaller, example: `"token:ci"`},
	{name: "history", kinds: []kind{kindArray}, noun: "Call", members: &caseHistoryObject, example: `[{"tool": "dev/slack/post"}]`},
	caseToolKey,
	{name: "arguments", kinds: []kind{kindObject}, free: true, example: `{"path": "README.md"}`},
	{name: "verdict", kinds: []kind{kindString}, enum: verdicts, required: "must have a 'verdict' field"},
}}

var caseHistoryObject = object{isStrict: true, keys: []key{caseToolKey}}

// CheckCaller returns the mistake in the name of a caller whose call is judged; "" if there is none.
func CheckCaller(text string) string {
	if text == CallerHTTP || checkCaller(text) == "" {
		return ""
	}
	return `must be "stdio", "shared", "terminal", "http", "token:NAME" with the name of a token` + outsiders
}

// casesPlace is the root of a file with cases.
var casesPlace = place{subject: "The file", at: &path{key: "file", index: -1}}

// ReadPolicyCases reads a file for 'policy test'. It may have comments; variables are not expanded. The error is of type
// *Error unless the current folder cannot be determined.
func ReadPolicyCases(name string) ([]PolicyCase, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, absError(err)
	}
	data, _, err := readFile(name)
	if err != nil {
		unreadable := readError(name, err)
		if unreadable.Code == toolbox.ConfigNotFound {
			unreadable.Problems[0].Hint = "name a file with cases"
		}
		unreadable.Code = toolbox.CasesInvalid
		return nil, unreadable
	}
	return parsePolicyCases(name, data)
}

func parsePolicyCases(name string, data []byte) ([]PolicyCase, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	r := newReport(data)
	value, ok := parseJSON(data, r, "Invalid JSON: ")
	if !ok {
		return nil, r.failure(toolbox.CasesInvalid, name)
	}
	root := (&treeBuilder{report: r, literal: true}).value(value, casesPlace.at, false)
	if c := (&checker{r}); root.kind == kindObject {
		c.object(&root, root.offset, &casesObject, casesPlace)
	} else {
		c.wrongKind(&root, casesObject.key("cases"), casesPlace)
	}
	if len(r.errors) > 0 {
		return nil, r.failure(toolbox.CasesInvalid, name)
	}
	var cases []PolicyCase
	at := casesPlace.at.member("cases")
	for i, n := range root.get("cases").elements {
		cases = append(cases, r.policyCase(&n, at.element(i)))
	}
	return cases, nil
}

func (r *report) policyCase(n *node, at *path) PolicyCase {
	one := PolicyCase{
		Caller: CallerStdio, Tool: r.namedTool(n, at), Arguments: wire.Raw([]byte("{}")), Verdict: ParseVerdict(n.get("verdict").string()),
	}
	if caller := n.get("caller"); caller != nil {
		one.Caller = caller.text
	}
	if arguments := n.get("arguments"); arguments != nil {
		one.Arguments = wire.Raw(arguments.appendJSON(nil))
	}
	if history := n.get("history"); history != nil {
		for i := range history.elements {
			one.History = append(one.History, r.namedTool(&history.elements[i], at.member("history").element(i)))
		}
	}
	return one
}

func (r *report) namedTool(n *node, at *path) NamedTool {
	tool := n.get("tool")
	line := r.line(tool.offset)
	column := utf8.RuneCount(r.data[r.lines[line-1]:tool.offset]) + 1
	return NamedTool{Name: tool.text, At: Problem{Line: line, Column: column, Path: at.member("tool").String()}}
}

// appendJSON appends the value in JSON.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case kindObject:
		dst = append(dst, '{')
		for i := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(wire.AppendString(dst, n.members[i].name), ':')
			dst = n.members[i].value.appendJSON(dst)
		}
		return append(dst, '}')
	case kindArray:
		dst = append(dst, '[')
		for i := range n.elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.elements[i].appendJSON(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.literal().Bytes()...)
}
