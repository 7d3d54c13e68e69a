//go:build unix

package script

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// This file is about the workbench that clients share. It outlives them for a while, and
// who runs it ends it.

// share gives the script a folder of its own for sockets, whose names have to be short.
func (s *state) share() (err error) {
	if s.sockets, err = os.MkdirTemp("/tmp", "wb"); err != nil {
		return err
	}
	s.env = append(s.env, "XDG_RUNTIME_DIR="+s.sockets)
	return nil
}

// stopShared ends all shared workbenches of the script, and waits for that.
func (s *state) stopShared() error {
	if s.sockets == "" {
		return nil
	}
	sockets, err := filepath.Glob(filepath.Join(s.sockets, "mcp-workbench", "*.sock"))
	for _, socket := range sockets {
		err = errors.Join(err, stopWorkbench(socket))
	}
	return err
}

func stopWorkbench(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil // it has just ended
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, `{"mcp-workbench":1,"order":"stop"}`); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return err
	}
	var welcome struct {
		PID     int
		Refused string
	}
	if err := json.Unmarshal(line, &welcome); err != nil || welcome.Refused != "" {
		return fmt.Errorf("the shared workbench does not stop: %s %w", welcome.Refused, err)
	}
	return mcptest.Eventually(endTime, func() error {
		if processtable.Alive(welcome.PID) {
			return errors.New("the shared workbench has not ended")
		}
		return nil
	})
}

// sharedLog is what shared workbenches logged, which their clients do not see.
func (s *state) sharedLog() (text []byte) {
	if s.sockets == "" {
		return nil
	}
	for _, state := range []string{filepath.Join("home", ".local", "state"), "state"} {
		logs, _ := filepath.Glob(filepath.Join(s.dir, state, "mcp-workbench", "logs", "*.log"))
		for _, log := range logs {
			content, _ := os.ReadFile(log) // what is gone says nothing
			text = append(text, content...)
		}
	}
	return text
}
