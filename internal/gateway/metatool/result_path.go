package metatool

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// maxPathSteps limits the length of a path.
const maxPathSteps = 64

// valueAt returns the part of a result that a path leads to, such as content[0].text or
// structuredContent.items[3].name. A string that holds JSON is stepped into.
func valueAt(value wire.Payload, path string) (wire.Payload, error) {
	steps, err := parsePath(path)
	if err != nil {
		return value, err
	}
	way := ""
	for _, step := range steps {
		next, err := step.from(inside(value), way)
		if err != nil {
			return value, err
		}
		value, way = next, way+step.String()
	}
	return value, nil
}

// inside returns the JSON in a string, or the value itself.
func inside(value wire.Payload) wire.Payload {
	text, ok := value.Text()
	if !ok {
		return value
	}
	if held, err := wire.ParseValue([]byte(text)); err == nil && (held.Kind() == "object" || held.Kind() == "array") {
		return held
	}
	return value
}

// pathStep is the name of a member, or the index of an element.
type pathStep struct {
	name  string
	index int // -1 for a member
}

func (s pathStep) String() string {
	if s.index >= 0 {
		return fmt.Sprintf("[%d]", s.index)
	}
	return "." + s.name
}

// from resolves the step; way is the path of the value.
func (s pathStep) from(value wire.Payload, way string) (wire.Payload, error) {
	where := strings.TrimPrefix(way, ".")
	if where == "" {
		where = "the result"
	}
	if s.index < 0 {
		if value.Kind() != "object" {
			return value, fmt.Errorf("%s is not an object but %s, and has no member '%s'", where, value.Kind(), s.name)
		}
		if found := value.Member(s.name); !found.IsAbsent() {
			return found, nil
		}
		return value, fmt.Errorf("%s has no member '%s'; it has %s", where, s.name, memberNames(value))
	}
	if value.Kind() != "array" {
		return value, fmt.Errorf("%s is no array but %s, and has no element %d", where, value.Kind(), s.index)
	}
	count := 0
	for element := range value.Elements() {
		if count == s.index {
			return element, nil
		}
		count++
	}
	return value, fmt.Errorf("%s has no element %d; it has %d", where, s.index, count)
}

// memberNames lists the members of an object, with limits on their number and length.
func memberNames(object wire.Payload) string {
	var names []string
	for key := range object.Members() {
		if len(names) == shapeParts {
			names = append(names, ellipsis)
			break
		}
		names = append(names, cutText(string(key), shapeKey))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// parsePath reads a path: names after dots, or in brackets and quotes, and indexes in brackets. A leading $ is the
// result.
func parsePath(path string) (steps []pathStep, err error) {
	rest := strings.TrimPrefix(path, "$")
	for rest != "" {
		var step pathStep
		switch {
		case len(steps) == maxPathSteps:
			return nil, fmt.Errorf("a path has at most %d steps", maxPathSteps)
		case rest[0] == '[':
			step, rest, err = parseBracket(rest)
		default:
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step = pathStep{rest[:end], -1}
			rest = rest[end:]
			if step.name == "" {
				err = fmt.Errorf("a name is missing in the path '%s'", cutText(path, maxQuoted))
			}
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// parseBracket reads [3] or ["a name"], and returns the rest of the path.
func parseBracket(path string) (step pathStep, rest string, err error) {
	if quoted, prefixErr := strconv.QuotedPrefix(path[1:]); prefixErr == nil {
		name, unquoteErr := strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(path[1+len(quoted):], "]")
		if unquoteErr == nil && closed {
			return pathStep{name, -1}, rest, nil
		}
	}
	inner, rest, closed := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(inner)
	if !closed || err != nil || index < 0 {
		return step, "", fmt.Errorf(`'%s' in the path is neither an index such as [3] nor a name such as ["a b"]`, cutText(path, maxQuoted))
	}
	return pathStep{index: index}, rest, nil
}
