package passage

import (
	"context"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// findResource finds where a request about a resource goes.
func (e *errand) findResource(ctx context.Context) (then func()) {
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
	return e.trying(e.resourcePlaces(ctx, part, uri))
}

// resourcePlaces returns where a resource may be, best first; one place at least.
func (e *errand) resourcePlaces(ctx context.Context, part wire.Payload, uri string) (places []place) {
	able := e.able("resources")
	if o, original, ok := parseRenamed(uri); ok {
		if server, ok := find(able, o); ok {
			return []place{{server, part, uri, original}}
		}
	}
	e.know(ctx, resources, able)
	if o, ok := e.memory.owner(uri); ok {
		if server, ok := find(able, o); ok {
			return []place{{server, part, uri, uri}}
		}
	}
	e.know(ctx, templates, able)
	var later []place
	for _, server := range able {
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
	return everywhere(able, part, uri)
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
func (e *errand) findPrompt(ctx context.Context) (then func()) {
	part := e.request.Params.Member("name")
	name, ok := part.Text()
	if !ok {
		return e.invalid("'name' must be a string, the name of a prompt")
	}
	return e.trying(e.promptPlaces(ctx, part, name))
}

// promptPlaces returns where a prompt may be, best first; one place at least.
func (e *errand) promptPlaces(ctx context.Context, part wire.Payload, name string) []place {
	able := e.able("prompts")
	e.know(ctx, prompts, able)
	if ref, ok := e.memory.prompts.Find(name); ok {
		if server, ok := find(able, origin{ref.Toolbox, ref.Server}); ok {
			return []place{{server, part, name, ref.Name}}
		}
	}
	return everywhere(able, part, name)
}

// findReference finds where a completion goes: to the server that has what is referred to.
func (e *errand) findReference(ctx context.Context) (then func()) {
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
	case len(able) == 1 && !e.memory.hasRenamed(originOf(able[0])):
		return func() { e.pass(methods[protocol.MethodComplete], able[0]) }
	case !isText:
		return e.invalid("'ref' must name a prompt, or a resource by its URI or template")
	}
	var places []place
	if kind == "ref/prompt" {
		places = e.promptPlaces(ctx, part, name)
	} else {
		places = e.templatePlaces(ctx, part, name)
	}
	return func() { e.try(places, noCompletion) }
}

// templatePlaces returns where a template, or a resource, may be.
func (e *errand) templatePlaces(ctx context.Context, part wire.Payload, text string) []place {
	able := e.able("resources")
	if !strings.HasPrefix(text, scheme) {
		e.know(ctx, templates, able)
		if o, ok := e.memory.templateOwner(text); ok {
			if server, ok := find(able, o); ok {
				return []place{{server, part, text, text}}
			}
		}
	}
	return e.resourcePlaces(ctx, part, text)
}

// findTask finds where a request about a task goes.
func (e *errand) findTask(context.Context) (then func()) {
	part := e.request.Params.Member("taskId")
	id, ok := part.Text()
	if !ok {
		return e.invalid("'taskId' must be a string, the id of a task")
	}
	able := e.able("tasks")
	task, ok := e.memory.taskOwner(id)
	if !ok {
		task.origin, task.id, ok = parseRenamed(id)
	}
	if ok {
		if server, ok := find(able, task.origin); ok {
			return e.trying([]place{{server, part, id, task.id}})
		}
	}
	return e.trying(everywhere(able, part, id))
}

func (e *errand) trying(places []place) func() { return func() { e.try(places, "") } }

func (e *errand) invalid(what string) func() {
	return func() { e.refuse(protocol.CodeInvalidParams, "Invalid params: "+what, nil) }
}
