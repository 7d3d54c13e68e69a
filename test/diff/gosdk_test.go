package diff

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// goSDKServer builds the server of go-sdk's own conformance tests, which speaks both eras.
func goSDKServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything-server")
	build := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// goSDKSteps are made in both eras; each step of the modern era that asks is of that era only, since this
// server's tools ask in another way in each.
var goSDKSteps = []step{
	{name: "list tools", method: "tools/list", list: "tools"},
	{name: "list resources", method: "resources/list", list: "resources"},
	{name: "list templates", method: "resources/templates/list", list: "resourceTemplates"},
	{name: "list prompts", method: "prompts/list", list: "prompts"},
	call("text", "test_simple_text", `{}`),
	call("image", "test_image_content", `{}`),
	call("audio", "test_audio_content", `{}`),
	call("an embedded resource", "test_embedded_resource", `{}`),
	call("several contents", "test_multiple_content_types", `{}`),
	call("an error", "test_error_handling", `{}`),
	call("a tool that is not there", "none", `{}`),
	{name: "progress", method: "tools/call", params: `{"name":"test_tool_with_progress","arguments":{},"_meta":{"progressToken":"p"}}`},
	{name: "read text", method: "resources/read", params: `{"uri":"test://static-text"}`},
	{name: "read a blob", method: "resources/read", params: `{"uri":"test://static-binary"}`},
	{name: "read by a template", method: "resources/read", params: `{"uri":"test://template/7/data"}`},
	{name: "read what is not there", method: "resources/read", params: `{"uri":"test://none"}`},
	{name: "a prompt", method: "prompts/get", params: `{"name":"test_simple_prompt"}`},
	{name: "a prompt with arguments", method: "prompts/get", params: `{"name":"test_prompt_with_arguments","arguments":{"arg1":"a","arg2":"b"}}`},
	{name: "a prompt with an image", method: "prompts/get", params: `{"name":"test_prompt_with_image"}`},
	{name: "a prompt that is not there", method: "prompts/get", params: `{"name":"none"}`},
	{name: "complete", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":"a"}}`},
	{name: "a method that does not exist", method: "no/such/method", params: `{}`},
}

var goSDKQuestions = map[era][]step{
	legacyEra: {
		call("sampling", "test_sampling", `{"prompt":"p"}`).with(func(s *step) {
			s.replies = []reply{{method: "sampling/createMessage", body: `"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`}}
		}),
		call("elicitation", "test_elicitation", `{"message":"m"}`).with(func(s *step) {
			s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"accept","content":{"username":"a","email":"a@example.com"}}`}}
		}),
	},
	modernEra: {
		call("elicitation", "test_input_required_result_elicitation", `{}`).with(func(s *step) {
			s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"accept","content":{"name":"a"}}`}}
		}),
		call("sampling", "test_input_required_result_sampling", `{}`).with(func(s *step) {
			s.replies = []reply{{method: "sampling/createMessage", body: `"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`}}
		}),
		call("two rounds", "test_input_required_result_multi_round", `{}`).with(func(s *step) {
			s.replies = []reply{{method: "elicitation/create", body: `"result":{"action":"accept","content":{"name":"a","color":"b"}}`}}
		}),
	},
}

// shownToken is the step whose answer shows the progress token, which is each hop's own.
var shownToken = byStep(map[string][]string{"its answer is the progress token as the server got it": {"progress"}})

// A server of both eras that others wrote is, to a client of either, what it is without us.
func TestTheServerOfGoSDKIsTheSameInBothEras(t *testing.T) {
	server := goSDKServer(t)
	for _, client := range []era{legacyEra, modernEra} {
		steps := hello(newest, inBothEras)
		if client == modernEra {
			steps = []step{{name: "initialize", method: "server/discover"}}
		}
		steps = append(append(steps, goSDKSteps...), goSDKQuestions[client]...)
		want := sessionWith(t, client, plainIDs, dialStdio(t, exec.Command(server)), inBothEras, steps)
		for _, w := range []way{ways[0], ways[2]} {
			t.Run(string(client)+" client, "+w.name, func(t *testing.T) {
				t.Parallel()
				got := sessionWith(t, client, plainIDs, w.dialTo(t, client, map[string]any{"command": server}), inBothEras, steps)
				compare(t, steps, want, got, shownToken)
			})
		}
	}
}
