package diff

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// everythingModule is the server of npm that the conformance suite's folder installs.
const everythingModule = "../conformance/node_modules/@modelcontextprotocol/server-everything/dist/index.js"

// needEverything returns the command of npm's server. Without it the test is skipped, but on CI,
// where a skipped test would go unnoticed, it fails.
func needEverything(t *testing.T) []string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("Node.js is not installed: %v", err)
	}
	module, err := filepath.Abs(everythingModule)
	if err == nil {
		_, err = os.Stat(module)
	}
	if err != nil {
		missing("the npm server is not there, 'make conformance' installs it: %v", err)
	}
	return []string{node, module, "stdio"}
}

// everythingScript leaves roots out: that server asks for them some time after the start, whatever the
// client does.
func everythingScript() []step {
	return append(hello(newest, `{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`),
		step{name: "ping", method: "ping"},
		step{name: "list tools", method: "tools/list", list: "tools"},
		step{name: "list resources", method: "resources/list", list: "resources"},
		step{name: "list templates", method: "resources/templates/list", list: "resourceTemplates"},
		step{name: "list prompts", method: "prompts/list", list: "prompts"},
		call("echo", "echo", `{"message":"\u00e9 \ud83d\ude00"}`),
		call("sum", "get-sum", `{"a":1.50,"b":2}`),
		call("wrong arguments", "get-sum", `{"a":"x"}`),
		call("image", "get-tiny-image", `{}`),
		call("annotations", "get-annotated-message", `{"messageType":"error","includeImage":true}`),
		call("structured content", "get-structured-content", `{"location":"New York"}`),
		call("resource links", "get-resource-links", `{"count":4}`),
		call("a tool that is not there", "no-such-tool", `{}`),
		step{name: "progress", method: "tools/call", params: `{"name":"trigger-long-running-operation","arguments":{"duration":0.1,"steps":4},"_meta":{"progressToken":"p"}}`},
		call("sampling", "trigger-sampling-request", `{"prompt":"hello","maxTokens":5}`).with(func(s *step) {
			s.replies = []reply{{method: "sampling/createMessage", body: `"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`}}
		}),
		call("elicitation", "trigger-elicitation-request", `{}`).with(func(s *step) {
			s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"accept","content":{"name":"A","check":true}}`}}
		}),
		call("elicitation is declined", "trigger-elicitation-request", `{}`).with(func(s *step) {
			s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"decline"}`}}
		}),
		step{name: "read", method: "resources/read", params: `{"uri":"demo://resource/static/document/features.md"}`},
		step{name: "read what is not there", method: "resources/read", params: `{"uri":"demo://resource/none"}`},
		step{name: "subscribe", method: "resources/subscribe", params: `{"uri":"demo://resource/static/document/features.md"}`, notes: 1},
		step{name: "unsubscribe", method: "resources/unsubscribe", params: `{"uri":"demo://resource/static/document/features.md"}`, notes: 1},
		step{name: "get a prompt", method: "prompts/get", params: `{"name":"simple-prompt"}`},
		step{name: "get a prompt with arguments", method: "prompts/get", params: `{"name":"args-prompt","arguments":{"city":"Paris","state":"X"}}`},
		step{name: "get a prompt that is not there", method: "prompts/get", params: `{"name":"none"}`},
		step{name: "complete", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"S"}}`},
		step{name: "complete with a context", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"name","value":""},"context":{"arguments":{"department":"Sales"}}}`},
		step{name: "complete a template", method: "completion/complete", params: `{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"1"}}`},
		step{name: "set the level", method: "logging/setLevel", params: `{"level":"error"}`},
		step{name: "tasks", method: "tasks/list"},
		step{name: "a method that does not exist", method: "no/such/method"},
		step{name: "ping at the end", method: "ping"},
	)
}

func TestTheServerOfNpmIsTheSameThroughTheWorkbench(t *testing.T) {
	command := needEverything(t)
	steps := everythingScript()
	want := session(t, dialStdio(t, exec.Command(command[0], command[1:]...)), plainIDs, steps, func(step) time.Duration { return patience })
	server := map[string]any{"command": command[0], "args": command[1:]}
	for _, r := range []route{
		{"stdio above", pendingOfNpm, func(t *testing.T) link { return dialStdio(t, workbenchCommand(t, server)) }},
		{"HTTP above", pendingOfNpm, func(t *testing.T) link { return dialWorkbench(t, workbenchCommand(t, server, serve...)) }},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			compare(t, steps, want, session(t, r.dial(t), plainIDs, steps, shorter(r.pending)), r.pending)
		})
	}
}
