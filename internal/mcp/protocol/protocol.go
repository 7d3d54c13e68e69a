// Package protocol holds the words of MCP: methods, revisions, reserved keys and
// error codes.
package protocol

import "slices"

// OwnName is what the workbench calls itself, as a server and as a client.
const OwnName = "mcp-workbench"

// Methods that the workbench sends, answers or watches for.
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
	MethodTasksUpdate     = "tasks/update"
	MethodSkillsList      = "skills/list"
	MethodSkillsGet       = "skills/get"
	MethodDirectoryRead   = "resources/directory/read"
)

// Requests for updates of one task. They exist within the workbench only: a modern server gets one long request for
// several tasks, as it does for resources, and a legacy server has no such updates.
const (
	MethodWatchTask   = "workbench/tasks/watch"
	MethodUnwatchTask = "workbench/tasks/unwatch"
)

// ProgressToken is the key in a request's _meta that asks for progress, and the one
// in a progress notification that names the request.
const ProgressToken = "progressToken"

// Keys in a request's _meta that belong to one hop: since revision 2026-07-28 every
// request tells what was agreed on at the start of a session before.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
)

// Keys in the _meta of a result or a notification that belong to one hop.
const (
	MetaServerInfo     = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

// MetaChanged is the key in the _meta of a tool whose definition is another than the server offered before.
const MetaChanged = "mcp-workbench/changed"

// MetaRelatedTask is the key in the _meta of whatever belongs to a task, up to revision
// 2025-11-25.
const MetaRelatedTask = "io.modelcontextprotocol/related-task"

// InputRequests is the member of a result that holds the questions that the client has to
// answer first, since revision 2026-07-28.
const InputRequests = "inputRequests"

// Members of the params with which a request is sent again that the server had questions
// on, since revision 2026-07-28.
const (
	InputResponses = "inputResponses"
	RequestState   = "requestState"
)

// Levels of log messages, the least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LogLevels returns the levels of log messages, the least severe first.
func LogLevels() []string { return slices.Clone(levels) }

// Severity returns the rank of a level of log messages, and -1 for an unknown level.
func Severity(level string) int { return slices.Index(levels, level) }

// Members of a result that say how long it may be kept and for whom, since revision
// 2026-07-28.
const (
	TTL        = "ttlMs"
	CacheScope = "cacheScope"
)

// Extensions that the workbench knows. Tasks are one since revision 2026-07-28.
const (
	ExtensionTasks  = "io.modelcontextprotocol/tasks"
	ExtensionSkills = "io.modelcontextprotocol/skills"
	ExtensionApps   = "io.modelcontextprotocol/ui"
)

// OfOneHop reports whether a key of _meta says something about the two ends of one hop,
// so that it must not be forwarded.
func OfOneHop(key string) bool {
	switch key {
	case MetaProtocolVersion, MetaClientInfo, MetaClientCapabilities, MetaLogLevel:
		return true
	}
	return false
}

// Kinds of results, in the member ResultType, since revision 2026-07-28. A result without
// one is complete.
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

// Revision20260728 has no handshake: each request says what it needs. It is none of
// Revisions, which are agreed on by one.
const Revision20260728 Revision = "2026-07-28"

// The other revisions, newest first. All of them begin with an initialize handshake.
const (
	Revision20251125 Revision = "2025-11-25"
	Revision20250618 Revision = "2025-06-18"
	Revision20250326 Revision = "2025-03-26"
	Revision20241105 Revision = "2024-11-05"
)

var revisions = []Revision{Revision20251125, Revision20250618, Revision20250326, Revision20241105}

// Revisions returns what can be agreed on by initialize, newest first.
func Revisions() []Revision { return slices.Clone(revisions) }

// Newest is what is offered first, and what a client gets that asks for one we do
// not know.
func Newest() Revision { return revisions[0] }

// Known reports whether the revision is one of Revisions.
func (r Revision) Known() bool { return slices.Contains(revisions, r) }

// Supported returns all revisions that clients may speak, newest first.
func Supported() []Revision { return append([]Revision{Revision20260728}, revisions...) }

// IsModern reports whether the revision is of the era without a handshake. Revisions that
// are yet to come are.
func (r Revision) IsModern() bool { return r >= Revision20260728 }

// HasBatches reports whether one frame may hold an array of messages.
func (r Revision) HasBatches() bool {
	return r == Revision20250326 || r == Revision20241105
}
