package metatool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

const openName = "open_toolbox"

// listedToolboxes is how many toolboxes open_toolbox lists in its definition.
const listedToolboxes = 100

func openDefinition(visible Toolboxes) []byte {
	boxes := visible.Toolboxes()
	description := "Connect to the servers of a toolbox and list their tools with input schemas. " +
		"Call it once before use_tool; calling it again is harmless."
	for i, box := range boxes {
		if i == 0 {
			description += " Toolboxes:"
		}
		if i == listedToolboxes {
			description += fmt.Sprintf("\n- and %d more, see the instructions of this server", len(boxes)-i)
			break
		}
		description += "\n- " + box.Name
		if box.Description != "" {
			description += ": " + box.Description
		}
	}
	definition := []byte(`{"name":"open_toolbox","title":"Open a toolbox","description":`)
	definition = wire.AppendString(definition, description)
	definition = append(definition, `,"inputSchema":{"type":"object","properties":{"toolbox":{"type":"string","minLength":1,`...)
	definition = append(definition, `"description":"Name of the toolbox to open"`...)
	if len(boxes) > 0 && len(boxes) <= listedToolboxes {
		definition = append(definition, `,"enum":[`...)
		for i, box := range boxes {
			if i > 0 {
				definition = append(definition, ',')
			}
			definition = wire.AppendString(definition, box.Name)
		}
		definition = append(definition, ']')
	}
	definition = append(definition, `},"detail":{"type":"string","enum":["full","brief"],"default":"full",`+
		`"description":"brief answers with signatures instead of whole input schemas"`...)
	return append(definition, `}},"required":["toolbox"],"additionalProperties":false},`+
		`"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"_meta":{`+alwaysLoad+`}}`...)
}

// parseOpen reads the arguments; problem says all that is wrong with them.
func parseOpen(arguments wire.Payload) (name string, brief bool, problem string) {
	if kind := arguments.Kind(); kind != "object" && kind != "null" && kind != "undefined" {
		return "", false, "Expected object, received " + kind
	}
	fields := []struct {
		key   string
		value wire.Payload
	}{{key: "toolbox"}, {key: "toolbox_name"}}
	var unknown []string
	var detail wire.Payload
	for key, value := range arguments.Members() {
		switch string(key) {
		case "detail":
			detail = value
		case fields[0].key:
			fields[0].value = value
		case fields[1].key:
			fields[1].value = value
		default:
			unknown = append(unknown, fmt.Sprintf("Unrecognized key: '%s'", key))
		}
	}
	var names, problems []string
	for _, field := range fields {
		text, isString := field.value.Text()
		switch {
		case field.value.IsAbsent():
			continue
		case !isString:
			problems = append(problems, field.key+": Expected string, received "+field.value.Kind())
		case strings.TrimSpace(text) == "":
			problems = append(problems, field.key+" cannot be empty")
		}
		names = append(names, text)
	}
	switch {
	case len(names) == 0:
		problems = append(problems, "toolbox: Required")
	case len(names) == 2 && names[0] != names[1] && len(problems) == 0:
		problems = append(problems, "toolbox and toolbox_name are different; send toolbox alone")
	}
	brief, detailProblem := parseDetail(detail)
	if detailProblem != "" {
		problems = append(problems, detailProblem)
	}
	if problems = append(problems, unknown...); len(problems) > 0 {
		return "", false, strings.Join(problems, "; ")
	}
	return names[0], brief, ""
}

func (s *Surface) openToolbox(request Request) {
	name, brief, problem := parseOpen(request.Arguments)
	if problem != "" {
		request.fail("Invalid parameters: " + problem)
		return
	}
	box, ok := s.visible.Toolbox(name)
	if !ok {
		request.fail(fmt.Sprintf("Toolbox '%s' not found in configuration", name), s.available())
		return
	}
	go func() { request.Answerer.Answer(s.connect(box, request, brief)) }()
}

// connect connects the servers of a toolbox, and answers with what they offer.
func (s *Surface) connect(box *fleet.Toolbox, request Request, brief bool) Answer {
	ctx, stop := request.Ticket.Context()
	defer stop()
	opened := box.Open(ctx, request.Session.Party(), progressOf(request, len(box.Servers)))
	for _, o := range opened {
		if o.Lease != nil {
			defer o.Lease.Release()
		}
	}
	if ctx.Err() != nil {
		return Answer{Cancelled: context.Cause(ctx)}
	}
	result, errs := render(request.Session, box, opened, brief)
	if len(errs) > 0 && len(errs) == len(opened) {
		return Answer{Text: textResult(true, strings.Join(errs, "\n"))}
	}
	// Of servers that come up later, clients are told when they do; see Shows.
	if first := request.Session.MarkOpen(box.Name); first {
		for _, method := range s.changedBy(opened) {
			_ = request.Session.Notify(wire.Notification(method, nil)) // fails only with the session
		}
	}
	return Answer{Text: textResult(false, result)}
}

