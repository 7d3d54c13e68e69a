package exposition

import "github.com/prometheus/client_golang/prometheus"

// The labels. Those that the MCP conventions of OpenTelemetry name are called as there, with _ for the dots.
const (
	labelToolbox = "toolbox"
	labelServer  = "server"
	labelMethod  = "mcp_method_name"
	labelTool    = "gen_ai_tool_name"
	labelError   = "error_type"
	labelOutcome = "outcome"
	labelState   = "state"
	labelLocked  = "locked"
	labelVersion = "version"

	labelTransport = "network_transport"
	labelRevision  = "mcp_protocol_version"
)

// all are the descriptions of all metrics.
var all []*prometheus.Desc

// describe makes the description of a metric that has these labels besides toolbox and server.
func describe(name, help string, labels ...string) *prometheus.Desc {
	desc := prometheus.NewDesc(name, help, append([]string{labelToolbox, labelServer}, labels...), nil)
	all = append(all, desc)
	return desc
}

// The metrics. The names of the first two, and of the sessions, are those of the MCP conventions.
var (
	serverOperation = describe("mcp_server_operation_duration_seconds",
		"Duration of requests that were sent to a server, as clients of the workbench see it.", labelMethod)
	clientOperation = describe("mcp_client_operation_duration_seconds",
		"The part of the duration of requests that was spent at the server.", labelMethod)
	clientSession = describe("mcp_client_session_duration_seconds",
		"Duration of sessions with a server that ended; error_type is server_ended if the server ended by itself.", labelError)
	serverSession = describeProgram("mcp_server_session_duration_seconds",
		"Duration of sessions of clients that ended. Requests of revision 2026-07-28 have none.", labelTransport, labelRevision)
	overhead = describe("mcp_workbench_overhead_duration_seconds",
		"The part of the duration of requests that was spent in the workbench: without the server, its start, and people.")

	requestsTotal = describe("mcp_workbench_requests_total", "Requests that ended, by method and outcome.", labelMethod, labelOutcome)
	callsTotal    = describe("mcp_workbench_calls_total", "Calls of tools that ended, by tool and outcome; tools beyond the first 2000 are _other.", labelTool, labelOutcome)
	errorsTotal   = describe("mcp_workbench_errors_total", "Requests that ended with an error or were refused or cancelled, by type of error.", labelError)
	inFlight      = describe("mcp_workbench_calls_in_flight", "Requests under way.")

	serverStarts    = describe("mcp_workbench_server_starts_total", "Starts of the server.", labelOutcome)
	serverStartTime = describe("mcp_workbench_server_start_duration_seconds", "Duration of starts that succeeded.")
	serverCrashes   = describe("mcp_workbench_server_crashes_total", "How often the server ended by itself after it was ready.")
	serverState     = describe("mcp_workbench_server_state", "Copies of the server in each state.", labelState)
	serverMemory    = describe("mcp_workbench_server_memory_bytes", "Memory of the server's processes.")

	questionsWaiting   = describe("mcp_workbench_questions_waiting", "Calls that wait for a person to approve them.")
	definitionsChanged = describe("mcp_workbench_definitions_changed_total",
		"Tool definitions and instructions that were found changed; locked is true where only approved ones are offered.", labelLocked)

	buildInfo = describeProgram("mcp_workbench_build_info", "The version of the workbench; always 1.", labelVersion)
)

// describeProgram makes the description of a metric of the program itself.
func describeProgram(name, help string, labels ...string) *prometheus.Desc {
	desc := prometheus.NewDesc(name, help, labels, nil)
	all = append(all, desc)
	return desc
}
