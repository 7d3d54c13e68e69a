package console

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// Offer is the result of open_toolbox.
type Offer struct {
	Servers int // connected
	Tools   []OfferedTool
	// Remarks are errors and warnings, each with its kind.
	Remarks []string
}

// OfferedTool is a tool of an opened toolbox.
type OfferedTool struct {
	catalog.Tool
	Server string
}

// Offered parses the result of open_toolbox.
func Offered(answer string) (Offer, error) {
	opened, err := wire.ParseValue([]byte(answer))
	if err != nil {
		return Offer{}, fmt.Errorf("open_toolbox answered with something unexpected: %w", err)
	}
	var offer Offer
	_ = json.Unmarshal(opened.Member("servers_connected").Bytes(), &offer.Servers) // absent is zero
	for definition := range opened.Member("tools").Elements() {
		offer.Tools = append(offer.Tools, OfferedTool{
			catalog.Tool{Name: text(definition.Member("name")), Definition: definition}, text(definition.Member("server")),
		})
	}
	for _, key := range []string{"_errors", "_warnings"} {
		for remark := range opened.Member(key).Elements() {
			offer.Remarks = append(offer.Remarks, strings.Trim(key, "_s")+": "+text(remark))
		}
	}
	return offer, nil
}
