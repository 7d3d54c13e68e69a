// Package mcptest has fake MCP servers that behave or misbehave as told, and a scripted
// client, for tests.
//
// Nothing in it uses the product's own code for messages, so that a mistake there cannot
// hide: it is encoding/json and lines.
package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

// Server is a fake MCP server. The zero value accepts every protocol revision and has no
// tools. A tool without an entry in Calls answers with a text of its name and the
// arguments exactly as they came.
//
// Everything of type json.RawMessage is sent byte for byte as it was given.
type Server struct {
	// Versions are the protocol revisions it knows; a client that asks for another gets
	// the first, or an error that lists them if Refuse is set. None: every one is known.
	Versions []string `json:"versions"`
	Refuse   bool     `json:"refuse"`
	// Answer is the revision it answers with, whatever it was asked for.
	Answer string `json:"answer"`

	// Era is "" for a server that begins with initialize, "modern" for one that speaks
	// just revision 2026-07-28, and "both". A probe for it (server/discover) is answered
	// and not logged where neither Era nor On says anything of it: what a server saw
	// is about what was asked of it then.
	Era string `json:"era"`
	// Unlisted makes a server of both eras name the modern revision only, as the SDKs do.
	Unlisted bool `json:"unlisted"`
	// Settles makes it refuse what is not of the era of its first request, as the Python SDK
	// does over stdio.
	Settles bool `json:"settles"`

	Capabilities json.RawMessage `json:"capabilities"` // default {"tools":{"listChanged":true}}
	Instructions string          `json:"instructions"`

	Tools []json.RawMessage   `json:"tools"` // one page of definitions
	Pages [][]json.RawMessage `json:"pages"` // or several
	// ToolsFor are further tools for clients that declare a capability, in the legacy era.
	ToolsFor map[string][]json.RawMessage `json:"toolsFor"`

	// Start is done before anything is read.
	Start []Step `json:"start"`
	// On is done when a message with that method comes, before the usual answer, or
	// instead of it if a step answers.
	On map[string][]Step `json:"on"`
	// Calls is done when the tool of that name is called.
	Calls map[string][]Step `json:"calls"`

	// Reply is how a server over HTTP answers: "json", "sse", or "" for JSON unless there
	// is something to say before the response. With "json" that goes to the GET stream.
	Reply string `json:"reply"`
	// NoStream makes it refuse the GET stream, and NoSession give out no session ids.
	NoStream  bool `json:"noStream"`
	NoSession bool `json:"noSession"`

	LineEnd   string `json:"lineEnd"`   // default "\n"
	IgnoreEOF bool   `json:"ignoreEOF"` // lives on when its input ends
	// IgnoreSIGTERM makes the process live on, and Env names variables that it logs; both
	// are for Main.
	IgnoreSIGTERM bool     `json:"ignoreSIGTERM"`
	Env           []string `json:"env"`

	// Log gets a line for each event: "start PID", "recv " and the raw line, "spawn PID"
	// for a process that it started, "signal NAME", "eof", "exit CODE". Over HTTP also
	// "session N", "session N ended", "gone ID" for a modern request whose connection was
	// closed, and "refused STATUS REASON" for what the specification does not allow a
	// client. May be nil.
	Log io.Writer `json:"-"`
	// EndWhenUnused makes a server over HTTP end with its last session, as one over stdio
	// does and a service that is started on demand may; see IgnoreEOF. "eof" is logged then.
	EndWhenUnused bool `json:"-"`
	// Gate stands before all that a server over HTTP does, such as a check of tokens; nil: nothing does.
	Gate func(http.Handler) http.Handler `json:"-"`
	// Number says which start of the server this is, from 1; Step.Starts depends on it.
	Number int `json:"-"`
}

// Step is one thing that a server does. The fields that are set are done in the order
// below; a clear script sets one.
type Step struct {
	// Starts limits the step to the first starts of the server; 0: all.
	Starts int `json:"starts"`
	// State limits the step to requests with that requestState; "" is one without.
	State *string `json:"state"`

	// Wait blocks until something happened: "cancelled" (the call that this step belongs
	// to), "call NAME" (a call of that tool came), "calls N" (so many calls came in all),
	// "file PATH" (it exists), "eof", or "forever".
	Wait string `json:"wait"`

	Stderr string `json:"stderr"` // a line for stderr

	// Send is a line to write: the text of a JSON string, or any other JSON as it is.
	// ${id} and ${token} stand for the request's id and progress token, also with quotes
	// around them.
	Send json.RawMessage `json:"send"`
	// Progress holds the params of a progress notification without the token.
	Progress json.RawMessage `json:"progress"`
	// Ask is the method of a request to the client, whose answer is waited for.
	Ask string `json:"ask"`
	// With holds the params of that request.
	With json.RawMessage `json:"with"`
	// Change is a new list of tools; tools/list_changed is sent, by a modern server to
	// the one who subscribed to it.
	Change []json.RawMessage `json:"change"`

	// Updated is the URI of a resource whose update is told, by a modern server to those who
	// subscribed to it.
	Updated string `json:"updated"`

	// Task holds the params of a notification about a task, with its taskId, that a modern
	// server sends to those who subscribed to it.
	Task json.RawMessage `json:"task"`

	// Spawn starts a process that sleeps: in the server's "group", or in a "session" of
	// its own. It ignores SIGTERM.
	Spawn string `json:"spawn"`

	// Grow has the server take so many MiB of memory, and keep them.
	Grow int `json:"grow"`

	CloseStdout bool `json:"closeStdout"` // over HTTP: the connection of the request
	// Forget ends all sessions, as a server over HTTP may at any time.
	Forget bool `json:"forget"`

	Result   json.RawMessage `json:"result"`   // answers the request
	Error    json.RawMessage `json:"error"`    // answers it with an error
	Answered bool            `json:"answered"` // there is no answer, or Send was it
	Exit     *int            `json:"exit"`     // ends the server with that code
}

// Load reads a server from a JSON file with the names of the fields in small letters.
func Load(path string) (*Server, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	server, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return server, nil
}

// Parse reads a server from JSON. Values that are sent as they are must be on one line
// each, since a message is a line.
func Parse(data []byte) (*Server, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var server Server
	if err := decoder.Decode(&server); err != nil {
		return nil, err
	}
	if len(server.Pages) == 0 {
		server.Pages = [][]json.RawMessage{server.Tools}
	}
	return &server, server.checkLines()
}

func (s *Server) checkLines() error {
	raw := []json.RawMessage{s.Capabilities}
	for _, page := range s.Pages {
		raw = append(raw, page...)
	}
	addSteps := func(steps []Step) {
		for _, step := range steps {
			raw = append(raw, step.Send, step.With, step.Progress, step.Task, step.Result, step.Error)
			raw = append(raw, step.Change...)
		}
	}
	addSteps(s.Start)
	for _, steps := range s.On {
		addSteps(steps)
	}
	for _, steps := range s.Calls {
		addSteps(steps)
	}
	for _, value := range raw {
		if bytes.ContainsRune(value, '\n') {
			return fmt.Errorf("must be on one line, since it is sent as it is: %s", value)
		}
	}
	return nil
}

// Exit is the error of a Serve that a step ended.
type Exit struct{ Code int }

func (e *Exit) Error() string { return fmt.Sprintf("exit %d", e.Code) }
