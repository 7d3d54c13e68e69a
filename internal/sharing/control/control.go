// Package control lets commands inspect and control the running workbenches of a user: HTTP with
// JSON over a socket of each in the user's runtime folder.
package control

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

// Shared is the Serving of a workbench that clients share.
const Shared = "shared"

// Workbench is the state of a running workbench and its servers.
type Workbench struct {
	PID     int               `json:"pid"`
	Version string            `json:"version"`
	Serving string            `json:"serving"`           // whom: "stdio", "http", Shared
	Config  string            `json:"config"`            // path of the file; "" for the built-in default
	Project string            `json:"project,omitempty"` // path of the project's file on top of it, if any
	Folder  string            `json:"folder"`            // it works in; "" for one that is shared, which belongs to no folder
	Notice  string            `json:"notice,omitempty"`  // why files are not used
	Audit   string            `json:"audit,omitempty"`   // folder of its audit log, if it has one
	Started time.Time         `json:"started"`
	Loaded  time.Time         `json:"loaded,omitzero"`   // when the configuration in use was read
	Problem string            `json:"problem,omitempty"` // why the files as they are now are not in use
	Clients []ConnectedClient `json:"clients"`
	Memory  int64             `json:"memoryBytes,omitempty"` // of the program itself; 0 if unknown
	// Allocations counts all allocations since the start, for benchmarks.
	Allocations uint64   `json:"allocations"`
	Servers     []Server `json:"servers"`
	// Activity lists the servers that received requests, each once, whatever the number of its copies.
	Activity     []meter.Server `json:"activity"`
	ActivityTime float64        `json:"activitySeconds"`         // the period that it covers
	Waiting      int            `json:"waiting"`                 // calls that wait for approval; see Question
	WaitingPage  int            `json:"waitingAtPage,omitempty"` // those of Waiting that no terminal can answer
	Asked        int            `json:"asked,omitempty"`         // questions of servers that wait at the page
}

// Server is the state of one session with a server.
type Server struct {
	Key       string    `json:"key"` // TOOLBOX/SERVER, for further copies with #2, #3, …
	Toolbox   string    `json:"toolbox"`
	Name      string    `json:"server"`
	State     string    `json:"state"`
	PID       int       `json:"pid,omitempty"`
	Memory    int64     `json:"memoryBytes,omitempty"` // of all its processes; 0 if unknown
	CPU       float64   `json:"cpuPercent,omitempty"`  // of one processor, of all its processes, since the last look at them; unknown if the memory is
	CPUTime   float64   `json:"cpuSeconds,omitempty"`  // likewise, since its start, with processes that have ended and were waited for
	Uptime    float64   `json:"uptimeSeconds,omitempty"`
	Remote    bool      `json:"remote,omitempty"` // it has no process here, and no stderr
	Requests  int       `json:"requests"`         // of any kind; the calls are in Activity
	Starts    int       `json:"starts"`
	Restarts  int       `json:"restarts"`
	Failures  int       `json:"failures,omitempty"` // in a row
	Tools     int       `json:"tools"`
	Revision  string    `json:"revision,omitempty"`
	LastError string    `json:"lastError,omitempty"`
	Since     time.Time `json:"failingSince,omitzero"`
	NextTry   float64   `json:"nextTrySeconds,omitempty"`
	Clients   int       `json:"clients"`      // connected to it
	Why       Why       `json:"why,omitzero"` // why it is a separate copy
}

// ConnectedClient is a client of a workbench.
type ConnectedClient struct {
	ID      string `json:"id"`   // of this connection, in this workbench
	Name    string `json:"name"` // as it calls itself; may be empty
	Version string `json:"version,omitempty"`
	Folder  string `json:"folder,omitempty"` // it works in; "" if that is not known
	Token   string `json:"token,omitempty"`  // the name of its token, over HTTP
	// Person is who signed in at the identity provider, over HTTP: the subject. PersonName is how the provider calls the person.
	Person     string `json:"person,omitempty"`
	PersonName string `json:"personName,omitempty"`
	// Certificate is the name in the client's certificate, over HTTPS.
	Certificate string    `json:"certificate,omitempty"`
	Since       time.Time `json:"since"`
	Era         string    `json:"era,omitempty"` // "modern": of the protocol that it speaks
	Opened      []string  `json:"opened"`        // toolboxes that it opened
}

// Who returns whose client it is, over HTTP, for people to read: by which kind of identity, and its name; "" if that is not known.
func (c ConnectedClient) Who() (kind, name string) {
	switch {
	case c.Person != "" && c.PersonName != "" && c.PersonName != c.Person:
		return "person", c.PersonName + " (" + c.Person + ")" // the name alone may be anybody's
	case c.Person != "":
		return "person", c.Person
	case c.Certificate != "":
		return "certificate", c.Certificate
	case c.Token != "":
		return "token", c.Token
	}
	return "", ""
}

