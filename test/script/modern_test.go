//go:build unix

package script

import (
	"fmt"
	"strings"
)

// This file is the client of the modern era, which says with each request what it needs.

const modernRevision = "2026-07-28"

// modernMeta is the text of the members that the _meta of each request has.
func modernMeta(capabilities string) string {
	if capabilities == "" {
		capabilities = "{}"
	}
	return fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"script","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":%s`, modernRevision, capabilities)
}

// withMeta puts into params what a modern client says, before what the script does.
func (s *state) withMeta(params string) string {
	if s.meta == "" {
		return params
	}
	const key = `"_meta":{`
	switch before, after, found := strings.Cut(params, key); {
	case found:
		return before + key + s.meta + "," + after
	case params == "" || params == "{}":
		return "{" + key + s.meta + "}}"
	default:
		return "{" + key + s.meta + "}," + strings.TrimPrefix(params, "{")
	}
}

// retry sends the last request again, with answers to the questions of the last message:
// [ANSWERS [STATE]].
func (s *state) retry(args []string) error {
	state := second(args, 1)
	if state == "" {
		raw, err := s.pick("result.requestState")
		if err != nil {
			return fmt.Errorf("the last message has no state: %w", err)
		}
		state = string(raw)
	}
	extra := `,"requestState":` + state
	if answers := second(args, 0); answers != "" {
		extra += `,"inputResponses":` + answers
	}
	again := s.asked
	request, err := s.begin(again.method, strings.TrimSuffix(again.params, "}")+extra+"}")
	s.asked = again
	if err != nil {
		return err
	}
	return s.await(request)
}

// beginRequest sends a request and does not wait: LABEL METHOD [PARAMS].
func (s *state) beginRequest(args []string) error {
	request, err := s.begin(args[1], second(args, 2))
	s.begun[args[0]] = request
	return err
}

// asked is a request as the script has it.
type asked struct{ method, params string }
