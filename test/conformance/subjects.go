package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
)

// The one toolbox and server of every configuration here.
const (
	toolboxName = "subject"
	serverName  = "below"
)

// Names of the routes; the first one of a subject is what the others are measured by.
const (
	direct       = "direct"
	throughHTTP  = "through, HTTP below"
	throughStdio = "through, stdio below"
)

// subject is a server or a client that the suite runs against.
type subject struct {
	name   string
	client bool
	routes []route
}

// route is one way between the suite and the subject.
type route struct {
	name string
	run  func(ctx context.Context, what selection, saved string) (results, error)
}

func (t *tools) subjects() []subject {
	return []subject{
		t.server("go-sdk", http{
			command: func(address string) []string {
				return []string{t.goServer, "-http=" + address, "-stateless=false"}
			},
			path: "/",
		}, []string{t.goServer}),
		t.server("server-everything", http{
			command: func(string) []string { return []string{t.node, t.npmServer, "streamableHttp"} },
			environment: func(address string) []string {
				_, port, _ := net.SplitHostPort(address)
				return []string{"PORT=" + port}
			},
			path: "/mcp",
		}, []string{t.node, t.npmServer, "stdio"}),
		t.client(),
	}
}

// http says how a server is started that listens on an address.
type http struct {
	command     func(address string) []string
	environment func(address string) []string
	path        string
}

// server makes a subject of a server that speaks both transports.
func (t *tools) server(name string, remote http, local []string) subject {
	return subject{name: name, routes: []route{
		{direct, func(ctx context.Context, what selection, saved string) (results, error) {
			server, url, err := remote.start(ctx)
			if err != nil {
				return nil, err
			}
			defer server.stop()
			return t.testServer(ctx, what, url, saved)
		}},
		{throughHTTP, func(ctx context.Context, what selection, saved string) (results, error) {
			server, url, err := remote.start(ctx)
			if err != nil {
				return nil, err
			}
			defer server.stop()
			return t.testThrough(ctx, what, map[string]any{"url": url}, saved)
		}},
		{throughStdio, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testThrough(ctx, what, map[string]any{"command": local[0], "args": local[1:]}, saved)
		}},
	}}
}

func (h http) start(ctx context.Context) (server *process, url string, err error) {
	address, err := freeAddress()
	if err != nil {
		return nil, "", err
	}
	var environment []string
	if h.environment != nil {
		environment = h.environment(address)
	}
	server, err = startServer(ctx, address, environment, h.command(address)...)
	return server, "http://" + address + h.path, err
}

// testThrough runs the suite's server scenarios against a workbench with that server below.
func (t *tools) testThrough(ctx context.Context, what selection, server map[string]any, saved string) (results, error) {
	folder, err := os.MkdirTemp(t.scratch, "workbench-")
	if err != nil {
		return nil, err
	}
	configuration, err := writeConfiguration(folder, server)
	if err != nil {
		return nil, err
	}
	workbench, url, err := startWorkbench(ctx, t.workbench, configuration, filepath.Join(folder, "state"))
	if err != nil {
		return nil, err
	}
	defer workbench.stop()
	return t.testServer(ctx, what, url, saved)
}

// client makes a subject of the SDK's client, which the suite starts itself.
func (t *tools) client() subject {
	return subject{name: "go-sdk client", client: true, routes: []route{
		{direct, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testClient(ctx, what, t.goClient, saved)
		}},
		{throughHTTP, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testClient(ctx, what, t.self+" "+betweenRole+" "+t.workbench+" "+t.goClient, saved)
		}},
	}}
}

// writeConfiguration writes a configuration with that one server.
func writeConfiguration(folder string, server map[string]any) (path string, err error) {
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{toolboxName: map[string]any{
		"description": "What the suite speaks to",
		"mcpServers":  map[string]any{serverName: server},
	}}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "workbench-config.json")
	return path, os.WriteFile(path, text, 0o600)
}
