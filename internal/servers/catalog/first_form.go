package catalog

import (
	"crypto/sha256"
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file computes the hashes in locks and baselines of version 1, which are of definitions as version 1 cleaned
// them. They are only used for comparison.

// firstHash returns the version 1 hash of a definition.
func firstHash(source wire.Payload) Hash {
	var edits []wire.Edit
	if hidden.InJSON(source.Bytes()) {
		edits = appendFirstEdits(nil, source, false, 0)
	}
	raw := wire.AppendEdited(nil, source, edits...)
	return sha256.Sum256(withSchema(raw))
}

// appendFirstEdits removes invisible text from prose. In a map of schemas the keys are names given by the server, not
// keywords: a parameter can be called "pattern".
func appendFirstEdits(edits []wire.Edit, value wire.Payload, isMap bool, depth int) []wire.Edit {
	if depth > maxCleanDepth {
		return edits
	}
	for element := range value.Elements() {
		edits = appendFirstEdits(edits, element, false, depth+1)
	}
	for key, member := range value.Members() {
		holdsMap := false
		switch string(key) {
		case "enum", "const", "default", "pattern":
			if !isMap {
				continue
			}
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			holdsMap = !isMap
		case "name", "title", "description":
			if text, ok := member.Text(); ok {
				if clean := firstClean(text); clean != text {
					edits = append(edits, wire.Edit{Part: member, With: wire.AppendString(nil, clean)})
				}
				continue
			}
		}
		edits = appendFirstEdits(edits, member, holdsMap, depth+1)
	}
	return edits
}

func firstClean(text string) string {
	if strings.IndexFunc(text, isInvisible) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, hidden.WithoutSequences(text))
}

func isInvisible(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case unicode.IsControl(r):
		return true
	case r == 0x200b, 0x2060 <= r && r <= 0x2064, r == 0xfeff,
		0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, 0xe0000 <= r && r <= 0xe007f:
		return true
	}
	return false
}
