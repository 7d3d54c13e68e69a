package protocol

import (
	"slices"
	"strings"
)

// DecisiveObjects are the members of params that contain decisive members. The arguments of a tool are not among them:
// they are for the server only.
var DecisiveObjects = []string{"_meta", "ref", "task"}

// decisive are the members of params, and of the objects in them, that the workbench uses to route, check, change or
// authorise a message before it forwards the bytes.
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

// decided are the prefixes of methods whose params have decisive members. Other methods are forwarded unchanged.
var decided = []string{
	"tools/", "resources/", "prompts/", "completion/", "tasks/", "logging/", "sampling/", "elicitation/", "roots/",
	NotifyCancelled, NotifyProgress, NotifyRootsList,
}

// HasDecisiveMembers reports whether the params of a method have decisive members.
func HasDecisiveMembers(method string) bool {
	return slices.ContainsFunc(decided, func(beginning string) bool { return strings.HasPrefix(method, beginning) })
}

// DecisiveKey returns the key as a string, and whether it is decisive. It does not allocate for a decisive key.
func DecisiveKey(key []byte) (text string, decides bool) {
	if known, ok := decisiveKeys[string(key)]; ok {
		return known, true
	}
	return string(key), false
}

// IsCaseVariant reports whether a key differs from a decisive one only in case. Some programs ignore case, and would read a
// different message than the workbench does.
func IsCaseVariant(key string) bool {
	if _, ok := decisiveKeys[key]; ok {
		return false
	}
	for _, known := range decisive {
		// Case folding changes the length of few letters, by at most two bytes each.
		if len(key) >= len(known) && len(key) <= 3*len(known) && strings.EqualFold(key, known) {
			return true
		}
	}
	return false
}
