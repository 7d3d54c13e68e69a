package clients

import (
	"bytes"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// ReadSnippet returns the servers of a copied piece of JSON: the object of a client's file, or its content, with or
// without brackets. A single entry has no name.
func ReadSnippet(m Machine, data []byte) (Source, error) {
	root, err := parseSnippet(data)
	if err != nil {
		return Source{}, &toolbox.Error{
			Code:    toolbox.SnippetUnknown,
			Message: fmt.Sprintf("The snippet cannot be read: %v", err),
			Hint:    "Copy it from its first to its last bracket.",
		}
	}
	for _, client := range table {
		for _, path := range [][]string{client.servers, {"mcp", "servers"}} {
			if servers := root.at(path); !servers.isEmpty() && looksLikeServers(servers) {
				return client.formatOnly(root).source(m, "", "", root, path), nil
			}
		}
	}
	client := table[0].formatOnly(root)
	if looksLikeServers(root) {
		return client.source(m, "", "", root, nil), nil
	}
	const placeholder = "snippet"
	wrapped := value{kind: object, members: []member{{placeholder, root}}}
	if !looksLikeServers(wrapped) {
		return Source{}, &toolbox.Error{
			Code:    toolbox.SnippetUnknown,
			Message: "The snippet holds no server: none of its entries has a \"command\" or a \"url\"",
			Hint:    `It should look like {"mcpServers": {"name": {"command": "npx", "args": ["-y", "package"]}}}.`,
		}
	}
	source := client.source(m, "", "", wrapped, nil)
	for i := range source.Servers {
		source.Servers[i].Name = ""
	}
	return source, nil
}

// formatOnly returns a client of which only the format matters; the syntax of variables is guessed.
func (c *Client) formatOnly(root value) *Client {
	like := *c
	like.variables = guessSyntax(c, root)
	return &like
}

// parseSnippet reports the position of a mistake without quoting the text, which may be a secret.
func parseSnippet(data []byte) (value, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if !bytes.HasPrefix(data, []byte("{")) && !bytes.HasPrefix(data, []byte("/")) {
		// "name": {…}, is common when copying from the middle of a file.
		data = bytes.Join([][]byte{[]byte("{"), data, []byte("\n}")}, nil)
	}
	if _, err := jsonc.Set(data, []string{"checked"}, []byte("true")); err != nil {
		return value{}, err
	}
	return parseJSON(append(bytes.Clone(data), '\n'))
}
