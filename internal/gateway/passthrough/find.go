package passthrough

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// findResource finds where a request about a resource goes: to the server that it is certainly
// for, which is started if needed, or else to those that run.
func (e *errand) findResource(context.Context) (then func()) {
	part := e.request.Params.Member("uri")
	uri, ok := part.Text()
	if !ok {
		return e.invalid("'uri' must be a string, the URI of a resource")
	}
	if o, original, known := e.memory.subscription(uri); known && e.request.Method == protocol.MethodUnsubscribe {
		if server, ok := find(e.scope, o); ok {
			return e.trying([]place{{server, part, uri, original}})
		}
	}
	return e.trying(e.resourcePlaces(part, uri))
}

// resourcePlaces returns where a resource may be, best first.
func (e *errand) resourcePlaces(part wire.Payload, uri string) (places []place) {
	if o, original, ok := parseRenamed(uri); ok {
		if server, ok := find(e.scope, o); ok {
			return []place{{server, part, uri, original}}
		}
	}
	e.know(resources)
	e.know(skills)
	if o, ok := e.memory.owner(uri); ok {
		if server, ok := find(e.scope, o); ok {
			return []place{{server, part, uri, uri}}
		}
	}
	e.know(templates)
	var later []place
	for _, server := range e.scope {
		switch matches, owned := e.memory.matches(originOf(server), uri); {
		case owned:
			places = append(places, place{server, part, uri, uri})
		case matches:
			later = append(later, place{server, part, uri, uri})
		}
	}
	if places = append(places, later...); len(places) > 0 {
		return places
	}
	return everywhere(e.running(cmp.Or(e.kind.capability, "resources")), part, uri)
}

func everywhere(servers []*fleet.Server, part wire.Payload, name string) (places []place) {
	for _, server := range servers {
		places = append(places, place{server, part, name, name})
	}
	return places
}

// find returns the server of an origin.
func find(servers []*fleet.Server, o origin) (*fleet.Server, bool) {
	for _, server := range servers {
		if originOf(server) == o {
			return server, true
		}
	}
	return nil, false
}

// findPrompt finds where a request for a prompt goes.
func (e *errand) findPrompt(context.Context) (then func()) {
	part := e.request.Params.Member("name")
	name, ok := part.Text()
	if !ok {
		return e.invalid("'name' must be a string, the name of a prompt")
	}
	return e.trying(e.promptPlaces(part, name))
}

// promptPlaces returns where a prompt may be, best first.
func (e *errand) promptPlaces(part wire.Payload, name string) []place {
	e.know(prompts)
	if ref, ok := e.memory.prompts.Find(name); ok {
		if server, ok := find(e.scope, origin{ref.Toolbox, ref.Server}); ok {
			return []place{{server, part, name, ref.Name}}
		}
	}
	return everywhere(e.running("prompts"), part, name)
}

// findReference finds where a completion goes: to the server that has what is referred to.
func (e *errand) findReference(context.Context) (then func()) {
	ref := e.request.Params.Member("ref")
	kind, _ := ref.Member("type").Text()
	var part wire.Payload
	var capability string
	switch kind {
	case "ref/prompt":
		part, capability = ref.Member("name"), "prompts"
	case "ref/resource":
		part, capability = ref.Member("uri"), "resources"
	}
	able := e.able(capability)
	if capability == "" || len(able) == 0 { // a reference that we do not know
		able = e.able("completions")
	}
	name, isText := part.Text()
	switch {
	case len(able) == 0:
		return e.noCompletion
	case len(able) == 1 && able[0].running && e.isPlain(able[0].server):
		return func() { e.pass(able[0].server) }
	case !isText:
		return e.invalid("'ref' must name a prompt, or a resource by its URI or template")
	}
	var places []place
	if kind == "ref/prompt" {
		places = e.promptPlaces(part, name)
	} else {
		places = e.templatePlaces(part, name)
	}
	places = slices.DeleteFunc(places, e.cannotComplete)
	if len(places) == 0 {
		return e.noCompletion
	}
	return func() { e.try(places, noCompletion) }
}

// cannotComplete reports whether a server would be started in vain.
func (e *errand) cannotComplete(at place) bool {
	for _, s := range e.sights {
		if s.server == at.server {
			return s.seen && !s.running && !declares(s.capabilities, "completions")
		}
	}
	return false
}

// templatePlaces returns where a template, or a resource, may be.
func (e *errand) templatePlaces(part wire.Payload, text string) []place {
	if !isOurs(text) {
		e.know(templates)
		if o, ok := e.memory.templateOwner(text); ok {
			if server, ok := find(e.scope, o); ok {
				return []place{{server, part, text, text}}
			}
		}
	}
	return e.resourcePlaces(part, text)
}

// findTask finds where a request about a task goes.
func (e *errand) findTask(context.Context) (then func()) {
	part := e.request.Params.Member("taskId")
	id, ok := part.Text()
	if !ok {
		return e.invalid("'taskId' must be a string, the id of a task")
	}
	task, ok := e.memory.taskOwner(id)
	if !ok {
		task.origin, task.id, ok = parseRenamed(id)
	}
	if ok {
		if server, ok := find(e.scope, task.origin); ok {
			return e.trying([]place{{server, part, id, task.id}})
		}
	}
	return e.trying(everywhere(e.running("tasks"), part, id))
}

// findUnknown finds where a method goes that we do not know: to the one server that declares
// something that we do not know either.
func (e *errand) findUnknown() (then func()) {
	var peculiar []*fleet.Server
	for _, s := range e.sights {
		if s.seen && isPeculiar(s.capabilities) {
			peculiar = append(peculiar, s.server)
		}
	}
	if len(peculiar) != 1 {
		return e.refuseUnknown
	}
	return func() { e.pass(peculiar[0]) }
}

// trying sends the request to the first of the places, and so on; nobody answers if there are
// none.
func (e *errand) trying(places []place) func() {
	if len(places) == 0 {
		return func() { e.kind.nobody(e) }
	}
	return func() { e.try(places, "") }
}

func (e *errand) invalid(what string) func() {
	return func() { e.refuse(protocol.CodeInvalidParams, "Invalid params: "+what, nil) }
}
