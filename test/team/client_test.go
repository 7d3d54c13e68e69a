//go:build unix

package team

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// This file drives client.mjs, the official TypeScript client, and the people in front of it.

// person is somebody with a name and a browser, which stays signed in.
type person struct {
	name    string
	browser *oauthtest.Person
}

func newPerson(name string) *person {
	return &person{name, &oauthtest.Person{Answers: map[string]string{"login": name, "password": "password"}}}
}

// sdk is one client of a person.
type sdk struct {
	t      *testing.T
	team   *team
	person *person
	*program
}

// said is a line of client.mjs.
type said struct {
	Authorize  string
	Failed     string
	Tools      []string
	IsError    bool
	Text       string
	Session    string
	Access     string `json:"access_token"`
	Refresh    string `json:"refresh_token"`
	Registered string
	Asked      []struct {
		Method, URL, Challenge string
		Status                 int
	}
}

// client starts a client of a person at a path of the workbench. Client is the id and the secret of one that does not
// register itself.
func (m *team) client(who *person, path string, client ...string) *sdk {
	m.t.Helper()
	return &sdk{m.t, m, who, runNode(m.t, "client.mjs", nil, append([]string{m.base + path}, client...)...)}
}

// do sends a wish, signs in when the client asks for that, and returns the answer.
func (c *sdk) do(wish map[string]any) said {
	c.t.Helper()
	c.write(wish)
	for {
		var answer said
		line := c.next()
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			c.t.Fatalf("client.mjs printed %q: %v", line, err)
		}
		if answer.Authorize == "" {
			return answer
		}
		callback, err := c.person.browser.Callback(answer.Authorize)
		if err != nil {
			c.t.Fatalf("%s cannot sign in: %v", c.person.name, err)
		}
		c.write(map[string]any{"callback": callback})
	}
}

func (c *sdk) write(value any) {
	c.t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		_, err = fmt.Fprintf(c.in, "%s\n", text)
	}
	if err != nil {
		c.t.Fatalf("client.mjs does not read: %v\n%s", err, c.stderr)
	}
}

// connect connects, signs in, and notes the token.
func (c *sdk) connect() said {
	c.t.Helper()
	answer := c.do(map[string]any{"do": "connect"})
	if answer.Failed != "" {
		c.t.Fatalf("%s cannot connect: %s\nlog:\n%s", c.person.name, answer.Failed, c.team.stderr)
	}
	c.token()
	return answer
}

// token is the access token that the client has.
func (c *sdk) token() string {
	c.t.Helper()
	tokens := c.do(map[string]any{"do": "tokens"})
	c.team.knowToken(tokens.Refresh)
	return c.team.knowToken(tokens.Access)
}

// use calls a tool of a server with use_tool.
func (c *sdk) use(toolbox, server, tool string) said {
	c.t.Helper()
	return c.do(map[string]any{"do": "call", "name": "use_tool", "arguments": map[string]any{
		"tool": map[string]any{"toolbox": toolbox, "server": server, "name": tool}, "arguments": map[string]any{},
	}})
}

// count calls a server with a state.
func (c *sdk) count(toolbox, server string) (answer counted) {
	c.t.Helper()
	got := c.use(toolbox, server, "count")
	if err := json.Unmarshal([]byte(got.Text), &answer); err != nil || got.IsError || got.Failed != "" {
		c.t.Fatalf("%s counts with %s/%s: %+v %v\nlog:\n%s", c.person.name, toolbox, server, got, err, c.team.stderr)
	}
	for _, variable := range answer.Environ {
		for token := range c.team.tokens {
			if strings.Contains(variable, token) {
				c.t.Errorf("%s/%s has a token of a person in its environment", toolbox, server)
			}
		}
	}
	return answer
}
