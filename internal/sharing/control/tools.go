package control

import (
	"encoding/json"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
)

// ToolPage is a part of the list of all known tools, in the order of the configuration or, with a query, of find_tools.
type ToolPage struct {
	Tools    []ToolRow `json:"tools"`
	Offset   int       `json:"offset"`             // of the first one
	Total    int       `json:"total"`              // of the whole list
	Doubtful bool      `json:"doubtful,omitempty"` // what was found may be about something else
	Unknown  []string  `json:"unknown,omitempty"`  // servers whose tools are not known, as TOOLBOX/SERVER
}

// ToolRow is one tool of a list.
type ToolRow struct {
	Toolbox     string   `json:"toolbox"`
	Server      string   `json:"server"`
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Line        string   `json:"line,omitempty"` // the description, in one line
	Tokens      int      `json:"tokens"`         // of the definition, estimated
	Changed     bool     `json:"changed,omitempty"`
	Withheld    string   `json:"withheld,omitempty"` // why clients do not get it; "" if they do
	ReadOnly    bool     `json:"readOnly,omitempty"` // by its hints, as the policy counts them
	Destructive bool     `json:"destructive,omitempty"`
	Doubted     bool     `json:"doubted,omitempty"` // its hints do not count
	Score       float64  `json:"score,omitempty"`   // the share of the query that the tool answers, roughly from 0 to 1
	Reasons     []Reason `json:"reasons,omitempty"` // why it was found, the strongest first
}

// Reason is why a tool was found.
type Reason struct {
	Word  string  `json:"word"`  // of the query
	Found string  `json:"found"` // the word of the tool
	Field string  `json:"field"` // where the tool has it: "name", "description", …
	How   string  `json:"how"`   // "same word", "same stem", "synonym", "related", "spelling"
	Share float64 `json:"share"` // of the score, from 0 to 1
}

// ToolDetail is one tool with its definition.
type ToolDetail struct {
	ToolRow
	Definition json.RawMessage `json:"definition"` // as clients get it
	Signature  string          `json:"signature"`
	Warnings   []string        `json:"warnings,omitempty"`
	Counts     meter.Counts    `json:"counts"`
}

// CallEvent is one line of the answer to a call that a person tries.
type CallEvent struct {
	Progress json.RawMessage `json:"progress,omitempty"` // params of the notification
	Log      json.RawMessage `json:"log,omitempty"`      // likewise
	Question *CallQuestion   `json:"question,omitempty"`
	// Withdrawn is the id of a question that no longer waits for an answer.
	Withdrawn string          `json:"withdrawn,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"` // the last line has this, or Error
	Error     *CallError      `json:"error,omitempty"`
	Took      float64         `json:"tookSeconds,omitempty"` // of the last line
}

// CallQuestion is a question of the server to the person who tries a tool.
type CallQuestion struct {
	ID     string          `json:"id"`
	Method string          `json:"method"` // elicitation/create
	Params json.RawMessage `json:"params"`
}

// CallError is why a call failed.
type CallError struct {
	Code    int             `json:"code,omitempty"` // of JSON-RPC
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Toolboxes are the toolboxes with what clients see of them, and what it costs of their context, in estimated tokens.
type Toolboxes struct {
	Start      int           `json:"startTokens"`      // of instructions and meta-tools: what each client begins with
	Everything int           `json:"everythingTokens"` // of all known definitions, without the workbench
	Toolboxes  []ToolboxCost `json:"toolboxes"`
	Clients    []ClientCost  `json:"clients"`
}

// ToolboxCost is one toolbox.
type ToolboxCost struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Disabled    bool     `json:"disabled,omitempty"`
	Servers     []string `json:"servers"`
	Unknown     []string `json:"unknown,omitempty"` // servers whose tools are not known
	Tools       int      `json:"tools"`
	Full        int      `json:"fullTokens"`  // of the answer of open_toolbox
	Brief       int      `json:"briefTokens"` // likewise, in brief
}

// ClientCost is what a client was shown.
type ClientCost struct {
	ID     string   `json:"id"` // see ConnectedClient
	Name   string   `json:"name"`
	Opened []string `json:"opened"` // toolboxes
	Tokens int      `json:"tokens"` // of Start, and of what it opened
}
