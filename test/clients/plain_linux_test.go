package clients

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file is the clients without a model: command lines, bridges and libraries.

// used is a call of use_tool as it is written by hand.
const used = `{"tool":{"toolbox":"math","server":"calculator","name":"add"},"arguments":{"a":20,"b":22}}`

type plain struct {
	name, title string
	era         string // the revision that it speaks as it is pinned
	// over says what is between the client and the workbench.
	over string
	// run lists the tools and calls one; it returns what the client printed.
	run func(b *bench, i installation) string
	// remark is for the documents.
	remark string
}

var plains = []plain{
	{
		name: "inspector", title: "MCP Inspector, `--cli`", era: "2025-11-25", over: "stdio",
		run: func(b *bench, i installation) string {
			b.connect("")
			b.write(".mcp-inspector/mcp.json", object{"mcpServers": object{"workbench": object{"command": b.workbench(), "args": []string{}}}})
			inspect := func(method string, args ...string) string {
				program := i.path("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
				return b.run(nil, append([]string{node(b.t), program, "--cli", "--server", "workbench", "--method", method}, args...)...)
			}
			return inspect("tools/list") + inspect("prompts/list") + inspect("resources/list") +
				inspect("tools/call", "--tool-name", "use_tool",
					"--tool-arg", `tool={"toolbox":"math","server":"calculator","name":"add"}`, `arguments={"a":20,"b":22}`)
		},
		remark: "a process for each request: needs `\"autoOpen\": true`",
	},
	{
		name: "mcporter", title: "mcporter", era: "2025-11-25", over: "stdio",
		run: func(b *bench, i installation) string {
			b.connect("cursor") // of which mcporter reads the servers
			program := i.path("mcporter", "dist", "cli.js")
			return b.run(nil, node(b.t), program, "list", "workbench", "--schema") +
				b.run(nil, node(b.t), program, "call", "workbench.use_tool", "--args", used)
		},
		remark: "a process for each request: needs `\"autoOpen\": true`. Finds the workbench where `connect` put it for Cursor",
	},
	{
		name: "mcp-remote", title: "mcp-remote", era: "2025-11-25", over: "HTTP",
		run: func(b *bench, i installation) string {
			address, token := b.serve()
			sdk := need(b.t, "sdk-1", false)
			return b.run([]string{"AUTH=Bearer " + token}, node(b.t), sdk.folder+"/client.mjs", "stdio",
				node(b.t), i.path("mcp-remote", "dist", "proxy.js"), address, "--allow-http", "--header", "Authorization:${AUTH}")
		},
		remark: "in front of `mcp-workbench serve`, with the client of the SDK 1.x before it",
	},
	{
		name: "sdk-1", title: "TypeScript SDK 1.x", era: "2025-11-25", over: "stdio",
		run: func(b *bench, i installation) string {
			b.connect("")
			return b.run(nil, node(b.t), i.folder+"/client.mjs", "stdio", b.workbench())
		},
	},
	{
		name: "sdk-1", title: "TypeScript SDK 1.x", era: "2025-11-25", over: "HTTP",
		run: func(b *bench, i installation) string {
			address, token := b.serve()
			return b.run(nil, node(b.t), i.folder+"/client.mjs", "http", address, token)
		},
	},
	{
		name: "sdk-2", title: "TypeScript SDK 2.x", era: modern, over: "stdio",
		run: func(b *bench, i installation) string {
			b.connect("")
			return b.run(nil, node(b.t), i.folder+"/client.mjs", "stdio", b.workbench())
		},
		remark: "`versionNegotiation: {mode: \"auto\"}`: starts the workbench twice, first to ask for the revision",
	},
	{
		name: "sdk-2", title: "TypeScript SDK 2.x", era: modern, over: "HTTP",
		run: func(b *bench, i installation) string {
			address, token := b.serve()
			return b.run(nil, node(b.t), i.folder+"/client.mjs", "http", address, token)
		},
		remark: "`versionNegotiation: {mode: \"auto\"}`",
	},
}

// A client that nobody gave a model lists the tools of the workbench and calls one of a server
// through use_tool. Nothing else is started.
func TestPlainClients(t *testing.T) {
	needMode(t)
	for _, p := range plains {
		t.Run(p.name+"-"+p.over, func(t *testing.T) {
			i := need(t, p.name, false)
			b := newBench(t, object{"autoOpen": true})
			said := p.run(b, i)
			for _, name := range []string{"open_toolbox", "use_tool", "find_tools", "read_tool"} {
				if !strings.Contains(said, name) {
					t.Errorf("the client did not show %s:\n%s", name, said)
				}
			}
			r := result{title: p.title, version: i.version, over: p.over, remark: p.remark}
			r.judge(b, said)
			r.speaks(t, p.era)
			tried.add(t, r)
		})
	}
}

// serve starts a workbench that clients reach over HTTP, and returns its address and a token. What passes
// is looked at for the revision.
func (b *bench) serve() (address, token string) {
	b.t.Helper()
	token = strings.TrimSpace(b.run(nil, b.workbench(), "token", "add", "test"))
	cmd := exec.Command(b.workbench(), "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = b.project, b.env(nil)
	workbench, err := url.Parse(released.Start(b.t, cmd).Address)
	if err != nil {
		b.t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: workbench.Scheme, Host: workbench.Host})
	pass.FlushInterval = -1                    // answers may be streams
	pass.ErrorLog = log.New(io.Discard, "", 0) // of streams that the client closes
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if revision := r.Header.Get("Mcp-Protocol-Version"); revision != "" {
			b.revision.Store(&revision)
		}
		pass.ServeHTTP(w, r)
	}))
	b.t.Cleanup(proxy.Close)
	return proxy.URL + workbench.Path, token
}
