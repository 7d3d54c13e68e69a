package app

import (
	"reflect"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// stages returns the stages that every request passes on its way to a server. They are rebuilt with each configuration;
// an unconfigured stage is left out.
func (a *App) stages(cfg *config.Config) call.Stages {
	stages := call.Stages{Observe: []call.Observer{a.meter, a.history}, Shape: true}
	if tracer := a.telemetry.Tracer(); tracer != nil {
		stages.Trace, stages.Observe = tracer, append(stages.Observe, a.telemetry)
	}
	if a.refusal != nil {
		stages.Screen = append(stages.Screen, refusing{a.refusal})
	}
	rules := policy.New(cfg)
	a.policy.Store(rules)
	if rules != nil {
		stage := policy.NewStage(rules, policy.StageOptions{Asker: a.desk, Ledger: a.ledger, Rounds: a.rounds, Current: a.policy.Load})
		stages.Screen, stages.Admit = append(stages.Screen, stage), append(stages.Admit, stage)
		stages.Observe = append(stages.Observe, a.rounds)
		if rules.HasSecretRules() {
			stages.Revise = append(stages.Revise, stage)
		}
	}
	if a.auditStage != nil { // the last admitter, so that what it records as admitted is sent
		stages.Screen, stages.Admit = append(stages.Screen, a.auditStage), append(stages.Admit, a.auditStage)
		stages.Observe, stages.Hash = append(stages.Observe, a.auditStage), true
	}
	return stages
}

// refusing refuses every request.
type refusing struct{ refusal *call.Failure }

// Screen implements call.Screener.
func (r refusing) Screen(*call.Call) *call.Failure { return r.refusal }

// reroute sends calls through the stages of another configuration.
func (a *App) reroute(former, cfg *config.Config) {
	a.router.Store(call.NewRouter(a.stages(cfg)))
	if !reflect.DeepEqual(cfg.Policy, former.Policy) {
		a.desk.PolicyChanged()
		a.rounds.PolicyChanged()
	}
}

// reads reports whether a tool only reads, so that read_tool runs it: by its hints, or by a class of the policy.
func (a *App) reads(ref toolbox.Ref, tool catalog.Tool) bool {
	return a.policy.Load().Reads(ref, tool.Definition, tool.HintsDoubted)
}
