package metatool

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of the shape of a value.
const (
	shapeParts = 12 // members of an object
	shapeDepth = 8
	shapeKey   = 60  // bytes of a member's name
	shapeBytes = 800 // in all
	shapeShort = 100 // bytes of a text whose length does not matter
)

// shapeOf describes the structure of a value in a line: {items: [300 × {id: number}]}. The first element stands for
// all of an array.
func shapeOf(value wire.Payload) string { return cutText(shape(value, 0), shapeBytes) }

func shape(value wire.Payload, depth int) string {
	switch kind := value.Kind(); {
	case kind == "object" && depth < shapeDepth:
		return objectShape(value, depth)
	case kind == "array" && depth < shapeDepth:
		return arrayShape(value, depth)
	case kind == "object":
		return "{" + ellipsis + "}"
	case kind == "array":
		return "[" + ellipsis + "]"
	case kind == "string" && len(value.Bytes()) > shapeShort:
		return longShape(value, depth)
	default:
		return kind
	}
}

func objectShape(object wire.Payload, depth int) string {
	var parts []string
	for key, member := range object.Members() {
		if len(parts) == shapeParts {
			parts = append(parts, ellipsis)
			break
		}
		parts = append(parts, cutText(string(key), shapeKey)+": "+shape(member, depth+1))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func arrayShape(array wire.Payload, depth int) string {
	count, first := 0, ""
	for element := range array.Elements() {
		if count == 0 {
			first = shape(element, depth+1)
		}
		count++
	}
	if count == 0 {
		return "[]"
	}
	return fmt.Sprintf("[%d × %s]", count, first)
}

// longShape is the shape of a long text, which often holds JSON.
func longShape(value wire.Payload, depth int) string {
	text, _ := value.Text()
	if held := inside(value); held.Kind() != "string" {
		return fmt.Sprintf("text of %d bytes holding %s", len(text), shape(held, depth+1))
	}
	return fmt.Sprintf("text of %d bytes in %d lines", len(text), 1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"))
}