// changedBy returns the notifications about what the client can see and could not before
// the servers were opened to it.
func (s *Surface) changedBy(opened []fleet.Opened) (methods []string) {
	if s.mode == config.Dynamic {
		methods = append(methods, protocol.NotifyToolsList)
	}
	for _, list := range []struct{ capability, method string }{
		{"resources", protocol.NotifyResourcesList}, {"prompts", protocol.NotifyPromptsList},
	} {
		has := func(o fleet.Opened) bool {
			return o.Lease != nil && o.Lease.Session.Capabilities().Member(list.capability).Kind() == "object"
		}
		if slices.ContainsFunc(opened, has) {
			methods = append(methods, list.method)
		}
	}
	return methods
}

func (s *Surface) available() string {
	boxes := s.visible.Toolboxes()
	if len(boxes) == 0 {
		return "No toolboxes are configured"
	}
	names := make([]string, len(boxes))
	for i, box := range boxes {
		names[i] = box.Name
	}
	return "Available toolboxes: " + strings.Join(names, ", ")
}

// progressOf reports each server that is done to a client that asked for progress.
func progressOf(request Request, total int) func(fleet.Opened) {
	token := request.Meta.Member(protocol.ProgressToken)
	if token.IsAbsent() {
		return nil
	}
	done := 0
	return func(opened fleet.Opened) {
		done++
		text := fmt.Sprintf("Connected to server '%s'", opened.Server.Name())
		if opened.Err != nil {
			text = fmt.Sprintf("Failed to connect to server '%s'", opened.Server.Name())
		}
		params := append([]byte(`{"progressToken":`), token.Bytes()...)
		params = fmt.Appendf(params, `,"progress":%d,"total":%d,"message":`, done, total)
		params = append(wire.AppendString(params, text), '}')
		_ = request.Session.Notify(wire.Notification(protocol.NotifyProgress, params)) // fails only with the session
	}
}

// render builds the answer of open_toolbox, and the reasons of the servers that failed.
func render(session Session, box *fleet.Toolbox, opened []fleet.Opened, brief bool) (text string, errs []string) {
	var tools, instructions []byte
	var warnings []string
	connected := 0
	for _, o := range opened {
		if o.Err != nil {
			errs = append(errs, fmt.Sprintf("Failed to connect to server '%s' in toolbox '%s': %v", o.Server.Name(), box.Name, o.Err))
			continue
		}
		connected++
		warnings = append(warnings, o.Lease.Tools.Warnings...)
		if text := catalog.CleanText(o.Lease.Session.Instructions()); text != "" {
			instructions = wire.AppendMember(instructions, o.Server.Name(), text)
		}
		origin := originMembers(box.Name, o.Server.Name())
		for _, tool := range o.Lease.Tools.Tools {
			if len(tools) > 0 {
				tools = append(tools, ',')
			}
			if brief {
				tools = appendBriefTool(tools, o.Server.Name(), tool)
				continue
			}
			ref := toolbox.Ref{Toolbox: box.Name, Server: o.Server.Name(), Name: tool.Name}
			tools = wire.AppendWithMembers(tools, linked(session, ref, tool).Definition, isOriginMember, origin)
		}
	}
	result := wire.AppendMember([]byte("{"), "toolbox", box.Name)
	result = wire.AppendMember(result, "description", box.Description)
	result = append(result, `,"servers_connected":`...)
	result = strconv.AppendInt(result, int64(connected), 10)
	result = append(result, `,"tools":[`...)
	result = append(append(result, tools...), ']')
	if len(instructions) > 0 {
		result = append(append(append(result, `,"instructions":{`...), instructions...), '}')
	}
	result = appendTexts(result, "_errors", errs)
	result = appendTexts(result, "_warnings", warnings)
	return string(append(result, '}')), errs
}

// originMembers say in two vocabularies where a tool comes from: clients of older
// versions look for the second.
func originMembers(toolbox, server string) []byte {
	members := wire.AppendMember(nil, "toolbox", toolbox)
	members = wire.AppendMember(members, "server", server)
	members = wire.AppendMember(members, "toolbox_name", toolbox)
	return wire.AppendMember(members, "source_server", server)
}

func isOriginMember(key string) bool {
	switch key {
	case "toolbox", "server", "toolbox_name", "source_server":
		return true
	}
	return false
}

// appendTexts appends a member that is a list of texts, unless the list is empty.
func appendTexts(dst []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(dst, ',')
	dst = wire.AppendString(dst, key)
	dst = append(dst, ':')
	for i, text := range texts {
		dst = append(dst, "[,"[min(i, 1)])
		dst = wire.AppendString(dst, text)
	}
	return append(dst, ']')
}
