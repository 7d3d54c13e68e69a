// Package protocol holds the words of MCP: methods, revisions, reserved keys and
// error codes.
package protocol

import "slices"

// Methods that the workbench sends, answers or watches for.
const (
	MethodInitialize  = "initialize"
	MethodPing        = "ping"
	MethodToolsList   = "tools/list"
	MethodToolsCall   = "tools/call"
	NotifyInitialized = "notifications/initialized"
	NotifyCancelled   = "notifications/cancelled"
	NotifyProgress    = "notifications/progress"
	NotifyToolsList   = "notifications/tools/list_changed"
)

// ProgressToken is the key in a request's _meta that asks for progress, and the one
// in a progress notification that names the request.
const ProgressToken = "progressToken"

// Error codes of JSON-RPC and MCP.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603

	CodeHeaderMismatch         = -32020
	CodeMissingCapability      = -32021
	CodeUnsupportedRevision    = -32022
	CodeURLElicitationRequired = -32042
)

// ClientMustAct reports whether an error of that code asks the client's program, not
// the model, to do something, so that it has to stay a JSON-RPC error on its way.
func ClientMustAct(code int) bool {
	switch code {
	case CodeURLElicitationRequired, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedRevision:
		return true
	}
	return false
}

// Revision is a version of the protocol, named by its date.
type Revision string

// The revisions, newest first. All of them begin with an initialize handshake.
const (
	Revision20251125 Revision = "2025-11-25"
	Revision20250618 Revision = "2025-06-18"
	Revision20250326 Revision = "2025-03-26"
	Revision20241105 Revision = "2024-11-05"
)

var revisions = []Revision{Revision20251125, Revision20250618, Revision20250326, Revision20241105}

// Revisions returns what the workbench speaks, newest first.
func Revisions() []Revision { return slices.Clone(revisions) }

// Newest is what is offered first, and what a client gets that asks for one we do
// not know.
func Newest() Revision { return revisions[0] }

// Known reports whether the workbench speaks the revision.
func (r Revision) Known() bool { return slices.Contains(revisions, r) }

// HasBatches reports whether one frame may hold an array of messages.
func (r Revision) HasBatches() bool {
	return r == Revision20250326 || r == Revision20241105
}
