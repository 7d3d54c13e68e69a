package catalog

import "strings"

// place is a position in a definition, which decides what its keys mean.
type place uint8

const (
	inEntry       place = iota // the definition itself: of a tool, prompt, resource or template
	inAnnotations              // its annotations
	inArgument                 // the arguments of a prompt, and each argument
	inSchema                   // a JSON Schema
	inMap                      // a map of schemas, whose keys are names given by the server
	inOther                    // unknown content, such as _meta
	inOtherMap                 // an apparent map of schemas in unknown content
	inValue                    // a value that a tool computes with, which never changes
)

// within returns the place of a member.
func (p place) within(key string) place {
	switch p {
	case inValue:
		return inValue
	case inMap:
		return inSchema
	case inOtherMap:
		return inOther
	case inEntry:
		switch key {
		case "inputSchema", "outputSchema":
			return inSchema
		case "annotations":
			return inAnnotations
		case "arguments":
			return inArgument
		}
		return inOther
	}
	switch key {
	case "enum", "const", "default", "pattern", "examples":
		return inValue
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired", "dependencies":
		if p == inSchema {
			return inMap
		}
		return inOtherMap
	}
	if p == inSchema && hasKey[inSchema][key] {
		return inSchema
	}
	return inOther
}

// element returns the place of an element of an array.
func (p place) element() place {
	if p == inMap || p == inOtherMap || p == inEntry {
		return inOther
	}
	return p
}

func (p place) isMap() bool { return p == inMap || p == inOtherMap }

// isProse reports whether a text is meant for people and models to read.
func (p place) isProse(key string) bool {
	return p != inValue && !p.isMap() && (key == "title" || key == "description")
}

// isName reports whether a text is a name that clients request something by.
func (p place) isName(key string) bool { return key == "name" && (p == inEntry || p == inArgument) }

// isAddress reports whether a text is an address.
func (p place) isAddress(key string) bool {
	if p == inValue || p.isMap() || p == inSchema {
		return false
	}
	switch key {
	case "uri", "uriTemplate", "resourceUri", "ui/resourceUri", "src", "url":
		return true
	}
	return false
}

// knownKeys are the keys that clients look up.
var knownKeys = map[place][]string{
	inEntry: {
		"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta", "execution",
		"arguments", "uri", "uriTemplate", "mimeType", "size",
		"toolbox", "server", "toolbox_name", "source_server", // added by the workbench
	},
	inAnnotations: {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "audience", "priority", "lastModified"},
	inArgument:    {"name", "title", "description", "required"},
	inSchema: {
		"$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "$defs", "definitions", "title", "description", "type", "enum", "const",
		"default", "examples", "format", "deprecated", "readOnly", "writeOnly", "properties", "patternProperties", "additionalProperties",
		"unevaluatedProperties", "propertyNames", "required", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties",
		"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems",
		"minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType", "contentSchema",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
	},
}

var hasKey = func() map[place]map[string]bool {
	sets := make(map[place]map[string]bool)
	for in, keys := range knownKeys {
		sets[in] = make(map[string]bool)
		for _, key := range keys {
			sets[in][key] = true
		}
	}
	return sets
}()

// isTwin reports whether a key differs from a known one only in case: some programs treat it as that one.
func (p place) isTwin(key []byte) bool {
	if hasKey[p][string(key)] {
		return false
	}
	for _, other := range knownKeys[p] {
		// Case folding changes the length of few letters, by at most two bytes each.
		if len(key) >= len(other) && len(key) <= 3*len(other) && strings.EqualFold(string(key), other) {
			return true
		}
	}
	return false
}
