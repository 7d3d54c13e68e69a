package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// helloVersion is the version of the protocol before and beside a session.
const helloVersion = 1

// Hello is the first line that a client's bridge sends.
type Hello struct {
	Protocol int    `json:"mcp-workbench"`
	Key      string `json:"key,omitempty"`     // of the workbench that it looks for; "": any
	Version  string `json:"version,omitempty"` // of the bridge's program
	Order    Order  `json:"order,omitempty"`   // a request other than a session
	Lineage  string `json:"lineage,omitempty"` // with Retire: of the workbench that takes over; see Identity.Lineage

	Folder    string   `json:"folder,omitempty"`  // the client's working folder
	Environ   []string `json:"environ,omitempty"` // its environment; nil: the same as the workbench's
	Opened    []string `json:"opened,omitempty"`
	LastAsked uint64   `json:"lastAsked,omitempty"`

	Terminal *Terminal `json:"terminal,omitempty"` // request of a person at a terminal; nil for a client
}

// Terminal is the purpose of a command that calls tools.
type Terminal struct {
	Servers []Place `json:"servers,omitempty"` // to use; nil: all
}

// Place is the position of a server in the configuration.
type Place struct {
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
}

// Order is a request to a workbench other than a session.
type Order string

// The orders.
const (
	Reload Order = "reload" // reload the configuration
	Stop   Order = "stop"   // end the workbench
	// Retire ends the workbench once no client uses it, since one of a newer version, or another build, takes over. It is
	// understood whatever the version of the protocol.
	Retire Order = "retire"
)

// welcome is the response to a hello.
type welcome struct {
	Protocol int    `json:"mcp-workbench"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Refused  string `json:"refused,omitempty"` // why there is no session
	Kin      Kin    `json:"kin,omitempty"`     // the answer to Retire
	Clients  int    `json:"clients,omitempty"` // with Retiring: who still use it
}

// Limits of the exchange.
const (
	maxHello  = 4 << 20         // size of the first line of a connection; a longer one ends it
	helloTime = 5 * time.Second // for the first line of a connection; then it ends
)

// RefusedError is the error of a workbench that refuses this client.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the workbench refused the client: " + e.Reason }

// errEnding is the error of a workbench that is about to end.
var errEnding = errors.New("the workbench was just ending")

// openSession opens a session on a connection to a workbench.
func openSession(conn net.Conn, hello Hello) error {
	if err := conn.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return err
	}
	hello.Protocol = helloVersion
	if err := writeLine(conn, hello); err != nil {
		return fmt.Errorf("%w: %w", errEnding, err)
	}
	var answer welcome
	if err := readLine(conn, &answer); err != nil {
		if errors.Is(err, errForeignProgram) {
			return err
		}
		return fmt.Errorf("%w: %w", errEnding, err)
	}
	switch {
	case answer.Refused != "":
		return &RefusedError{answer.Refused}
	case answer.Protocol != helloVersion:
		return errForeignProgram
	}
	return conn.SetDeadline(time.Time{})
}

// errForeignProgram is the error if the program at the other end does not speak this protocol.
var errForeignProgram = errors.New("the program on this socket is not a compatible workbench")

func writeLine(conn net.Conn, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = conn.Write(append(data, '\n'))
	return err
}

// readLine reads one line. Neither side sends more before the response, so nothing follows the line.
func readLine(conn net.Conn, value any) error {
	var line []byte
	chunk := make([]byte, 4<<10)
	for {
		n, err := conn.Read(chunk)
		line = append(line, chunk[:n]...)
		end := bytes.IndexByte(line, '\n')
		switch {
		case end >= 0 && end == len(line)-1:
			if json.Unmarshal(line, value) != nil {
				return errForeignProgram
			}
			return nil
		case end >= 0 || len(line) > maxHello:
			return errForeignProgram
		case err != nil:
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
}
