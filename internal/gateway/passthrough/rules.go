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

// rule says how requests of a known method are routed; see protocol.Method for what they are about.
type rule struct {
	// aboutLists says that the subject is an entry of a list, or the list itself: every server whose lists the client
	// sees is in scope, not only those of opened toolboxes.
	aboutLists bool
	// startsOnly says that the only server in scope is started for a request.
	startsOnly bool
	// route chooses among several servers. It may block, and returns what to do next.
	route func(r *routing, ctx context.Context) (then func())
	// refuse answers if no server can.
	refuse func(r *routing)
	// fallback is the result if the server does not know the method although the workbench declared it; "": the
	// server's error is forwarded.
	fallback string
}

var rules map[string]rule

func init() { // the functions refer to the table
	resource := rule{aboutLists: true, route: (*routing).routeResource, refuse: (*routing).refuseResource}
	subscribe := resource
	subscribe.startsOnly = true
	skill := resource
	skill.refuse = (*routing).refuseSkill
	task := rule{route: (*routing).routeTask, refuse: (*routing).refuseUnknownTask}
	rules = map[string]rule{
		protocol.MethodResourcesList: listRule(resources),
		protocol.MethodTemplatesList: listRule(templates),
		protocol.MethodPromptsList:   listRule(prompts),
		protocol.MethodSkillsList:    listRule(skills),
		protocol.MethodTasksList: {
			route: (*routing).listTasks, refuse: func(r *routing) { r.answer([]byte(noTasks)) }, fallback: noTasks,
		},
		protocol.MethodResourcesRead: resource,
		protocol.MethodSubscribe:     subscribe,
		protocol.MethodUnsubscribe:   resource,
		protocol.MethodSkillsGet:     skill,
		protocol.MethodDirectoryRead: skill,
		protocol.MethodPromptsGet:    {aboutLists: true, route: (*routing).routePrompt, refuse: (*routing).refusePrompt},
		protocol.MethodTasksGet:      task,
		protocol.MethodTasksResult:   task,
		protocol.MethodTasksUpdate:   task,
		protocol.MethodTasksCancel:   task,
		protocol.MethodWatchTask:     task,
		protocol.MethodUnwatchTask:   task,
		protocol.MethodComplete:      {aboutLists: true, route: (*routing).routeCompletion, refuse: (*routing).completeNothing, fallback: noCompletion},
		protocol.MethodSetLevel:      {route: (*routing).setLevel, refuse: (*routing).setLevelForLater, fallback: `{}`},
	}
}

// listRule is the rule of a list that is answered from the cache.
func listRule(list *listKind) rule {
	empty := `{"` + list.Array + `":[]}`
	return rule{
		aboutLists: true,
		route:      func(r *routing, _ context.Context) func() { return r.answerCachedList(list) },
		refuse:     func(r *routing) { r.answer([]byte(empty)) },
		fallback:   empty,
	}
}

const noTasks = `{"tasks":[]}`

const noCompletion = `{"completion":{"values":[],"total":0,"hasMore":false}}`

func (r *routing) completeNothing() { r.answer([]byte(noCompletion)) }

func (r *routing) refuseResource() { r.refuseURI(protocol.CodeResourceNotFound, "Resource") }

func (r *routing) refuseSkill() { r.refuseURI(protocol.CodeInvalidParams, "Skill") } // the code of the extension

func (r *routing) refuseURI(code int, what string) {
	uri := r.method.SubjectOf(r.Params)
	data := append(wire.AppendMember([]byte("{"), protocol.SubjectURI, uri), '}')
	r.refuse(code, fmt.Sprintf("%s not found: '%.1000s'. %s", what, uri, r.explainNoServer(strings.ToLower(what)+"s")), data)
}

func (r *routing) refusePrompt() {
	r.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Prompt not found: '%.200s'. %s", r.method.SubjectOf(r.Params), r.explainNoServer("prompts")), nil)
}

func (r *routing) refuseUnknownTask() {
	r.refuse(protocol.CodeInvalidParams, fmt.Sprintf("Task not found: '%.200s'. %s", r.method.SubjectOf(r.Params), r.explainNoServer("tasks")), nil)
}

// refuseMethod answers a method that no server knows, or that may be for any of several.
func (r *routing) refuseMethod() {
	text := fmt.Sprintf("Method not found: '%.200s'", r.Method)
	switch similar := protocol.SimilarMethod(r.Method); {
	case similar != "" && similar != r.Method:
		text += fmt.Sprintf(". Did you mean '%s'?", similar)
	case len(r.scope) > 1:
		text += fmt.Sprintf(". A method that the workbench does not know is passed on only while there is one server that it can be for; there are %d", len(r.scope))
	case r.forwarder.Mode != config.Direct:
		text += ". No toolbox is open that has a server which may know it; call open_toolbox first"
	}
	r.refuse(protocol.CodeMethodNotFound, text, nil)
}

// explainNoServer says why no server can answer, and what to do.
func (r *routing) explainNoServer(entries string) string {
	stopped := r.stopped(r.method)
	isDirect := r.forwarder.Mode == config.Direct
	switch {
	case len(r.scope) == 0 && isDirect:
		return "No servers are configured"
	case !isDirect && len(r.forwarder.Servers(r.Session)) == 0:
		return "No toolbox is open; call open_toolbox first"
	case len(stopped) == 0:
		return "No server offers " + entries
	}
	text := "Not connected, and so not asked: " + fleet.NameServers(stopped)
	if !isDirect {
		text += ". To connect a server, call open_toolbox with its toolbox, and then try again"
	}
	return text
}
