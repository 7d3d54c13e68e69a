package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// arguments returns the params that determine the response to a request: without "_meta", and missing params equal
// empty ones.
func arguments(params wire.Payload) any {
	if params.IsAbsent() {
		return map[string]any{}
	}
	value := decode(params)
	if object, ok := value.(map[string]any); ok {
		delete(object, "_meta")
	}
	return value
}

func decode(value wire.Payload) (decoded any) {
	decoder := json.NewDecoder(bytes.NewReader(value.Bytes()))
	decoder.UseNumber()          // 1 and 1.0 are compared below, without rounding large numbers
	_ = decoder.Decode(&decoded) // it was parsed before
	return decoded
}

// isIndependent reports whether the response to a method is independent of its params, such as the client's description
// of itself.
func isIndependent(method string) bool {
	return method == "initialize" || method == "server/discover" || method == "ping"
}

// difference returns where two values differ, or "". A hidden value in the recording matches anything.
func difference(path string, recorded, asked any) string {
	switch recorded := recorded.(type) {
	case map[string]any:
		asked, ok := asked.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(recorded)) {
			value, ok := asked[key]
			if !ok {
				return fmt.Sprintf("%s is missing", join(path, key))
			}
			if found := difference(join(path, key), recorded[key], value); found != "" {
				return found
			}
		}
		for _, key := range slices.Sorted(maps.Keys(asked)) {
			if _, ok := recorded[key]; !ok {
				return fmt.Sprintf("%s was not in the recording", join(path, key))
			}
		}
		return ""
	case []any:
		asked, ok := asked.([]any)
		if !ok {
			break
		}
		if len(asked) != len(recorded) {
			return fmt.Sprintf("%s has %d elements, not %d as recorded", path, len(asked), len(recorded))
		}
		for i := range recorded {
			if found := difference(fmt.Sprintf("%s[%d]", path, i), recorded[i], asked[i]); found != "" {
				return found
			}
		}
		return ""
	case string:
		if asked, ok := asked.(string); ok && matchesMasked(recorded, asked) {
			return ""
		}
	case json.Number:
		if asked, ok := asked.(json.Number); ok && isSameNumber(recorded, asked) {
			return ""
		}
	default:
		if recorded == asked {
			return ""
		}
	}
	return fmt.Sprintf("%s is %s, not %s as recorded", path, brief(asked), brief(recorded))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func isSameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y && strings.ContainsAny(string(a)+string(b), ".eE")
}

// matchesMasked reports whether a text matches the recorded one, with anything in place of hidden parts.
func matchesMasked(recorded, asked string) bool {
	parts := strings.Split(recorded, secret.Mask)
	if len(parts) == 1 {
		return recorded == asked
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(asked) < len(first)+len(last) || !strings.HasPrefix(asked, first) || !strings.HasSuffix(asked, last) {
		return false
	}
	asked = asked[len(first) : len(asked)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(asked, part)
		if at < 0 {
			return false
		}
		asked = asked[at+len(part):]
	}
	return true
}

// longestShown is the length of a value in a message.
const longestShown = 60

func brief(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "something else"
	}
	if runes := []rune(string(text)); len(runes) > longestShown {
		return string(runes[:longestShown]) + "…"
	}
	return string(text)
}
