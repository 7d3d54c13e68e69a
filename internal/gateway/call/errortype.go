package call

import (
	"errors"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// The types of errors; see End.ErrorType. Errors of a server itself have their JSON-RPC code as the type.
const (
	typeTool      = "tool_error"        // the tool's result is an error
	typeArguments = "invalid_arguments" // they do not match the tool's schema
	typeNotFound  = "not_found"         // the server has no such tool
	typeDenied    = "denied"            // by a stage: the policy, or a person
	typeRefused   = "refused"           // not sent for another reason
	typeCancelled = "cancelled"         // by the client or a person
	typeTimeout   = "timeout"
	typeLogin     = "login_needed"
	typeStart     = "start_failed"
	typeMemory    = "memory_limit" // it was stopped for it, or not started
	typeEnded     = "server_ended" // before it answered
	typeFailed    = "failed"       // no usable answer for another reason
)

// codeType returns the type of a JSON-RPC error.
func codeType(code int) string { return strconv.Itoa(code) }

// typeOf returns the type of the error that a request ended with; "" if it ended well.
func (r *run) typeOf(status Status, outcome Outcome, err error) string {
	if r.errorType != "" {
		return r.errorType
	}
	switch status {
	case StatusToolError:
		return typeTool
	case StatusRPCError:
		return codeOf(outcome.Error)
	case StatusRefused:
		return typeOfRefusal(outcome, err)
	case StatusCancelled:
		return typeCancelled
	case StatusFailed:
		return r.typeOfFailure(err)
	}
	return ""
}

// ErrorType returns the type of an error object, whose code may be anything.
func ErrorType(rpcError wire.Payload) string { return codeOf(rpcError) }

func codeOf(rpcError wire.Payload) string { return codeType(downstream.NewRPCError(rpcError).Code) }

func typeOfRefusal(outcome Outcome, err error) string {
	if !outcome.Error.IsAbsent() {
		return codeOf(outcome.Error)
	}
	if failure, ok := errors.AsType[*Failure](err); ok && failure.NotFound {
		return typeNotFound
	}
	return typeRefused
}

func (r *run) typeOfFailure(err error) string {
	if _, ok := errors.AsType[*downstream.SilenceError](err); ok {
		return typeTimeout
	}
	if _, ok := errors.AsType[*fleet.LoginNeededError](err); ok {
		return typeLogin
	}
	if _, ok := errors.AsType[*fleet.MemoryLimitError](err); ok {
		return typeMemory
	}
	if r.lease != nil && r.lease.Session.Err() != nil {
		return typeEnded
	}
	return typeFailed
}

// typeOfStart returns the type of the error of a server that could not be leased.
func typeOfStart(err error) string {
	if _, ok := errors.AsType[*fleet.LoginNeededError](err); ok {
		return typeLogin
	}
	if _, ok := errors.AsType[*fleet.MemoryLimitError](err); ok {
		return typeMemory
	}
	return typeStart
}
