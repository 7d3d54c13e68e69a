package importer

import (
	"bytes"
	"encoding/json"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
)

// encode formats a server for the configuration. Whether it is disabled is decided when it is placed.
func encode(server clients.Server) ([]byte, error) {
	server.Disabled = false
	return server.Definition()
}

// definition is the identity of a server.
type definition struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Dir       string            `json:"cwd"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Transport string            `json:"transport"`
	Type      string            `json:"type"`
}

// definitionOf is equal for entries of the same server.
func definitionOf(entry []byte) string {
	var d definition
	if json.Unmarshal(entry, &d) != nil {
		return string(entry)
	}
	if d.Transport == "" {
		d.Transport = d.Type
	}
	d.Type = ""
	if d.Transport != "sse" {
		d.Transport = "" // derived from the rest
	}
	if d.Dir == "~" {
		d.Dir = "" // a client's entry does not set it; see runsAnywhere
	}
	if len(d.Args) == 0 {
		d.Args = nil
	}
	if len(d.Env) == 0 {
		d.Env = nil
	}
	if len(d.Headers) == 0 {
		d.Headers = nil
	}
	encoded, err := json.Marshal(d)
	if err != nil {
		return string(entry)
	}
	return string(encoded)
}

// existing is the content of a configuration.
type existing struct {
	boxes   map[string]map[string]bool // servers of toolboxes
	servers map[string]Known           // by definition; without the source
}

// readExisting parses only what it needs; it does not validate the file.
func readExisting(data []byte) (existing, error) {
	found := existing{boxes: make(map[string]map[string]bool), servers: make(map[string]Known)}
	if len(bytes.TrimSpace(data)) == 0 {
		return found, nil
	}
	standard, err := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	if err != nil {
		return found, err
	}
	var file struct {
		Toolboxes map[string]struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		} `json:"toolboxes"`
	}
	if err := json.Unmarshal(standard, &file); err != nil {
		return found, err
	}
	for box, content := range file.Toolboxes {
		found.boxes[box] = make(map[string]bool)
		for name, entry := range content.Servers {
			found.boxes[box][name] = true
			var state struct {
				Disabled bool `json:"disabled"`
			}
			_ = json.Unmarshal(entry, &state) // an invalid entry cannot be found
			found.servers[definitionOf(entry)] = Known{Toolbox: box, Server: name, Disabled: state.Disabled}
		}
	}
	return found, nil
}
