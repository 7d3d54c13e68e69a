package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ShownSandbox is a sandbox as people and programs are shown it, with all its settings.
type ShownSandbox struct {
	Off         bool // none, although there may be one at the top
	ReadAll     bool
	Read, Write []string // paths
	Network     bool
	Memory      string // a size; "": no limit
	BestEffort  bool
	Within      *ShownSandbox // of the user's own file, which bounds the paths of a project's
}

// MarshalJSON writes it in the form that it has in a configuration.
func (s *ShownSandbox) MarshalJSON() ([]byte, error) {
	if s.Off {
		return []byte("false"), nil
	}
	form := struct {
		Read       any           `json:"read"`
		Write      []string      `json:"write"`
		Network    bool          `json:"network"`
		Memory     string        `json:"memory,omitempty"`
		BestEffort bool          `json:"bestEffort,omitempty"`
		Within     *ShownSandbox `json:"within,omitempty"`
	}{append([]string{}, s.Read...), append([]string{}, s.Write...), s.Network, s.Memory, s.BestEffort, s.Within}
	if s.ReadAll {
		form.Read = "all"
	}
	return json.Marshal(form)
}

// Line describes it on one line. The paths are written by list.
func (s *ShownSandbox) Line(list func([]string) string) string {
	if s.Off {
		return "none"
	}
	paths := func(paths []string) string {
		if len(paths) == 0 {
			return "nothing"
		}
		return list(paths)
	}
	read, network := "all", "no"
	if !s.ReadAll {
		read = paths(s.Read)
	}
	if s.Network {
		network = "yes"
	}
	parts := []string{"read: " + read, "write: " + paths(s.Write), "network: " + network}
	if s.Memory != "" {
		parts = append(parts, "memory: "+lineSize(s.Memory, list))
	}
	if s.BestEffort {
		parts = append(parts, "best effort: yes")
	}
	if s.Within != nil {
		parts = append(parts, "of the paths only what your own file allows, too: "+s.Within.Line(list))
	}
	return strings.Join(parts, "; ")
}

// ShownLimits are the limits of a server as people and programs are shown them.
type ShownLimits struct {
	Memory string `json:"memory,omitempty"` // a size
}

// Line describes them on one line.
func (l *ShownLimits) Line(list func([]string) string) string {
	return "memory: " + lineSize(l.Memory, list)
}

// lineSize writes a size; what is none may be anything.
func lineSize(size string, list func([]string) string) string {
	if _, ok := parseBytes(size); ok {
		return size
	}
	return list([]string{size})
}

// ShownSandbox returns the sandbox in which the server runs; nil if there is none.
func (s *Server) ShownSandbox() *ShownSandbox { return s.Sandbox.shown() }

// ShownLimits returns the limits that hold for the server; nil if there are none.
func (s *Server) ShownLimits() *ShownLimits {
	if s.Limits.Memory == 0 {
		return nil
	}
	return &ShownLimits{shownSize(s.Limits.Memory)}
}

func (s *Sandbox) shown() *ShownSandbox {
	if s == nil {
		return nil
	}
	shown := &ShownSandbox{
		ReadAll: s.ReadAll, Read: s.Read, Write: s.Write, Network: s.Network, BestEffort: s.BestEffort, Within: s.Bound.shown(),
	}
	if s.Memory > 0 {
		shown.Memory = shownSize(int64(s.Memory))
	}
	return shown
}

// sandboxWritten returns a sandbox as written in the file; nil if there is none.
func (n *node) sandboxWritten() *ShownSandbox {
	switch {
	case n == nil:
		return nil
	case n.kind == kindBoolean && n.isTrue():
		return &ShownSandbox{ReadAll: true, Network: true}
	case n.kind != kindObject: // false, or a mistake
		return &ShownSandbox{Off: true}
	}
	read := n.get("read")
	return &ShownSandbox{
		ReadAll: read == nil || read.kind == kindString, Read: read.allWritten(), Write: n.get("write").allWritten(),
		Network: !n.get("network").isFalse(), Memory: n.get("memory").sizeWritten(), BestEffort: n.get("bestEffort").isTrue(),
	}
}

// sandboxOf returns the sandbox of a server of a preview: its own, or else the one at the top.
func (p *Preview) sandboxOf(server, top *node) *ShownSandbox {
	own := server.get("sandbox")
	switch {
	case server.get("url") != nil || p.Plain != nil:
		return nil
	case own == nil && server.get("builtin") == nil:
		own = top
	}
	shown := own.sandboxWritten()
	if shown != nil && shown.Off && server.get("sandbox") == nil {
		return nil // there is none in any case
	}
	return shown
}

func (n *node) limitsWritten() *ShownLimits {
	if memory := n.get("memory").sizeWritten(); memory != "" {
		return &ShownLimits{memory}
	}
	return nil
}

// sizeWritten returns a size, or as it is written what is none.
func (n *node) sizeWritten() string {
	if n == nil {
		return ""
	}
	if size, ok := parseBytes(n.raw); ok {
		return shownSize(size)
	}
	return n.raw
}

// shownSize writes a size as exactly as it can be configured.
func shownSize(bytes int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.size && bytes%unit.size == 0 {
			return fmt.Sprintf("%d %s", bytes/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d B", bytes)
}
