package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// addTool registers a tool. The SDK describes a list parameter as "null or array", which some clients reject; this
// makes it a plain array.
func addTool[In, Out any](server *mcp.Server, tool *mcp.Tool, handler mcp.ToolHandlerFor[In, Out]) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a mistake in the input types, which every test detects
	}
	for _, property := range schema.Properties {
		if slices.Equal(property.Types, []string{"null", "array"}) {
			property.Type, property.Types = "array", nil
		}
	}
	tool.InputSchema = schema
	mcp.AddTool(server, tool, handler)
}

// readOnly returns the annotations of a read-only tool.
func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    true,
		IdempotentHint:  true,
		DestructiveHint: new(false),
		OpenWorldHint:   new(false),
	}
}

// answer returns a result with the non-empty text blocks. The SDK adds the structured output.
func answer(blocks ...string) *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, block := range blocks {
		if block != "" {
			result.Content = append(result.Content, &mcp.TextContent{Text: block})
		}
	}
	return result
}

// refuse returns an error for the model: what is wrong, and what to do instead.
func refuse(hint, format string, args ...any) error {
	return &toolbox.Error{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// inRange returns value, or otherwise if value is 0. Values out of range are refused, not adjusted, so that the model
// does not misinterpret the result.
func inRange(name string, value, otherwise, most int) (int, error) {
	switch {
	case value == 0:
		return otherwise, nil
	case value < 0 || value > most:
		return 0, refuse(fmt.Sprintf("Give a number from 1 to %d, or leave it out for %d.", most, otherwise),
			"%s cannot be %d.", name, value)
	}
	return value, nil
}

// sentences joins the non-empty texts.
func sentences(all ...string) string {
	var kept []string
	for _, s := range all {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}
