package metatool

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const useName = "use_tool"

// useDefinition defines use_tool.
func (s *Surface) useDefinition() []byte {
	condition := ", which must be open"
	if s.discovery.AutoOpen {
		condition = ""
	}
	return []byte(`{"name":"use_tool","title":"Use a tool",` +
		`"description":"Run a tool of ` + s.usableToolbox() + `. Take toolbox, server and name of the tool, and what it takes, from the answer of open_toolbox or find_tools.",` +
		`"inputSchema":{"type":"object","properties":{` +
		`"tool":{"type":"object","description":"Which tool to run","properties":{` +
		`"toolbox":{"type":"string","minLength":1,"description":"Name of the toolbox` + condition + `"},` +
		`"server":{"type":"string","minLength":1,"description":"Name of the server in the toolbox"},` +
		`"name":{"type":"string","minLength":1,"description":"Name of the tool, as open_toolbox lists it"}},` +
		`"required":["toolbox","server","name"],"additionalProperties":false},` +
		`"arguments":{"type":"object","description":"Arguments of the tool, as its inputSchema says","default":{}}},` +
		`"required":["tool"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true},"_meta":{` + alwaysLoad + `}}`)
}

// usableToolbox says of which toolboxes tools can be run.
func (s *Surface) usableToolbox() string {
	if s.discovery.AutoOpen {
		return "any toolbox"
	}
	return "an open toolbox"
}

// currentForm is added to the answer of a call in a retired form.
const currentForm = "Name the tool like this: " + exampleCall

func (s *Surface) useTool(request Request) { s.runTool(request, nil) }

// runTool runs the tool that the input of use_tool or read_tool names.
func (s *Surface) runTool(request Request, admit call.Admit) {
	if request.ref == (toolbox.Ref{}) {
		var problem string
		if request.ref, request.Arguments, problem = parseUse(request.Arguments); problem != "" {
			request.fail("Invalid tool invocation parameters: " + problem)
			return
		}
	}
	if !request.Session.IsOpen(request.ref.Toolbox) {
		s.failNotOpen(&request)
		return
	}
	s.callUsed(&request, admit)
}

func (s *Surface) failNotOpen(request *Request) {
	name := request.ref.Toolbox
	text := fmt.Sprintf("Error executing tool: Toolbox '%s' is not open", name)
	if _, ok := s.visible.Toolbox(name); !ok {
		text += fmt.Sprintf(". Toolbox '%s' not found. ", name)
		if near := toolbox.Nearest(name, s.toolboxNames(), 1); len(near) > 0 {
			text += "Did you mean '" + near[0] + "'? "
		}
		if text += s.availableToolboxes(); !s.discovery.AutoOpen {
			text += ": open one of them with open_toolbox first"
		}
		s.failUnknownToolbox(&request.Origin, text)
		return
	}
	request.fail(text + fmt.Sprintf(". Call open_toolbox with %s first", append(wire.AppendMember([]byte("{"), "toolbox", name), '}')))
}

// parseUse reads the arguments of use_tool or read_tool; problem describes all mistakes in them.
func parseUse(input wire.Payload) (ref toolbox.Ref, arguments wire.Payload, problem string) {
	if kind := input.Kind(); kind != "object" && kind != "null" && kind != "undefined" {
		return ref, arguments, "Expected object, received " + kind
	}
	var tool wire.Payload
	var unknown []string
	for key, value := range input.Members() {
		switch string(key) {
		case "tool":
			tool = value
		case "arguments":
			arguments = value
		default:
			unknown = append(unknown, string(key))
		}
	}
	ref, problems, retired := parseRef(tool)
	arguments, argumentsProblem := parseArguments(arguments)
	if argumentsProblem != "" {
		problems = append(problems, argumentsProblem)
	}
	if len(unknown) > 0 {
		problems = append(problems, unrecognized(unknown))
		for _, key := range unknown {
			retired = retired || key == "toolbox_name" || key == "tool_name"
		}
	}
	problem = strings.Join(problems, "; ")
	if retired {
		problem += ". " + currentForm
	}
	return ref, arguments, problem
}

// parseRef reads the tool's reference; retired reports the old form.
func parseRef(tool wire.Payload) (ref toolbox.Ref, problems []string, retired bool) {
	switch kind := tool.Kind(); kind {
	case "object":
	case "undefined":
		return ref, []string{"tool: Required"}, false
	default:
		return ref, []string{"tool: Expected object, received " + kind}, false
	}
	var box, server, name wire.Payload
	var unknown []string
	for key, value := range tool.Members() {
		switch string(key) {
		case "toolbox":
			box = value
		case "server":
			server = value
		case "name":
			name = value
		default:
			unknown = append(unknown, string(key))
			retired = retired || string(key) == "tool"
		}
	}
	problems = readRefMember(&ref.Toolbox, box, "toolbox", "Toolbox name", problems)
	problems = readRefMember(&ref.Server, server, "server", "Server name", problems)
	problems = readRefMember(&ref.Name, name, "name", "Tool name", problems)
	if len(unknown) > 0 {
		problems = append(problems, "tool: "+unrecognized(unknown))
	}
	return ref, problems, retired
}

// readRefMember reads a member of the reference, and appends a problem if it is invalid.
func readRefMember(into *string, value wire.Payload, key, label string, problems []string) []string {
	text, isString := value.Name()
	*into = text
	switch {
	case value.IsAbsent():
		return append(problems, "tool."+key+": Required")
	case !isString:
		return append(problems, "tool."+key+": Expected string, received "+value.Kind())
	case text == "":
		return append(problems, "tool."+key+": "+label+" cannot be empty")
	}
	return problems
}

func unrecognized(keys []string) string {
	return "Unrecognized key(s) in object: '" + strings.Join(keys, "', '") + "'"
}

// parseArguments returns the arguments of the tool. Some models send the object as a string.
func parseArguments(arguments wire.Payload) (_ wire.Payload, problem string) {
	switch kind := arguments.Kind(); kind {
	case "object":
		return arguments, ""
	case "undefined", "null":
		return wire.Payload{}, ""
	case "string":
		text, _ := arguments.Text()
		if inner, err := wire.ParseValue([]byte(text)); err == nil && inner.Kind() == "object" {
			return inner, ""
		}
		return wire.Payload{}, "arguments: Expected object, received string"
	default:
		return wire.Payload{}, "arguments: Expected object, received " + kind
	}
}
