package control

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
)

// Event is one line of a watch: what has changed in a workbench. Only the members are set that have changed; the first
// event, and the first after a reload, has State.
type Event struct {
	State *Workbench `json:"state,omitempty"` // everything, except for the lists below, which follow
	// Servers are those that are new or whose state changed. Memory, uptime, requests and the time to the next try grow without
	// that, and are as they were then.
	Servers    []Server           `json:"servers,omitempty"`
	Removed    []string           `json:"removed,omitempty"`    // keys of servers that are gone
	Counters   *Counters          `json:"counters,omitempty"`   // once a second, if any changed
	Calls      *CallBatch         `json:"calls,omitempty"`      // that ended
	Running    *RunningCalls      `json:"running,omitempty"`    // all that run now
	Questions  *[]Question        `json:"questions,omitempty"`  // all that wait now
	Clients    *[]ConnectedClient `json:"clients,omitempty"`    // all that are connected now
	Changes    *int               `json:"changes,omitempty"`    // how many changed definitions wait to be accepted
	Recordings *[]RecordingInfo   `json:"recordings,omitempty"` // that run now
}

// IsEmpty reports whether nothing has changed: the event only shows that the workbench is there.
func (e *Event) IsEmpty() bool {
	return e.State == nil && e.Servers == nil && e.Removed == nil && e.Counters == nil && e.Calls == nil && e.Running == nil &&
		e.Questions == nil && e.Clients == nil && e.Changes == nil && e.Recordings == nil
}

// Counters are what is counted of a workbench, and of those of its servers for which something changed.
type Counters struct {
	At      time.Time        `json:"at"`
	Memory  int64            `json:"memoryBytes"` // of the workbench itself
	Servers []ServerCounters `json:"servers"`
}

// ServerCounters are what is counted of one server. The counts of copies of a server are with the first of them.
type ServerCounters struct {
	Key    string  `json:"key"` // see Server
	Memory int64   `json:"memoryBytes"`
	CPU    float64 `json:"cpuPercent,omitempty"`
	meter.Counts
}

// CallBatch is calls that ended, the oldest first.
type CallBatch struct {
	Calls   []history.Record `json:"calls"`
	Skipped uint64           `json:"skipped,omitempty"` // calls before these that are left out, because there were too many
}

// RunningCalls are the requests of clients that are in flight, the oldest first.
type RunningCalls struct {
	Calls []RunningCall `json:"calls"`
	More  int           `json:"more,omitempty"` // that are left out
}

// RunningCall is a request of a client to a server that is in flight.
type RunningCall struct {
	ID      string    `json:"id"` // to cancel it
	Since   time.Time `json:"since"`
	Client  string    `json:"client,omitempty"` // the name that the client gave itself
	Caller  string    `json:"caller,omitempty"` // as a rule of the policy names it
	Toolbox string    `json:"toolbox"`
	Server  string    `json:"server"`
	Method  string    `json:"method"`
	Tool    string    `json:"tool,omitempty"`  // of tools/call
	Phase   string    `json:"phase,omitempty"` // "start", "server" or "person": what it waits for
}

// ServerDetail is what is known of one session with a server beyond its state.
type ServerDetail struct {
	Server
	Software  string    `json:"software,omitempty"` // its own name and version
	Steps     []Step    `json:"steps"`              // of the current or the last start
	Processes []Process `json:"processes"`          // its process tree, parents first
	Command   string    `json:"command,omitempty"`  // of its process, without arguments, or the address without what may be secret
	Config    string    `json:"config,omitempty"`   // the file that has it
}

// Step is one step of the start of a server.
type Step struct {
	Name   string  `json:"name"`
	State  string  `json:"state"` // "done", "failed", "running"
	Detail string  `json:"detail,omitempty"`
	Took   float64 `json:"tookSeconds"`
}

// Process is one process of a server. Its arguments may be secret and are not shown.
type Process struct {
	PID    int    `json:"pid"`
	Parent int    `json:"parent"`
	Name   string `json:"name"`
	Memory int64  `json:"memoryBytes"`
}
