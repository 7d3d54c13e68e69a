//go:build unix

package script

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pick returns the bytes at a path of the last message: result.tools[0].title, or by the
// text of a member, result.tools[name=read].title. With @ as its start the path is one of
// the JSON that the first text block holds: @.tools[0].name.
func (s *state) pick(path string) ([]byte, error) {
	rest, inText := strings.CutPrefix(path, "@")
	if !inText {
		return pick(s.last.Raw, path)
	}
	text, err := s.block("0")
	if err != nil {
		return nil, err
	}
	return pick([]byte(text), strings.TrimPrefix(rest, "."))
}

// pick returns the bytes at a path in a value, exactly as they are there.
func pick(value []byte, path string) ([]byte, error) {
	for at := path; at != ""; {
		if index, rest, ok := strings.Cut(strings.TrimPrefix(at, "["), "]"); ok && at[0] == '[' {
			var elements []json.RawMessage
			if err := json.Unmarshal(value, &elements); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			element, ok := choose(elements, index)
			if !ok {
				return nil, fmt.Errorf("%s: there is no element %s; there are %d", path, index, len(elements))
			}
			value, at = element, strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(at, ".[")
		if end < 0 {
			end = len(at)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		member, ok := members[at[:end]]
		if !ok {
			return nil, fmt.Errorf("%s: there is no '%s'", path, at[:end])
		}
		value, at = member, strings.TrimPrefix(at[end:], ".")
	}
	return value, nil
}

// choose returns an element by its number or by PATH=TEXT in it.
func choose(elements []json.RawMessage, index string) (json.RawMessage, bool) {
	inner, want, byText := strings.Cut(index, "=")
	if !byText {
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(elements) {
			return nil, false
		}
		return elements[i], true
	}
	for _, element := range elements {
		var text string
		if raw, err := pick(element, inner); err == nil && json.Unmarshal(raw, &text) == nil && text == want {
			return element, true
		}
	}
	return nil, false
}
