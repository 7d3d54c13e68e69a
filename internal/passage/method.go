package passage

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// kind is what there is to know of a method. The zero value is that of an unknown one.
type kind struct {
	capability string   // that a server must have declared
	list       *listing // that is asked for; nil: none
	// decide finds out, among several servers, where a request goes. It may block, and
	// returns how to go on.
	decide func(e *errand, ctx context.Context) (then func())
	// nobody answers where no server can.
	nobody func(e *errand)
	// none is the result where the server that was asked does not know the method after
	// all, although we said that we do; "": its error is passed on.
	none string
}

var methods map[string]kind

func init() { // the functions refer to the table
	methods = map[string]kind{
		protocol.MethodResourcesList: listKind(resources),
		protocol.MethodTemplatesList: listKind(templates),
		protocol.MethodPromptsList:   listKind(prompts),
		protocol.MethodTasksList:     listKind(tasks),
		protocol.MethodResourcesRead: {capability: "resources", decide: (*errand).findResource, nobody: (*errand).noResource},
		protocol.MethodSubscribe:     {capability: "resources", decide: (*errand).findResource, nobody: (*errand).noResource},
		protocol.MethodUnsubscribe:   {capability: "resources", decide: (*errand).findResource, nobody: (*errand).noResource},
		protocol.MethodPromptsGet:    {capability: "prompts", decide: (*errand).findPrompt, nobody: (*errand).noPrompt},
		protocol.MethodTasksGet:      {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		protocol.MethodTasksResult:   {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		protocol.MethodTasksUpdate:   {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		protocol.MethodTasksCancel:   {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		downstream.MethodWatchTask:   {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		downstream.MethodUnwatchTask: {capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask},
		protocol.MethodComplete:      {decide: (*errand).findReference, nobody: (*errand).noCompletion, none: noCompletion},
		protocol.MethodSetLevel:      {decide: (*errand).setLevel, nobody: (*errand).levelForLater, none: `{}`},
	}
}

func listKind(l *listing) kind {
	empty := `{"` + l.array + `":[]}`
	return kind{
		capability: l.capability, list: l,
		decide: func(e *errand, ctx context.Context) func() { return e.list(ctx, l) },
		nobody: func(e *errand) { e.answer([]byte(empty)) },
		none:   empty,
	}
}

const noCompletion = `{"completion":{"values":[],"total":0,"hasMore":false}}`

func (e *errand) noCompletion() { e.answer([]byte(noCompletion)) }

func (e *errand) noResource() {
	uri, _ := e.request.Params.Member("uri").Text()
	data := append(wire.AppendMember([]byte("{"), "uri", uri), '}')
	e.refuse(protocol.CodeResourceNotFound, fmt.Sprintf("Resource not found: '%.1000s'. %s", uri, e.whyNobody("resources")), data)
}

func (e *errand) noPrompt() {
	name, _ := e.request.Params.Member("name").Text()
	e.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Prompt not found: '%.200s'. %s", name, e.whyNobody("prompts")), nil)
}

func (e *errand) noTask() {
	id, _ := e.request.Params.Member("taskId").Text()
	e.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Task not found: '%.200s'. %s", id, e.whyNobody("tasks")), nil)
}

// refuseUnknown answers a method that nobody knows, or that may be for any of several.
func (e *errand) refuseUnknown() {
	text := fmt.Sprintf("Method not found: '%.200s'", e.request.Method)
	switch {
	case len(e.scope) > 1:
		text += fmt.Sprintf(". A method that the workbench does not know is passed on only while there is one server that it can be for; there are %d", len(e.scope))
	case e.passage.mode != config.Direct:
		text += ". No toolbox is open that has a server which may know it; call open_toolbox first"
	}
	e.refuse(protocol.CodeMethodNotFound, text, nil)
}

// whyNobody says why no server can answer, and what to do.
func (e *errand) whyNobody(what string) string {
	switch {
	case len(e.failed) > 0:
		return "Not connected, and so not asked: " + fleet.NameServers(e.failed)
	case len(e.scope) > 0:
		return "No server offers " + what
	case e.passage.mode == config.Direct:
		return "No servers are configured"
	default:
		return "No toolbox is open; call open_toolbox first"
	}
}
