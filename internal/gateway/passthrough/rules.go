package passthrough

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// kind is what there is to know of a method. The zero value is that of an unknown one.
type kind struct {
	capability string   // that a server must have declared
	list       *listing // that is asked for; nil: none
	// wide says that it is about what lists show, and so about all servers that they show.
	wide bool
	// starts says that the only server of the client is started for it.
	starts bool
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
	resource := kind{capability: "resources", wide: true, decide: (*errand).findResource, nobody: (*errand).noResource}
	subscribing := resource
	subscribing.starts = true
	task := kind{capability: "tasks", decide: (*errand).findTask, nobody: (*errand).noTask}
	skill := resource
	skill.capability, skill.nobody = protocol.ExtensionSkills, (*errand).noSkill
	methods = map[string]kind{
		protocol.MethodResourcesList: shownKind(resources),
		protocol.MethodTemplatesList: shownKind(templates),
		protocol.MethodPromptsList:   shownKind(prompts),
		protocol.MethodSkillsList:    shownKind(skills),
		protocol.MethodTasksList: {
			capability: tasks.Capability, list: tasks, decide: (*errand).listTasks,
			nobody: func(e *errand) { e.answer([]byte(noTasks)) }, none: noTasks,
		},
		protocol.MethodResourcesRead: resource,
		protocol.MethodSubscribe:     subscribing,
		protocol.MethodUnsubscribe:   resource,
		protocol.MethodSkillsGet:     skill,
		protocol.MethodDirectoryRead: skill,
		protocol.MethodPromptsGet:    {capability: "prompts", wide: true, decide: (*errand).findPrompt, nobody: (*errand).noPrompt},
		protocol.MethodTasksGet:      task,
		protocol.MethodTasksResult:   task,
		protocol.MethodTasksUpdate:   task,
		protocol.MethodTasksCancel:   task,
		protocol.MethodWatchTask:     task,
		protocol.MethodUnwatchTask:   task,
		protocol.MethodComplete:      {wide: true, decide: (*errand).findReference, nobody: (*errand).noCompletion, none: noCompletion},
		protocol.MethodSetLevel:      {decide: (*errand).setLevel, nobody: (*errand).levelForLater, none: `{}`},
	}
}

// shownKind is what there is to know of the method of a list that is answered from what is known.
func shownKind(l *listing) kind {
	empty := `{"` + l.Array + `":[]}`
	return kind{
		list: l, wide: true,
		decide: func(e *errand, _ context.Context) func() { return e.list(l) },
		nobody: func(e *errand) { e.answer([]byte(empty)) },
		none:   empty,
	}
}

const noTasks = `{"tasks":[]}`

const noCompletion = `{"completion":{"values":[],"total":0,"hasMore":false}}`

func (e *errand) noCompletion() { e.answer([]byte(noCompletion)) }

func (e *errand) noResource() { e.noURI("Resource", "resources") }

func (e *errand) noSkill() { e.noURI("Skill", protocol.ExtensionSkills) }

func (e *errand) noURI(what, capability string) {
	uri, _ := e.request.Params.Member("uri").Text()
	code, data := protocol.CodeResourceNotFound, append(wire.AppendMember([]byte("{"), "uri", uri), '}')
	if capability == protocol.ExtensionSkills {
		code = protocol.CodeInvalidParams // as the extension has it
	}
	e.refuse(code, fmt.Sprintf("%s not found: '%.1000s'. %s", what, uri, e.whyNobody(strings.ToLower(what)+"s", capability)), data)
}

func (e *errand) noPrompt() {
	name, _ := e.request.Params.Member("name").Text()
	e.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Prompt not found: '%.200s'. %s", name, e.whyNobody("prompts", "prompts")), nil)
}

func (e *errand) noTask() {
	id, _ := e.request.Params.Member("taskId").Text()
	e.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Task not found: '%.200s'. %s", id, e.whyNobody("tasks", "tasks")), nil)
}

// refuseUnknown answers a method that nobody knows, or that may be for any of several.
func (e *errand) refuseUnknown() {
	text := fmt.Sprintf("Method not found: '%.200s'", e.request.Method)
	switch {
	case len(e.scope) > 1:
		text += fmt.Sprintf(". A method that the workbench does not know is passed on only while there is one server that it can be for; there are %d", len(e.scope))
	case e.passage.Mode != config.Direct:
		text += ". No toolbox is open that has a server which may know it; call open_toolbox first"
	}
	e.refuse(protocol.CodeMethodNotFound, text, nil)
}

// whyNobody says why no server can answer, and what to do.
func (e *errand) whyNobody(what, capability string) string {
	unasked := e.unasked(capability)
	isDirect := e.passage.Mode == config.Direct
	switch {
	case len(e.scope) == 0 && isDirect:
		return "No servers are configured"
	case !isDirect && len(e.passage.Servers(e.request.Session)) == 0:
		return "No toolbox is open; call open_toolbox first"
	case len(unasked) == 0:
		return "No server offers " + what
	}
	text := "Not connected, and so not asked: " + fleet.NameServers(unasked)
	if !isDirect {
		text += ". To connect a server, call open_toolbox with its toolbox, and then try again"
	}
	return text
}
