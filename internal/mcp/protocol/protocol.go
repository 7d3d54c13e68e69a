// Package protocol holds the vocabulary of MCP: methods, revisions, reserved keys and error codes.
package protocol

import "slices"

// OwnName is the name of the workbench as a server and as a client.
const OwnName = "mcp-workbench"

// Methods that the workbench sends, answers or watches.
const (
	MethodInitialize  = "initialize"
	MethodDiscover    = "server/discover"
	MethodListen      = "subscriptions/listen"
	MethodPing        = "ping"
	MethodToolsList   = "tools/list"
	MethodToolsCall   = "tools/call"
	NotifyInitialized = "notifications/initialized"
	NotifyCancelled   = "notifications/cancelled"
	NotifyProgress    = "notifications/progress"
	NotifyToolsList   = "notifications/tools/list_changed"

	MethodResourcesList   = "resources/list"
	MethodTemplatesList   = "resources/templates/list"
	MethodResourcesRead   = "resources/read"
	MethodSubscribe       = "resources/subscribe"
	MethodUnsubscribe     = "resources/unsubscribe"
	MethodPromptsList     = "prompts/list"
	MethodPromptsGet      = "prompts/get"
	MethodComplete        = "completion/complete"
	MethodTasksList       = "tasks/list"
	MethodTasksGet        = "tasks/get"
	MethodTasksResult     = "tasks/result"
	MethodTasksCancel     = "tasks/cancel"
	MethodSetLevel        = "logging/setLevel"
	MethodRootsList       = "roots/list"
	MethodSampling        = "sampling/createMessage"
	MethodElicitation     = "elicitation/create"
	NotifyRootsList       = "notifications/roots/list_changed"
	NotifyResourcesList   = "notifications/resources/list_changed"
	NotifyResourceUpdated = "notifications/resources/updated"
	NotifyTasks           = "notifications/tasks" // since revision 2026-07-28
	NotifyTaskStatus      = "notifications/tasks/status"
	NotifyPromptsList     = "notifications/prompts/list_changed"
	NotifyMessage         = "notifications/message"
	NotifyAcknowledged    = "notifications/subscriptions/acknowledged"

	NotifyElicitationComplete = "notifications/elicitation/complete" // not since revision 2026-07-28
	MethodTasksUpdate         = "tasks/update"
	MethodSkillsList          = "skills/list"
	MethodSkillsGet           = "skills/get"
	MethodDirectoryRead       = "resources/directory/read"
)

// Requests to watch one task, used only inside the workbench: a modern server gets one long request for several tasks,
// as it does for resources, and a legacy server has no such updates.
const (
	MethodWatchTask   = "workbench/tasks/watch"
	MethodUnwatchTask = "workbench/tasks/unwatch"
)

// ProgressToken is the key that asks for progress in a request's _meta, and names the request in a progress
// notification.
const ProgressToken = "progressToken"

// Hop-by-hop keys in a request's _meta. Since revision 2026-07-28 every request carries what was negotiated once per
// session before.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
)

// Hop-by-hop keys in the _meta of a result or a notification.
const (
	MetaServerInfo     = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// MetaChanged is the key in the _meta of a tool whose definition has changed since the server offered it before.
const MetaChanged = "mcp-workbench/changed"

// MetaRelatedTask is the key in the _meta of messages that belong to a task, up to revision 2025-11-25.
const MetaRelatedTask = "io.modelcontextprotocol/related-task"

// InputRequests is the member of a result with the questions that the client has to answer first, since revision
// 2026-07-28.
const InputRequests = "inputRequests"

// Members of the params of a request that is repeated with the answers to the server's questions, since revision
// 2026-07-28.
const (
	InputResponses = "inputResponses"
	RequestState   = "requestState"
)

// Log levels, least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LogLevels returns the log levels, least severe first.
func LogLevels() []string { return slices.Clone(levels) }

// Severity returns the rank of a log level; -1 for an unknown level.
func Severity(level string) int { return slices.Index(levels, level) }

// Members of a result that say how long and for whom it may be cached, since revision 2026-07-28.
const (
	TTL        = "ttlMs"
	CacheScope = "cacheScope"
)

// Extensions that the workbench supports. Tasks are an extension since revision 2026-07-28.
const (
	ExtensionTasks  = "io.modelcontextprotocol/tasks"
	ExtensionSkills = "io.modelcontextprotocol/skills"
	ExtensionApps   = "io.modelcontextprotocol/ui"
)

// IsHopByHop reports whether a key of _meta is hop-by-hop and so must not be forwarded.
func IsHopByHop(key string) bool {
	switch key {
	case MetaProtocolVersion, MetaClientInfo, MetaClientCapabilities, MetaLogLevel:
		return true
	}
	return false
}

// Kinds of results, in the member ResultType, since revision 2026-07-28. A result without that member is complete.
const (
	ResultType          = "resultType"
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task"
)

// Error codes of JSON-RPC and MCP.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603

	CodeResourceNotFound       = -32002
	CodeHeaderMismatch         = -32020
	CodeMissingCapability      = -32021
	CodeUnsupportedRevision    = -32022
	CodeURLElicitationRequired = -32042

	// CodeTooMany is ours: the client has reached a limit of its own.
	CodeTooMany = -32005
)

// ClientMustAct reports whether an error code requires the client program, not the model, to act. Such an error has to
// stay a JSON-RPC error.
func ClientMustAct(code int) bool {
	switch code {
	case CodeURLElicitationRequired, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedRevision:
		return true
	}
	return false
}

// Revision is a version of the protocol, named by its date.
type Revision string

// Revision20260728 has no handshake: each request carries what the server needs to know. Revisions does not include it,
// since initialize cannot negotiate it.
const Revision20260728 Revision = "2026-07-28"

// The other revisions, newest first. Their sessions begin with an initialize handshake.
const (
	Revision20251125 Revision = "2025-11-25"
	Revision20250618 Revision = "2025-06-18"
	Revision20250326 Revision = "2025-03-26"
	Revision20241105 Revision = "2024-11-05"
)

var revisions = []Revision{Revision20251125, Revision20250618, Revision20250326, Revision20241105}

// Revisions returns the revisions that initialize can negotiate, newest first.
func Revisions() []Revision { return slices.Clone(revisions) }

// Newest is the revision offered first, and the answer to a client that asks for an unknown one.
func Newest() Revision { return revisions[0] }

// Known reports whether initialize can negotiate the revision.
func (r Revision) Known() bool { return slices.Contains(revisions, r) }

// Supported returns all revisions that clients may use, newest first.
func Supported() []Revision { return append([]Revision{Revision20260728}, revisions...) }

// IsModern reports whether the revision belongs to the era without a handshake. Future revisions do.
func (r Revision) IsModern() bool { return r >= Revision20260728 }

// HasBatches reports whether one frame may hold an array of messages.
func (r Revision) HasBatches() bool {
	return r == Revision20250326 || r == Revision20241105
}
