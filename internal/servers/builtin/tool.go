package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// addTool registers a tool. The SDK describes a list as "null or array", which some
// clients refuse in a parameter; ours are plain arrays.
func addTool[In, Out any](server *mcp.Server, tool *mcp.Tool, handler mcp.ToolHandlerFor[In, Out]) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a mistake in our own types, which every test meets
	}
	for _, property := range schema.Properties {
		if slices.Equal(property.Types, []string{"null", "array"}) {
			property.Type, property.Types = "array", nil
		}
	}
	tool.InputSchema = schema
	mcp.AddTool(server, tool, handler)
}

// looks annotates a tool that changes nothing.
func looks() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    true,
		IdempotentHint:  true,
		DestructiveHint: new(false),
		OpenWorldHint:   new(false),
	}
}

// answer makes a result of text blocks, leaving out empty ones. The SDK adds
// the structured output.
func answer(blocks ...string) *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, block := range blocks {
		if block != "" {
			result.Content = append(result.Content, &mcp.TextContent{Text: block})
		}
	}
	return result
}

// refuse makes an error for the model: what is wrong, and what to do instead.
func refuse(hint, format string, args ...any) error {
	return &toolbox.Error{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// between returns value, or otherwise if it was not given. Values out of range
// are refused rather than adjusted, lest the model believe it got what it asked.
func between(name string, value, otherwise, most int) (int, error) {
	switch {
	case value == 0:
		return otherwise, nil
	case value < 0 || value > most:
		return 0, refuse(fmt.Sprintf("Give a number from 1 to %d, or leave it out for %d.", most, otherwise),
			"%s cannot be %d.", name, value)
	}
	return value, nil
}

// sentences joins those that are not empty.
func sentences(all ...string) string {
	var kept []string
	for _, s := range all {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}
