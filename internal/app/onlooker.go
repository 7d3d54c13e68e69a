package app

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Capabilities of onlookers. Some servers offer tools only to clients that can answer questions.
const (
	// ByPerson is for clients with a person who answers: the commands that call tools.
	ByPerson = `{"roots":{},"elicitation":{"form":{},"url":{}}}`
	// ByAnyone declares everything, so that every tool is visible.
	ByAnyone = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},` +
		`"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}`
)

// NewOnlooker returns a client with these capabilities that lists but calls nothing, for a command. It has no
// roots, and refuses other questions of servers. It must be closed.
func NewOnlooker(capabilities string) *fleet.ClientProfile {
	return fleet.NewClientProfile(fleet.ProfileOptions{
		Capabilities: []byte(capabilities), Caller: config.CallerTerminal,
		Ask: func(question *downstream.Question) {
			if question.Method != protocol.MethodRootsList {
				question.RefuseUnsupported()
				return
			}
			question.Answer(wire.Message{Result: wire.Raw([]byte(`{"roots":[]}`))})
		},
		Notice: func(*fleet.Server, wire.Message) {},
	})
}
