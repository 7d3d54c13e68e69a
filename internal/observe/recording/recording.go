// Package recording stores a session between an MCP client and a server as readable lines of JSON, without its secrets,
// and replays the server's side.
//
// The first line describes the recording; each further line is a message with its sender and the seconds since the
// start:
//
//	{"recording":1,"by":"mcp-workbench 1.0.0","at":"2026-01-31T12:00:00Z","server":"dev/files"}
//	{"at":0.012,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
//	{"at":0.034,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}
package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Side is the sender of a message.
type Side string

// The sides.
const (
	Client Side = "client"
	Server Side = "server"
)

// Header describes the recording.
type Header struct {
	Format int       `json:"recording"`
	By     string    `json:"by"` // program and version
	At     time.Time `json:"at"`
	Server string    `json:"server"`
	// Toolbox and Until are set for a server of a running workbench: its toolbox, which Server begins with, and when the
	// recording ends at the latest.
	Toolbox string    `json:"toolbox,omitempty"`
	Until   time.Time `json:"until,omitzero"`
}

// line is one recorded message. What is not a message is stored as text; of a message that is too long, only the size is
// stored. The members after that are only in recordings of running servers, and those after Known are lines of their own.
type line struct {
	At       float64         `json:"at"`
	From     Side            `json:"from"`
	Known    bool            `json:"known,omitempty"` // it was exchanged before the recording began
	Message  json.RawMessage `json:"message,omitempty"`
	Text     string          `json:"text,omitempty"`
	Skipped  int64           `json:"skipped,omitempty"`
	Lost     int             `json:"lost,omitempty"`     // messages that are missing here, because there were too many
	Session  int             `json:"session,omitempty"`  // a further session begins: its number, from 2
	Ended    string          `json:"ended,omitempty"`    // why the recording ended
	Messages int             `json:"messages,omitempty"` // that were recorded; with Ended
}

// entry is a message of a recording that was read, or the beginning of a further session.
type entry struct {
	after   time.Duration // since the start
	from    Side
	message wire.Message
	begins  bool // a session: what is open will not be answered
}

// Recording is a recorded session.
type Recording struct {
	Header  Header
	entries []entry
}

// Requests returns the number of the client's requests.
func (r *Recording) Requests() (n int) {
	for _, e := range r.entries {
		if e.from == Client && e.message.IsRequest() {
			n++
		}
	}
	return n
}

// Read reads a recording. It drops an incomplete last line, as after a crash.
func Read(src io.Reader) (*Recording, error) {
	r := &Recording{}
	reader := wire.NewReader(src, maxLine)
	for number := 1; ; number++ {
		frame, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if err = r.addLine(number, frame.Bytes()); err != nil && !frame.IsCut() {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if r.Header.Format == 0 {
		return nil, errors.New("it is empty")
	}
	return r, nil
}

func (r *Recording) addLine(number int, text []byte) error {
	if number == 1 {
		if err := json.Unmarshal(text, &r.Header); err != nil {
			return err
		}
		if err := stored.Recording.Check("The recording", text); err != nil {
			return err
		}
		if r.Header.Format != stored.Recording.Format {
			return fmt.Errorf(`this is no recording of a layout that is known here: "recording" is %d, not %d`, r.Header.Format, stored.Recording.Format)
		}
		return nil
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.From != Client && l.From != Server {
		return fmt.Errorf(`"from" is %q, not "client" or "server"`, l.From)
	}
	if l.Message == nil && l.Session == 0 {
		return nil
	}
	var message wire.Message
	if l.Message != nil {
		var err error
		if message, err = wire.Parse(wire.NewFrame(l.Message)); err != nil {
			return err
		}
	}
	after := time.Duration(l.At * float64(time.Second))
	if n := len(r.entries); n > 0 && after < r.entries[n-1].after {
		after = r.entries[n-1].after
	}
	r.entries = append(r.entries, entry{after, l.From, message, l.Session > 0})
	return nil
}
