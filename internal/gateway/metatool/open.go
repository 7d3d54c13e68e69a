package metatool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

const openName = "open_toolbox"

// listedToolboxes is the number of toolboxes that the definition of open_toolbox lists.
const listedToolboxes = 100

// openDefinition defines open_toolbox for the visible toolboxes and the configured detail.
func (s *Surface) openDefinition() []byte {
	boxes := s.visible.Toolboxes()
	definition := []byte(`{"name":"open_toolbox","title":"Open a toolbox","description":`)
	definition = wire.AppendString(definition, s.openDescription(boxes))
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
	definition = append(definition, `},"detail":{"type":"string","enum":["full","brief"],"default":`...)
	if s.discovery.OpenBrief {
		definition = append(definition, `"brief","description":"full answers with the whole definitions of all tools"`...)
	} else {
		definition = append(definition, `"full","description":"brief answers with signatures instead of whole input schemas"`...)
	}
	definition = append(definition, `},"tools":{"type":"array","items":{"type":"string","minLength":1},`+
		`"description":"Names of single tools, or server/name: answers with the whole definitions of these only"`...)
	return append(definition, `}},"required":["toolbox"],"additionalProperties":false},`+
		`"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"_meta":{`+alwaysLoad+`}}`...)
}

// openDescription describes open_toolbox and each toolbox.
func (s *Surface) openDescription(boxes []*fleet.Toolbox) string {
	description := "Connect to the servers of a toolbox and list their tools with input schemas. "
	if s.discovery.OpenBrief {
		description = "Connect to the servers of a toolbox and list their tools with signatures. "
	}
	if s.discovery.AutoOpen {
		description += "use_tool works without it; calling it again is harmless."
	} else {
		description += "Call it once before use_tool; calling it again is harmless."
	}
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
	return description
}

func (s *Surface) openToolbox(request Request) {
	asked, problem := parseOpen(request.Arguments, s.discovery.OpenBrief)
	if problem != "" {
		request.fail("Invalid parameters: " + problem)
		return
	}
	box, ok := s.visible.Toolbox(asked.toolbox)
	if !ok {
		s.failUnknownToolbox(&request.Origin, fmt.Sprintf("Toolbox '%s' not found in configuration", asked.toolbox), s.availableToolboxes())
		return
	}
	if box.IsDisabled() {
		request.fail(disabledToolbox(box), s.availableToolboxes())
		return
	}
	asked.notice, asked.reads = s.notice, s.reads
	go func() { request.Answerer.Answer(s.connect(box, request, asked)) }()
}

// connect connects the servers of a toolbox, and answers with their tools.
func (s *Surface) connect(box *fleet.Toolbox, request Request, asked openRequest) Answer {
	ctx, stop := request.Canceller.Context()
	defer stop()
	defer request.Session.HoldNotifications()()
	servers := asked.servers(box, request.Session.Profile())
	opened := call.OriginOf(request.Session).Connect(ctx, servers, request.Session.Profile(), progressOf(request, len(servers)))
	for _, o := range opened {
		if o.Lease != nil {
			defer o.Lease.Release()
		}
	}
	if ctx.Err() != nil {
		return Answer{Cancelled: context.Cause(ctx)}
	}
	offers := make([]Offer, len(opened))
	for i, o := range opened {
		offers[i] = offerOf(o)
	}
	result, failed := asked.answer(box.Description, offers, func(ref toolbox.Ref, tool catalog.Tool) catalog.Tool {
		return withLinks(request.Session, ref, tool)
	})
	if failed && !slices.ContainsFunc(opened, waitsForLogin) {
		return Answer{Text: textResult(true, result)}
	}
	// Servers that connect later are announced to the client; see Shows. After a login, that is without another call.
	if first := request.Session.MarkOpen(box.Name); first {
		for _, method := range s.changedBy(box, request.Session.Profile()) {
			_ = request.Session.Notify(method, nil) // fails only if the session has ended
		}
	}
	return Answer{Text: textResult(failed, result)}
}

func waitsForLogin(opened fleet.Opened) bool {
	_, ok := errors.AsType[*fleet.LoginNeededError](opened.Err)
	return ok
}

// changedBy returns the notifications for lists that change for the client when the toolbox is opened to it: those of
// tools, and with ListOpened those of resources and prompts.
func (s *Surface) changedBy(box *fleet.Toolbox, profile *fleet.ClientProfile) (methods []string) {
	if s.mode == config.Dynamic {
		methods = append(methods, protocol.NotifyToolsList)
	}
	if !s.listOpened {
		return methods
	}
	for _, list := range []*protocol.List{protocol.ResourceList, protocol.PromptList} {
		has := func(server *fleet.Server) bool {
			offered := server.OfferedFor(profile)
			return offered != nil && list.IsDeclared(offered.Capabilities)
		}
		if slices.ContainsFunc(box.Servers, has) {
			methods = append(methods, list.Changed)
		}
	}
	return methods
}

// disabledToolbox says why a configured toolbox cannot be used.
func disabledToolbox(box *fleet.Toolbox) string {
	return fmt.Sprintf("Toolbox '%s' is disabled: so are all of its servers in the configuration. "+
		"The user can enable it with: %s", box.Name, trust.Quote("mcp-workbench", "enable", box.Name))
}

func (s *Surface) availableToolboxes() string {
	names := s.toolboxNames()
	switch {
	case len(names) == 0 && len(s.visible.DisabledToolboxes()) > 0:
		return "All toolboxes are disabled"
	case len(names) == 0:
		return "No toolboxes are configured"
	}
	return "Available toolboxes: " + strings.Join(names, ", ")
}

func (s *Surface) toolboxNames() []string {
	boxes := s.visible.Toolboxes()
	names := make([]string, len(boxes))
	for i, box := range boxes {
		names[i] = box.Name
	}
	return names
}

// progressOf reports each connected server to a client that asked for progress.
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
		_ = request.Session.Notify(protocol.NotifyProgress, params) // fails only if the session has ended
	}
}
