package history

import (
	"math"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

// Record is one call, or another request to a server. Names of tools, prompts and arguments are those that the client
// sent; secrets of the configuration are masked in them.
type Record struct {
	PID       int       `json:"pid"`              // of the workbench
	Seq       uint64    `json:"seq"`              // in this workbench, from 1
	Lost      uint64    `json:"lost,omitempty"`   // calls before this one that were forgotten before they could be read or written
	Time      time.Time `json:"time"`             // when it began
	Client    string    `json:"client,omitempty"` // the name that the client gave itself
	Caller    string    `json:"caller,omitempty"` // as a rule of the policy names it
	Toolbox   string    `json:"toolbox"`
	Server    string    `json:"server"`
	Method    string    `json:"method"`           // "" for one that MCP does not have
	Tool      string    `json:"tool,omitempty"`   // of tools/call
	Prompt    string    `json:"prompt,omitempty"` // of prompts/get
	Outcome   string    `json:"outcome"`          // see call.Status
	ErrorType string    `json:"error_type,omitempty"`
	// Took is the sum of the four parts: in the workbench itself, for the start of the server, at the server, and for a
	// person, who had to approve the call, log in or answer questions.
	Took          float64 `json:"took_seconds"`
	InWorkbench   float64 `json:"workbench_seconds"`
	InStart       float64 `json:"start_seconds"`
	AtServer      float64 `json:"server_seconds"`
	Waited        float64 `json:"waited_seconds"`
	RequestBytes  int     `json:"request_bytes"`       // of the arguments
	ResponseBytes int     `json:"response_bytes"`      // of the result or the error
	Arguments     string  `json:"arguments,omitempty"` // their shape
	// Memory and CPU are those of all processes of the server, as they were seen last, up to ten seconds before the end of the
	// call. They are 0 if that is not known.
	Memory int64   `json:"memory_bytes,omitempty"`
	CPU    float64 `json:"cpu_percent,omitempty"` // of one processor, since the look before
	// MemoryLimit is the limit, in bytes, because of which the server was stopped, or not started: then Memory is what it is
	// about.
	MemoryLimit int64  `json:"memory_limit_bytes,omitempty"`
	LimitKey    string `json:"memory_limit_key,omitempty"` // of the configuration, which has the limit
}

func (h *History) record(e *entry, number uint64) Record {
	r := Record{
		PID: h.pid, Seq: number, Time: e.began, Client: tty.CleanLine(h.mask(e.client)), Caller: h.mask(e.caller), Toolbox: e.toolbox, Server: e.serverName,
		Method: e.method, Outcome: e.status.String(), ErrorType: e.errorType,
		Took: e.took.Seconds(), InStart: e.start.Seconds(), AtServer: e.server.Seconds(), Waited: e.waited.Seconds(),
		InWorkbench:  (e.took - e.start - e.server - e.waited).Seconds(),
		RequestBytes: e.requestSize, ResponseBytes: e.responseSize, Arguments: h.mask(e.shape),
	}
	if e.usage != nil {
		r.Memory, r.CPU = e.usage.Memory, math.Round(e.usage.CPU*1000)/10
	}
	if e.over != nil {
		r.Memory, r.MemoryLimit, r.LimitKey = e.over.Used, e.over.Limit, e.over.Key
	}
	switch e.method {
	case protocol.MethodToolsCall:
		r.Tool = h.mask(e.name)
	case protocol.MethodPromptsGet:
		r.Prompt = h.mask(e.name)
	}
	return r
}

// IsError reports whether the call ended with an error. One that the client cancelled did not.
func (r *Record) IsError() bool {
	switch r.Outcome {
	case call.StatusOK.String(), call.StatusCancelled.String(), call.StatusInputRequired.String():
		return false
	}
	return true
}

// Ended returns when the call ended.
func (r *Record) Ended() time.Time { return r.Time.Add(time.Duration(r.Took * float64(time.Second))) }
