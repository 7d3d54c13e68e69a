package fleet

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// mark is that of the connection to the server. Our own servers lead nowhere.
func (s *Server) mark() string {
	if s.config.Builtin != "" {
		return ""
	}
	file := ""
	for _, box := range s.fleet.table.Load().config.Toolboxes {
		if box.Name == s.toolbox && box.File != "" {
			file = hops.RealPath(box.File)
		}
	}
	return s.fleet.options.Hops.Extend(s.hops, file, s.toolbox, s.Name())
}

// mayForward reports that the server is a workbench, or that its command line looks as if it led
// to one: what is sent to it gets the mark. Others are spared it.
func (s *Server) mayForward() bool {
	if s.startHints.isWorkbench.Load() {
		return true
	}
	if s.config.Command == "" {
		return false
	}
	return isSameFile(s.config.Command, s.fleet.options.Executable) || slices.ContainsFunc(append([]string{s.config.Command}, s.config.Args...), func(word string) bool {
		return strings.Contains(word, protocol.OwnName) || strings.Contains(word, "://")
	})
}

func isSameFile(command, executable string) bool {
	found, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	first, err := os.Stat(found)
	if err != nil {
		return false
	}
	second, err := os.Stat(executable)
	return err == nil && os.SameFile(first, second)
}

// errUnmarked ends the first session with a server that turns out to be a workbench: it has to
// see the mark before anything else.
var errUnmarked = errors.New("it is a workbench, and has not been told which ones are before it")

// identify learns whether the server is a workbench.
func (s *Server) identify(session *downstream.Session, options downstream.Options) error {
	isWorkbench := session.ServerName() == protocol.OwnName
	s.startHints.isWorkbench.Store(isWorkbench)
	s.startHints.isOther.Store(!isWorkbench)
	if isWorkbench && options.Hops != "" && !options.MarkMessages {
		return errUnmarked
	}
	return nil
}
