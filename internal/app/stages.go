package app

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// stages returns the stages that every request passes on its way to a server. They are rebuilt with each configuration;
// an unconfigured stage is left out.
func (a *App) stages(cfg *config.Config) call.Stages {
	stages := call.Stages{Observe: []call.Observer{metering{a.meter}}}
	if rules := policy.New(cfg); rules != nil {
		stages.Screen = append(stages.Screen, rules)
	}
	return stages
}

// metering is the stage that counts requests.
type metering struct{ meter *meter.Meter }

// CallBegan implements call.Observer.
func (metering) CallBegan(*call.Call, time.Time) {}

// CallEnded implements call.Observer. Names invented by a client are not counted separately.
func (m metering) CallEnded(c *call.Call, end call.End) {
	key := meter.Key{Toolbox: c.Server.Toolbox(), Server: c.Server.Name(), Method: protocol.FindMethod(c.Method).Name}
	if !c.Tool.IsAbsent() {
		key.Tool = c.Name
	}
	result := meter.Failed
	switch end.Status {
	case call.StatusInputRequired:
		return // counted once the client has sent the input
	case call.StatusOK:
		result = meter.OK
	case call.StatusRefused:
		result = meter.Refused
	case call.StatusCancelled:
		result = meter.Cancelled
	}
	m.meter.Count(key, result, end.Began.Add(end.Took), end.Took)
}
