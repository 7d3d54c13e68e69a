package protocol

import (
	"slices"
	"strings"
)

// DecisiveObjects are the members of params that hold decisive members themselves. What is in the arguments of a tool is
// for the server alone.
var DecisiveObjects = []string{"_meta", "ref", "task"}

// decisive are the members of params, and of the objects in them, by which a message is routed, checked, changed or
// compared with what was allowed, before its bytes are passed on.
var decisive = []string{
	"_meta", SubjectName, "arguments", "task", "ttl", InputResponses, RequestState, "inputRequests",
	SubjectURI, "ref", "type", "argument", "context", "cursor", "level", SubjectTask,
	"requestId", "reason", ProgressToken, "notifications",
	"protocolVersion", "capabilities", "clientInfo",
	"mode", "url", "elicitationId", "requestedSchema", "tools", "toolChoice",
	MetaProtocolVersion, MetaClientInfo, MetaClientCapabilities, MetaLogLevel, MetaServerInfo, MetaSubscriptionID, MetaRelatedTask,
}

var decisiveKeys = func() map[string]string {
	set := make(map[string]string, len(decisive))
	for _, key := range decisive {
		set[key] = key
	}
	return set
}()

// decided are the prefixes of methods whose params decide something here. Other methods are forwarded as they are.
var decided = []string{
	"tools/", "resources/", "prompts/", "completion/", "tasks/", "logging/", "sampling/", "elicitation/", "roots/",
	NotifyCancelled, NotifyProgress, NotifyRootsList,
}

// Decides reports whether members of a message's params decide what becomes of it here.
func Decides(method string) bool {
	return slices.ContainsFunc(decided, func(beginning string) bool { return strings.HasPrefix(method, beginning) })
}

// DecisiveKey returns the key as a string, and whether that member decides what becomes of a message here. It allocates
// nothing for a key that does.
func DecisiveKey(key []byte) (text string, decides bool) {
	if known, ok := decisiveKeys[string(key)]; ok {
		return known, true
	}
	return string(key), false
}

// IsTwin reports whether a key differs from a decisive one in the case of its letters only. Some programs ignore case,
// and would read another message than we do.
func IsTwin(key string) bool {
	if _, ok := decisiveKeys[key]; ok {
		return false
	}
	for _, known := range decisive {
		// Folding changes the length of few letters, and by no more than two bytes each.
		if len(key) >= len(known) && len(key) <= 3*len(known) && strings.EqualFold(key, known) {
			return true
		}
	}
	return false
}
