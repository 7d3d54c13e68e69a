package call

import (
	"bytes"
	"errors"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// revise asks the revisers, and returns the arguments to send. It returns false if the request was refused, which ended
// it.
func (r *run) revise() (arguments wire.Payload, ok bool) {
	r.answers = nil // of an earlier attempt
	for _, reviser := range r.router.stages.Revise {
		revision := reviser.Revise(&r.call)
		if revision.Refusal != nil {
			r.deny(revision.Refusal)
			return arguments, false
		}
		if !revision.Arguments.IsAbsent() {
			r.call.Arguments = revision.Arguments
		}
		if revision.Answers != nil {
			r.answers = append(r.answers, revision.Answers)
		}
	}
	return r.call.Arguments, true
}

// reviseArguments puts revised arguments into the params of a tool call.
func (request *Forwarding) reviseArguments(arguments wire.Payload) {
	if request.Method != protocol.MethodToolsCall || arguments.IsAbsent() || bytes.Equal(arguments.Bytes(), request.arguments().Bytes()) {
		return
	}
	member := append([]byte(`"arguments":`), arguments.Bytes()...)
	params := wire.AppendEdited(nil, request.Params, request.Edits...)
	params = wire.AppendWithMembers(nil, wire.Raw(params), func(key string) bool { return key == "arguments" }, member)
	request.Params, request.Edits = wire.Raw(params), nil
	request.meta = request.Params.Member("_meta")
}

// reviseResponse revises a response. A failure takes its place.
func (r *run) reviseResponse(response *wire.Message) *Failure {
	part := &response.Result
	if !response.Error.IsAbsent() {
		part = &response.Error
	}
	for _, reviser := range r.answers {
		var failure *Failure
		if *part, failure = reviser.Response(*part); failure != nil {
			return failure
		}
	}
	return nil
}

// reviseInterim revises the params of what comes before the response.
func (r *run) reviseInterim(params wire.Payload) wire.Payload {
	if params.IsAbsent() {
		return params
	}
	for _, reviser := range r.answers {
		params = reviser.Interim(params)
	}
	return params
}

// reviseFailure revises what is said about a failure, which may quote the server.
func (r *run) reviseFailure(err error) error {
	failure, ok := errors.AsType[*Failure](err)
	if !ok {
		return err
	}
	revised := *failure
	for _, reviser := range r.answers {
		revised.Message, revised.Hint = reviser.Text(revised.Message), reviser.Text(revised.Hint)
	}
	return &revised
}

// ReviseTaskNotice revises the params of a notification about a task.
func (router *Router) ReviseTaskNotice(server *fleet.Server, client Client, params wire.Payload) wire.Payload {
	if len(router.stages.Revise) == 0 || params.IsAbsent() {
		return params
	}
	about := Call{Server: server, Client: client, Method: protocol.MethodTasksGet}
	for _, reviser := range router.stages.Revise {
		if answers := reviser.Revise(&about).Answers; answers != nil {
			params = answers.Interim(params)
		}
	}
	return params
}
