package app

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/telemetry"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// prepareTelemetry makes what sends spans and metrics, if the environment says where. It is called before other parts are
// made, so that it ends after them, and started when they are.
func (a *App) prepareTelemetry() {
	a.telemetry = telemetry.New(telemetry.Options{
		Settings: telemetry.Read(a.environ), Version: a.version, Environ: a.environ, Log: a.log, Mask: a.Mask, Metrics: a.telemetryMetrics,
	})
	if a.telemetry == nil {
		return
	}
	a.onStop("telemetry", func(ctx context.Context) error {
		a.telemetry.Close(ctx)
		return nil
	})
}

// telemetryMetrics returns what is counted, and the state of every session with a server.
func (a *App) telemetryMetrics() (meter.Snapshot, []telemetry.ServerState) {
	statuses := a.fleet.Status()
	var leaders []int
	for i := range statuses {
		if statuses[i].PID != 0 {
			leaders = append(leaders, statuses[i].PID)
		}
	}
	uses := process.Measure(leaders)
	questions, isLocked := a.questionsByServer(), a.lockedToolboxes()
	states := make([]telemetry.ServerState, len(statuses))
	for i := range statuses {
		s := &statuses[i]
		states[i] = telemetry.ServerState{
			Toolbox: s.Toolbox, Server: s.Server, State: s.State, Memory: uses[s.PID].Memory,
			Questions: questions[toolbox.Ref{Toolbox: s.Toolbox, Server: s.Server}], IsLocked: isLocked[s.Toolbox],
		}
	}
	return a.Metrics(), states
}
