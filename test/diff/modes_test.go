package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// This file runs the same session in the modes in which a toolbox is opened first. Calls are
// written as these modes need them; all else is the same.

// opened are the modes besides direct, and how a call is written in each.
var opened = []struct {
	mode   string
	unlike map[string]string // as below, for this mode only
	call   func(tool, arguments string) (name, wrapped string)
}{
	{"proxy", byStep(map[string][]string{"the list of tools is always the same": {"tools changed"}}), func(tool, arguments string) (name, wrapped string) {
		return "use_tool", fmt.Sprintf(`{"tool":{"toolbox":%q,"server":"fake","name":%q},"arguments":%s}`, toolboxName, tool, arguments)
	}},
	{"dynamic", nil, func(tool, arguments string) (name, wrapped string) {
		return toolboxName + "__fake__" + tool, arguments
	}},
}

// openStep is made after the session has begun, and is no part of the comparison.
const openStep = "open the toolbox"

// unlike are the steps that are not the same in these modes, by the contract.
var unlike = byStep(map[string][]string{
	"capabilities are those of all servers that could be opened, not of one": {"initialize"},
	"the list holds the tools of the workbench":                              {"list tools", "list tools after a change"},
	"errors of calls are results with words, unless the client must act":     {"an error with data", "an error of the server's own", "a tool that is not listed"},
})

// inMode rewrites the steps for a mode.
func inMode(t *testing.T, steps []step, write func(tool, arguments string) (name, wrapped string)) []step {
	t.Helper()
	var written []step
	for _, s := range steps {
		if s.method == "tools/call" {
			s.params = rewritten(t, s.params, write)
		}
		written = append(written, s)
		if s.name == "initialized" {
			written = append(written, step{name: openStep, method: "tools/call", params: `{"name":"open_toolbox","arguments":{"toolbox":"` + toolboxName + `"}}`})
		}
	}
	return written
}

func rewritten(t *testing.T, params string, write func(tool, arguments string) (name, wrapped string)) string {
	t.Helper()
	var members map[string]json.RawMessage
	var tool string
	if err := json.Unmarshal([]byte(params), &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members["name"], &tool); err != nil {
		t.Fatal(err)
	}
	arguments := "{}"
	if given, ok := members["arguments"]; ok {
		arguments = string(given)
	}
	name, wrapped := write(tool, arguments)
	members["name"], members["arguments"] = json.RawMessage(fmt.Sprintf("%q", name)), json.RawMessage(wrapped)
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		parts = append(parts, fmt.Sprintf("%q:%s", key, members[key]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestASessionIsTheSameInEveryMode(t *testing.T) {
	for _, m := range opened {
		apart := with(unlike, m.unlike)
		steps := inMode(t, script(newest), m.call)
		for i := range steps {
			if apart[steps[i].name] != "" {
				steps[i].notes = 0 // they may not come
			}
		}
		// The server alone gets the step of opening as well, so that ids are the same, and
		// the calls as they were.
		plain := inMode(t, script(newest), func(tool, arguments string) (string, string) { return tool, arguments })
		want := session(t, directFake(t, legacyEra), oddIDs, plain, func(step) time.Duration { return patience })
		for _, r := range []route{
			{"stdio above, stdio below", pending, func(t *testing.T) link { return dialStdio(t, workbenchInMode(t, m.mode, localFake(legacyEra))) }},
			{"stdio above, HTTP below", pendingOverHTTP, func(t *testing.T) link {
				return dialStdio(t, workbenchInMode(t, m.mode, map[string]any{"url": serveHTTP(t, legacyEra)}))
			}},
		} {
			t.Run(m.mode+", "+r.name, func(t *testing.T) {
				t.Parallel()
				got := session(t, r.dial(t), oddIDs, steps, shorter(r.pending))
				if text := got[openStep].describe(); !strings.Contains(text, `\"servers_connected\":1`) {
					t.Fatalf("the toolbox did not open: %s", text)
				}
				compared := slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return s.name == openStep || apart[s.name] != "" })
				compare(t, compared, want, got, r.pending)
			})
		}
	}
}
