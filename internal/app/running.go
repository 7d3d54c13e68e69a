package app

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const (
	maxRunning     = 200 // requests in flight that are shown; further ones are counted
	maxRunningName = 256 // bytes of the name of a tool; a longer one is left out, since it may be anything
)

// Running implements control.Subject.
func (i Inspector) Running() control.RunningCalls {
	all := i.App.front.Running()
	slices.SortFunc(all, func(a, b front.RunningRequest) int { return a.Began.Compare(b.Began) })
	shown := all[:min(len(all), maxRunning)]
	running := control.RunningCalls{Calls: make([]control.RunningCall, len(shown)), More: len(all) - len(shown)}
	for n := range shown {
		running.Calls[n] = i.running(&shown[n])
	}
	return running
}

func (i Inspector) running(r *front.RunningRequest) control.RunningCall {
	seen := control.RunningCall{
		ID: r.ID(), Since: r.Began, Client: tty.CleanLine(i.App.Mask(r.Client)), Caller: i.App.Mask(r.Caller),
		Toolbox: r.Server.Toolbox(), Server: r.Server.Name(), Method: protocol.FindMethod(r.Method).Name, Phase: string(r.Phase),
	}
	if r.Method == protocol.MethodToolsCall {
		if seen.Tool = "…"; len(r.Name) <= maxRunningName {
			seen.Tool = i.App.Mask(r.Name)
		}
	}
	return seen
}

// Cancel implements control.Subject.
func (i Inspector) Cancel(id string) error {
	if !i.App.front.Cancel(id) {
		return control.NotInFlight(id)
	}
	return nil
}
