package webclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth is how deep the arrays and objects of a document may be nested.
const maxDepth = 32

// DecodeJSON decodes a document that is one JSON value. Its errors quote nothing of it.
func DecodeJSON(body []byte, into any) error {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if isDeep(body) {
		return fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	err := json.Unmarshal(body, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("the JSON is a %s, where an object is expected", kindOfValue(wrong.Value))
		}
		return fmt.Errorf("the JSON has a %s in '%s', where another type is expected", kindOfValue(wrong.Value), wrong.Field)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is not valid JSON (at byte %d)", syntax.Offset)
	}
	return err
}

// kindOfValue removes what follows the kind of value: the digits of a number.
func kindOfValue(value string) string {
	kind, _, _ := bytes.Cut([]byte(value), []byte(" "))
	return string(kind)
}

// isDeep reports whether a document is nested too deep. The decoder checks whether it is well-formed.
func isDeep(body []byte) bool {
	depth := 0
	quoted := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
