package app

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// What onlookers declare. Some servers offer tools only to clients that they can ask
// something.
const (
	// ByPerson is what a client declares where a person answers: the commands that call tools.
	ByPerson = `{"roots":{},"elicitation":{"form":{},"url":{}}}`
	// ByAnyone is what a client declares that has everything, so that there is no tool that
	// another sees and it does not.
	ByAnyone = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},` +
		`"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}`
)

// NewOnlooker makes a client that sees what a client sees that declares these capabilities,
// but calls nothing. A server that asks for its roots is told that there are none; other
// questions are refused. Close it.
func NewOnlooker(capabilities string) *fleet.ClientProfile {
	return fleet.NewClientProfile(fleet.ProfileOptions{
		Capabilities: []byte(capabilities),
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