// Why lists what the clients of a server have in common, the reason why others get another copy.
type Why struct {
	Folder       string   `json:"folder,omitempty"`       // their working folder, and the server's
	Roots        []string `json:"roots,omitzero"`         // their roots, requested by the server
	Capabilities []string `json:"capabilities,omitempty"` // declared by them
	Environment  []string `json:"environment,omitempty"`  // variables whose values differ for them
	Command      string   `json:"command,omitempty"`      // the file that the server's command resolves to
	Era          string   `json:"era,omitempty"`          // "modern": of the protocol that they speak
	Behind       int      `json:"behind,omitempty"`       // number of workbenches that their requests pass through
	Client       string   `json:"client,omitempty"`       // "one": nobody else may answer what the server asks
	Person       string   `json:"person,omitempty"`       // the name of the person whose instance it is
}

// Ref returns the server's name with its toolbox.
func (s Server) Ref() string { return s.Toolbox + "/" + s.Name }

// Line is one line that a server wrote to stderr, without secrets.
type Line struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Subject is the workbench that a socket controls.
type Subject interface {
	Trier
	Inspect() Workbench
	// Journal returns the lines of a server, or with two empty names those of the workbench itself, from a number on, the number of the next line, and a channel that is closed
	// once that line exists.
	Journal(toolbox, server string, number uint64) (lines []Line, next uint64, more <-chan struct{}, err error)
	// Restart stops a server and starts it again.
	Restart(ctx context.Context, toolbox, server string) error
	// Questions returns what waits for a person, the oldest first.
	Questions() []Question
	// WatchQuestions is for a person who will answer by a way that a policy can name ("terminal" or "page"), or for who just
	// looks (""): changes gets a value when the questions may have changed. The caller calls end.
	WatchQuestions(via string) (changes <-chan struct{}, end func())
	// Answer answers a question about a call, by a way that a policy can name.
	Answer(id string, answer approval.Answer, via string) error
	// AnswerElicitation answers a question of a server with a result of elicitation/create, from the page.
	AnswerElicitation(id string, result json.RawMessage) error
	// Metrics answers with the metrics, in a format of Prometheus.
	Metrics() http.Handler
	// ReviewHints has hints count that a person accepted.
	ReviewHints()
	// History returns the calls after a number, the oldest first, and the number of the last of them. Without any, more is
	// closed with the next call. The first call says how many were forgotten before it.
	History(after uint64) (calls []history.Record, next uint64, more <-chan struct{})
	// PageActed records what a person did on the page.
	PageActed(PageAction)
	// Watch sends what changes in the workbench, everything first, until ctx ends or an event cannot be sent. It may be slow to
	// send, and then learns of fewer changes. An event is not used after send has returned.
	Watch(ctx context.Context, send func(*Event) error) error
	// Running returns the requests of clients to servers that are in flight.
	Running() RunningCalls
	// Changes returns the changed definitions that wait to be accepted.
	Changes(filter ChangeFilter) Changes
	// Accept accepts the change of a tool, or of instructions for "", if what is offered has this hash.
	Accept(toolbox, server, tool, hash string) error
	// Logins returns the logins of the remote servers, in the order of the configuration.
	Logins() []Login
	// Record begins to record a server for a time.
	Record(toolbox, server string, span time.Duration) (recording.Info, error)
	// Recordings returns the recordings of servers.
	Recordings() *recording.Book
	// Server returns what is known of one session with a server; see Server.Key.
	Server(key string) (ServerDetail, error)
	// Cancel cancels one of them. Its client gets an answer that says so.
	Cancel(id string) error
	// End starts to end the program.
	End()
}

// The paths of the requests, and the names of their parameters.
const (
	statusPath  = "/v1/status"
	logsPath    = "/v1/logs"
	restartPath = "/v1/restart"
	hintsPath   = "/v1/hints"
	stopPath    = "/v1/stop"
	metricsPath = "/v1/metrics"

	historyPath   = "/v1/history"
	questionsPath = "/v1/questions"
	answerPath    = "/v1/answer"
	watchPath     = "/v1/watch"
	runningPath   = "/v1/running"
	cancelPath    = "/v1/cancel"
	serverPath    = "/v1/server"
	keyParameter  = "key"

	changesPath = "/v1/changes"
	acceptPath  = "/v1/accept"
	loginsPath  = "/v1/logins"

	toolboxParameter = "toolbox"
	serverParameter  = "server"
	linesParameter   = "lines"
	followParameter  = "follow"
	idParameter      = "id"
	answerParameter  = "answer"
	viaParameter     = "via"
	afterParameter   = "after"
	hashParameter    = "hash"
)

// prefix is the prefix of the names of control sockets; the process id follows.
const prefix = "control-"
