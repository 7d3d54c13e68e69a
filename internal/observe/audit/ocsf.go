package audit

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"

// Numbers of OCSF for the class API Activity.
const (
	ocsfVersion  = "1.6.0"
	ocsfClass    = 6003
	ocsfCategory = 6

	ocsfProduct = "MCP Workbench" // also the actor of what nobody asked for
)

// coded is a number of OCSF with its caption.
type coded struct {
	id      int
	caption string
}

var (
	ocsfCreate = coded{1, "Create"}
	ocsfRead   = coded{2, "Read"}
	ocsfUpdate = coded{3, "Update"}
	ocsfDelete = coded{4, "Delete"}
)

// ocsfState is what an outcome means in OCSF.
type ocsfState struct{ status, severity, action, disposition coded }

var (
	statusUnknown, statusSuccess, statusFailure = coded{0, "Unknown"}, coded{1, "Success"}, coded{2, "Failure"}

	severityInfo, severityMedium = coded{1, "Informational"}, coded{3, "Medium"}

	stateDenied  = ocsfState{statusFailure, severityMedium, coded{2, "Denied"}, coded{2, "Blocked"}}
	stateFailed  = ocsfState{statusFailure, severityInfo, coded{1, "Allowed"}, coded{1, "Allowed"}}
	stateAllowed = ocsfState{statusSuccess, severityInfo, coded{1, "Allowed"}, coded{1, "Allowed"}}
	stateNotable = ocsfState{statusUnknown, severityMedium, coded{0, "Unknown"}, coded{17, "Logged"}}
	stateLogged  = ocsfState{statusUnknown, severityInfo, coded{0, "Unknown"}, coded{17, "Logged"}}
)

// stateOf returns what a line means.
func stateOf(known line) ocsfState {
	switch known.Outcome {
	case "refused", "no", "unanswered":
		return stateDenied
	case "failed", "error", "tool_error", "crashed", "cancelled":
		return stateFailed
	case "admitted", "ok", "once", "same", "session", "created", "started":
		return stateAllowed
	case "changed", "cut", "torn", "killed":
		return stateNotable
	}
	if known.Event == eventLost {
		return stateNotable
	}
	return stateLogged
}

// activityOf returns what was done. Calls of tools can do anything, and are Other by the name of the event.
func activityOf(known line, all map[string]any) coded {
	switch method := text(all, "mcp.method.name"); {
	case known.Event == eventToken && known.Outcome == "created":
		return ocsfCreate
	case known.Event == eventToken && known.Outcome == "removed":
		return ocsfDelete
	case known.Event == eventReload, known.Event == eventDefinition:
		return ocsfUpdate
	case method == protocol.MethodResourcesRead, method == protocol.MethodPromptsGet:
		return ocsfRead
	}
	return coded{99, known.Event}
}

// toOCSF returns a line as an event of the class API Activity. Members that OCSF requires are always there; none is empty.
func toOCSF(known line, all map[string]any, sum hash) any {
	state, activity := stateOf(known), activityOf(known, all)
	metadata := map[string]any{
		"version": ocsfVersion, "uid": sum.String(), "sequence": known.Seq, "original_time": text(all, "time"), "log_name": "audit",
		"product": map[string]any{"name": ocsfProduct, "vendor_name": ocsfProduct},
	}
	event := map[string]any{
		"class_uid": ocsfClass, "class_name": "API Activity", "category_uid": ocsfCategory, "category_name": "Application Activity",
		"activity_id": activity.id, "activity_name": activity.caption, "type_uid": ocsfClass*100 + activity.id, "type_name": "API Activity: " + captionOf(activity),
		"time": known.Time.UnixMilli(), "severity_id": state.severity.id, "severity": state.severity.caption,
		"status_id": state.status.id, "status": state.status.caption,
		"action_id": state.action.id, "action": state.action.caption, "disposition_id": state.disposition.id, "disposition": state.disposition.caption,
		"metadata": metadata, "actor": actorOf(all), "api": apiOf(known, all), "src_endpoint": sourceOf(known, all), "unmapped": all,
	}
	profiles := []string{"security_control"}
	if id := text(all, "trace_id"); id != "" {
		event["trace"], profiles = map[string]any{"uid": id}, append(profiles, "trace")
	}
	metadata["profiles"] = profiles
	setText(metadata, "correlation_uid", known.Call)
	setText(event, "status_detail", known.Outcome)
	setText(event, "status_code", text(all, "error.type"))
	if subject := subjectOf(all); subject != "" {
		resource := map[string]any{"name": subject, "type": "tool"}
		if text(all, "gen_ai.tool.name") == "" {
			resource["type"] = "server"
		}
		if definition := text(all, "definition"); definition != "" {
			resource["data"] = map[string]any{"algorithm": "SHA-256", "definition": definition}
		}
		event["resources"] = []any{resource}
	}
	if ms, ok := all["ms"].(float64); ok {
		event["duration"] = int64(ms)
	}
	return event
}

// captionOf returns the caption of an activity in the name of a type.
func captionOf(activity coded) string {
	if activity.id == 99 {
		return "Other"
	}
	return activity.caption
}

// setText sets a member unless it would be empty.
func setText(in map[string]any, name, value string) {
	if value != "" {
		in[name] = value
	}
}

// actorOf returns who caused an event: the caller and its program, or the workbench itself.
func actorOf(all map[string]any) map[string]any {
	actor := make(map[string]any)
	caller := text(all, "caller")
	if token := text(all, "token"); caller == "" && token != "" && text(all, "outcome") == "refused" {
		caller = "token:" + token
	}
	if caller != "" {
		actor["user"] = map[string]any{"name": caller}
	}
	setText(actor, "app_name", text(all, "client"))
	if len(actor) == 0 {
		actor["app_name"] = ocsfProduct
	}
	return actor
}

func apiOf(known line, all map[string]any) map[string]any {
	operation := text(all, "mcp.method.name")
	if operation == "" {
		operation = known.Event
	}
	api := map[string]any{"operation": operation}
	if server := text(all, "server"); server != "" {
		api["service"] = map[string]any{"name": server}
	}
	if known.Call != "" {
		api["request"] = map[string]any{"uid": known.Call}
	}
	return api
}

// sourceOf returns where an event came from: the process that recorded it and, over HTTP, the address of the client.
func sourceOf(known line, all map[string]any) map[string]any {
	source := map[string]any{"name": known.Writer}
	if known.Writer == "" {
		source["name"] = ocsfProduct
	}
	setText(source, "ip", text(all, "client.address"))
	if port, ok := all["client.port"].(float64); ok {
		source["port"] = int64(port)
	}
	return source
}
