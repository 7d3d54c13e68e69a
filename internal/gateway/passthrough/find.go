package passthrough

import (
	"context"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// routeResource routes a request about a resource: to the server that certainly owns it, which is started if needed, or
// else to the running servers in turn.
func (r *routing) routeResource(context.Context) (then func()) {
	part := r.Params.Member(protocol.SubjectURI)
	uri, ok := part.Text()
	if !ok {
		return r.refuseParams("'uri' must be a string, the URI of a resource")
	}
	if o, serverURI, known := r.memory.findSubscription(uri); known && r.Method == protocol.MethodUnsubscribe {
		if server := r.inScope(o); server != nil {
			return r.tryAll([]candidate{{server, part, uri, serverURI}})
		}
	}
	return r.tryAll(r.resourceCandidates(r.method, part, uri))
}

// resourceCandidates returns the servers that may have a resource, the most likely first. If no list and no template
// names it, those are the running servers that declare the method.
func (r *routing) resourceCandidates(method *protocol.Method, part wire.Payload, uri string) (candidates []candidate) {
	if o, serverURI, ok := parseRenamed(uri); ok {
		if server := r.inScope(o); server != nil {
			return []candidate{{server, part, uri, serverURI}}
		}
	}
	r.nameEntries(resources)
	r.nameEntries(skills)
	if o, ok := r.memory.owner(uri); ok {
		if server := r.inScope(o); server != nil {
			return []candidate{{server, part, uri, uri}}
		}
	}
	r.nameEntries(templates)
	var later []candidate
	for _, server := range r.scope {
		switch matches, owned := r.memory.matchTemplates(originOf(server), uri); {
		case owned:
			candidates = append(candidates, candidate{server, part, uri, uri})
		case matches:
			later = append(later, candidate{server, part, uri, uri})
		}
	}
	if candidates = append(candidates, later...); len(candidates) > 0 {
		return candidates
	}
	return candidatesAt(r.running(method), part, uri)
}

func candidatesAt(servers []*fleet.Server, part wire.Payload, name string) (candidates []candidate) {
	for _, server := range servers {
		candidates = append(candidates, candidate{server, part, name, name})
	}
	return candidates
}

// inScope returns the server of an origin; nil if the request cannot be for it.
func (r *routing) inScope(o origin) *fleet.Server {
	for _, server := range r.scope {
		if originOf(server) == o {
			return server
		}
	}
	return nil
}

// routePrompt routes a request for a prompt.
func (r *routing) routePrompt(context.Context) (then func()) {
	part := r.Params.Member(protocol.SubjectName)
	name, ok := part.Text()
	if !ok {
		return r.refuseParams("'name' must be a string, the name of a prompt")
	}
	return r.tryAll(r.promptCandidates(r.method, part, name))
}

// promptCandidates returns the servers that may have a prompt, the most likely first.
func (r *routing) promptCandidates(method *protocol.Method, part wire.Payload, name string) []candidate {
	r.nameEntries(prompts)
	if ref, ok := r.memory.prompts.Find(name); ok {
		if server := r.inScope(origin{ref.Toolbox, ref.Server}); server != nil {
			return []candidate{{server, part, name, ref.Name}}
		}
	}
	return candidatesAt(r.running(method), part, name)
}

// routeCompletion routes a completion to the server that has the prompt or the resource that it refers to.
func (r *routing) routeCompletion(context.Context) (then func()) {
	ref := r.Params.Member("ref")
	kind, _ := ref.Member("type").Text()
	var part wire.Payload
	owners := r.method // of a reference that we do not know
	switch kind {
	case "ref/prompt":
		part, owners = ref.Member(protocol.SubjectName), protocol.FindMethod(protocol.MethodPromptsGet)
	case "ref/resource":
		part, owners = ref.Member(protocol.SubjectURI), protocol.FindMethod(protocol.MethodResourcesRead)
	}
	able := r.declaring(owners)
	if len(able) == 0 {
		able = r.declaring(r.method)
	}
	name, isText := part.Text()
	switch {
	case len(able) == 0:
		return r.completeNothing
	case len(able) == 1 && able[0].running && r.knowsSameNames(able[0].server):
		return func() { r.forwardUnchanged(able[0].server) }
	case !isText:
		return r.refuseParams("'ref' must name a prompt, or a resource by its URI or template")
	}
	var candidates []candidate
	if kind == "ref/prompt" {
		candidates = r.promptCandidates(owners, part, name)
	} else {
		candidates = r.templateCandidates(owners, part, name)
	}
	candidates = slices.DeleteFunc(candidates, r.cannotComplete)
	if len(candidates) == 0 {
		return r.completeNothing
	}
	return func() { r.try(candidates, noCompletion) }
}

// cannotComplete reports whether a server would be started in vain.
func (r *routing) cannotComplete(at candidate) bool {
	for _, s := range r.states {
		if s.server == at.server {
			return s.seen && !s.running && !r.method.IsDeclared(s.capabilities)
		}
	}
	return false
}

// templateCandidates returns the servers that may have a URI template, or a resource.
func (r *routing) templateCandidates(method *protocol.Method, part wire.Payload, text string) []candidate {
	if !isOwnURI(text) {
		r.nameEntries(templates)
		if o, ok := r.memory.templateOwner(text); ok {
			if server := r.inScope(o); server != nil {
				return []candidate{{server, part, text, text}}
			}
		}
	}
	return r.resourceCandidates(method, part, text)
}

// routeTask routes a request about a task.
func (r *routing) routeTask(context.Context) (then func()) {
	part := r.Params.Member(protocol.SubjectTask)
	id, ok := part.Text()
	if !ok {
		return r.refuseParams("'taskId' must be a string, the id of a task")
	}
	task, ok := r.memory.taskOwner(id)
	if !ok {
		task.origin, task.id, ok = parseRenamed(id)
	}
	if ok {
		if server := r.inScope(task.origin); server != nil {
			return r.tryAll([]candidate{{server, part, id, task.id}})
		}
	}
	return r.tryAll(candidatesAt(r.running(r.method), part, id))
}

// routeUnknown routes a method that the workbench does not know: to the one server that declares a capability that the
// workbench does not know either.
func (r *routing) routeUnknown() (then func()) {
	var extended []*fleet.Server
	for _, s := range r.states {
		if s.seen && hasUnknownCapability(s.capabilities) {
			extended = append(extended, s.server)
		}
	}
	if len(extended) != 1 {
		return r.refuseMethod
	}
	return func() { r.forwardUnchanged(extended[0]) }
}

// tryAll tries the candidates in turn; without any, the request is refused.
func (r *routing) tryAll(candidates []candidate) (then func()) {
	if len(candidates) == 0 {
		return func() { r.rule.refuse(r) }
	}
	return func() { r.try(candidates, "") }
}

func (r *routing) refuseParams(problem string) (then func()) {
	return func() { r.refuse(protocol.CodeInvalidParams, "Invalid params: "+problem, nil) }
}
