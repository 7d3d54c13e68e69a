package clients

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Remote is a workbench over HTTP.
type Remote struct {
	URL      string
	Variable string // the environment variable with its token; "": there is none
	Token    string // the token itself, for clients whose entries cannot refer to the variable; "": there is none
}

// localKeys and remoteKeys are keys of an entry that belong to one way of reaching a server, and are wrong for the other.
var (
	localKeys = []string{
		"command", "cmd", "args", "env", "envs", "environment", "env_vars", "env_keys", "envFile", "cwd", "working_directory",
	}
	remoteKeys = []string{
		"url", "httpUrl", "serverUrl", "uri", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", "requestOptions",
		"headersHelper", "http_headers_helper", "oauth", "auth",
	}
)

// addressKeys are the keys of the address of a server over HTTP.
var addressKeys = []string{"url", "httpUrl", "serverUrl", "uri"}

// ownHeader is the header by which an entry over HTTP is recognised as the workbench's: an address alone could be that of
// any server. Its value is the client's name.
const ownHeader = config.OwnHeader

const (
	authorization = "Authorization"
	bearer        = "Bearer "
)

// HasHTTP reports whether the client can reach a workbench over HTTP by an entry in this file.
func (c *Client) HasHTTP(file string) bool { return c.remote != nil && formatOf(file) != shellFormat }

// withoutHTTP refuses an entry over HTTP.
func (c *Client) withoutHTTP(file string, e Entry) error {
	message := c.Title + " has no servers over HTTP in its file"
	if c.remote != nil {
		message = fmt.Sprintf("%s is a script, into which no server over HTTP is written", file)
	}
	return &toolbox.Error{
		Code:    toolbox.ClientWithoutHTTP,
		Message: message,
		Hint:    "Leave out --http, so that it starts the workbench itself. To reach this one all the same, give it the command 'mcp-workbench bridge " + e.Remote.URL + "' by hand.",
	}
}

// RefersToVariables reports whether the client's entries over HTTP can name an environment variable with the token, so that
// the token does not have to be in the file.
func (c *Client) RefersToVariables() bool {
	return c.reference("X") != "" || slices.ContainsFunc(c.remote, func(f field) bool { return f.value == tokenName })
}

// reference returns how an entry refers to an environment variable; "" if it cannot.
func (c *Client) reference(variable string) string {
	switch {
	case c.copyToken:
		return ""
	case c.variables == braces, c.variables == dollar:
		return "${" + variable + "}"
	case c.variables == editor:
		return "${env:" + variable + "}"
	case c.variables == curly:
		return "{env:" + variable + "}"
	}
	return ""
}

// headers returns the headers of an entry over HTTP. Those of the entry before stay, unless they were for another host:
// they may be secret.
func (c *Client) headers(r *Remote, before value) value {
	sent := value{kind: object}
	if r.isSameHost(before) {
		sent.members = slices.Clone(headersOf(before).members)
	}
	switch reference := c.reference(r.Variable); {
	case r.Token != "":
		sent = sent.with(authorization, textValue(bearer+r.Token), true)
	case r.Variable != "" && reference != "":
		sent = sent.with(authorization, textValue(bearer+reference), true)
	case r.Variable != "":
		sent = sent.with(authorization, value{}, false) // the client has a key of its own for the variable
	}
	return sent.with(ownHeader, textValue(c.ID), true)
}

// tokenName returns the value of a key that names the variable with the token.
func (c *Client) tokenName(r *Remote, before value) value {
	switch {
	case r.Variable != "" && r.Token == "":
		return textValue(r.Variable)
	case r.Token == "" && r.isSameHost(before):
		return before.get("bearer_token_env_var")
	}
	return value{}
}

// isSameHost reports whether an entry leads to the same host and port.
func (r *Remote) isSameHost(entry value) bool {
	was, err := url.Parse(addressOf(entry))
	if err != nil {
		return false
	}
	is, err := url.Parse(r.URL)
	return err == nil && was.Host != "" && was.Scheme == is.Scheme && strings.EqualFold(was.Host, is.Host)
}

// isAt reports whether an entry leads to the same address, whoever wrote it.
func (r *Remote) isAt(entry value) bool {
	return r != nil && strings.TrimRight(addressOf(entry), "/") == strings.TrimRight(r.URL, "/")
}

func addressOf(entry value) string { return firstText(flatten(entry), addressKeys...) }

// headersOf returns the headers of an entry, under whichever key the client has them.
func headersOf(entry value) value {
	for _, path := range [][]string{{"headers"}, {"http_headers"}, {"requestOptions", "headers"}} {
		if found := entry.at(path); found.kind == object {
			return found
		}
	}
	return value{}
}

// isOwnRemote reports whether an entry was written for a workbench over HTTP.
func isOwnRemote(entry value) bool {
	return addressOf(entry) != "" && slices.ContainsFunc(headersOf(entry).members, func(m member) bool { return strings.EqualFold(m.name, ownHeader) })
}
