package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// sandbox returns the sandbox of the server's process; nil if it has none.
func (s *Server) sandbox() *process.Sandbox {
	if s.config.Sandbox == nil {
		return nil
	}
	policy := *sandboxPolicy(s.config.Sandbox)
	cfg := s.fleet.table.Load().config
	policy.Settings = append(policy.Settings, cfg.Path)
	for i := range cfg.Files {
		policy.Settings = append(policy.Settings, cfg.Files[i].Path)
	}
	return &process.Sandbox{Policy: policy, Name: boxName(s.toolbox, &s.config, s.person), OwnFolder: s.config.Dir != ""}
}

func sandboxPolicy(settings *config.Sandbox) *sandbox.Policy {
	if settings == nil {
		return nil
	}
	return &sandbox.Policy{
		ReadAll: settings.ReadAll, Read: settings.Read, Write: settings.Write,
		Network: settings.Network, Memory: int64(settings.Memory), BestEffort: settings.BestEffort,
		Bound: sandboxPolicy(settings.Bound),
	}
}

// boxName names what a server downloads. Another command is another server, and so is the instance of another person: what one
// has written, it must not run.
func boxName(toolbox string, server *config.Server, person string) string {
	sum := sha256.New()
	for _, part := range append([]string{toolbox, server.Name, server.Command, server.Dir, server.Builtin, person}, server.Args...) {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// maxDenials is how many denials of the sandbox an error names; further ones are left out.
const maxDenials = 3

// maxDeniedLines is how many lines of stderr are searched for denials; older ones are not read.
const maxDeniedLines = 50

// Denials describes what the sandbox refused the running server, or the last one, as far as its output tells.
func (s *Server) Denials() []string {
	s.mu.Lock()
	child := s.last
	s.mu.Unlock()
	if child == nil {
		return nil
	}
	return s.denials(child)
}

func (s *Server) denials(child *process.Process) (described []string) {
	lines := child.StderrTail(maxDeniedLines)
	if child.IsShortOfMemory(lines) {
		described = append(described, "it ran out of memory: "+s.raiseMemory())
	}
	denials := child.Denied(lines)
	for _, denial := range denials[:min(len(denials), maxDenials)] {
		described = append(described, s.fleet.cleanServerText(denial.String()))
	}
	return described
}

// raiseMemory advises on the limit of a server that ran into it, or may have.
func (s *Server) raiseMemory() string {
	return fmt.Sprintf("sandbox.memory is %s, for each of its processes and for all together: raise it", sizeText(int64(s.config.Sandbox.Memory)))
}

// deniedHint says what the sandbox refused a server that did not start, because of err; "" if that is not known.
func (s *Server) deniedHint(child *process.Process, err error) string {
	denials := s.denials(child)
	switch {
	case s.config.Sandbox == nil || s.config.Sandbox.Memory == 0:
	case len(denials) > 0:
	case child.MayLackMemory():
		return "it may have run out of memory: " + s.raiseMemory()
	case errors.Is(err, context.DeadlineExceeded):
		return "it may lack memory: " + s.raiseMemory()
	}
	return strings.Join(denials, "; ")
}
