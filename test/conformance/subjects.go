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
	name     string
	revision string
	client   bool
	routes   []route
}

// Names of the subjects of the modern era, and across the border between the eras.
const (
	modern         = "go-sdk, modern"
	modernToLegacy = "go-sdk, modern to legacy"
	legacyToModern = "go-sdk, legacy to modern"
)

// route is one way between the suite and the subject.
type route struct {
	name string
	run  func(ctx context.Context, what selection, saved string) (results, error)
}

func (t *tools) subjects() []subject {
	// With sessions it speaks the older era only, without them both.
	legacy, both := t.sdkServer("-stateless=false"), t.sdkServer("-stateless=true")
	plain := []string{t.goServer}
	return []subject{
		t.server("go-sdk", legacyRevision, legacy, legacy, plain),
		t.server(modern, modernRevision, both, both, plain),
		t.server(modernToLegacy, modernRevision, both, legacy, t.held(legacyEra, plain)),
		t.server(legacyToModern, legacyRevision, legacy, t.heldRemote(modernEra, both), t.held(modernEra, plain)),
		t.everything(),
		t.client("go-sdk client", legacyRevision),
		t.client("go-sdk client, modern", modernRevision),
		t.client("go-sdk client, first logins", firstRevision),
	}
}

func (t *tools) sdkServer(flag string) http {
	return http{
		command: func(address string) []string { return []string{t.goServer, "-http=" + address, flag} },
		path:    "/",
	}
}

// everything is a server of npm.
func (t *tools) everything() subject {
	remote := http{
		command: func(string) []string { return []string{t.node, t.npmServer, "streamableHttp"} },
		environment: func(address string) []string {
			_, port, _ := net.SplitHostPort(address)
			return []string{"PORT=" + port}
		},
		path: "/mcp",
	}
	return t.server("server-everything", legacyRevision, remote, remote, []string{t.node, t.npmServer, "stdio"})
}

// held is a server over stdio that speaks one era of its two.
func (t *tools) held(era string, command []string) []string {
	return append([]string{t.self, eraRole, era, "stdio"}, command...)
}

// heldRemote is held for a server over HTTP.
func (t *tools) heldRemote(era string, remote http) http {
	remote.before = func(address, url string) []string { return []string{t.self, eraRole, era, address, url} }
	return remote
}

// http says how a server is started that listens on an address.
type http struct {
	command     func(address string) []string
	environment func(address string) []string
	path        string
	// before is the command of a program that stands before it at an address; nil for none.
	before func(address, url string) []string
}

// server makes a subject of a server that speaks both transports; plain is what it is
// without the workbench.
func (t *tools) server(name, revision string, plain, remote http, local []string) subject {
	return subject{name: name, revision: revision, routes: []route{
		{direct, func(ctx context.Context, what selection, saved string) (results, error) {
			stop, url, err := plain.start(ctx)
			if err != nil {
				return nil, err
			}
			defer stop()
			return t.testServer(ctx, what, url, saved)
		}},
		{throughHTTP, func(ctx context.Context, what selection, saved string) (results, error) {
			stop, url, err := remote.start(ctx)
			if err != nil {
				return nil, err
			}
			defer stop()
			return t.testThrough(ctx, what, map[string]any{"url": url}, saved)
		}},
		{throughStdio, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testThrough(ctx, what, map[string]any{"command": local[0], "args": local[1:]}, saved)
		}},
	}}
}

func (h http) start(ctx context.Context) (stop func(), url string, err error) {
	address, err := freeAddress()
	if err != nil {
		return nil, "", err
	}
	var environment []string
	if h.environment != nil {
		environment = h.environment(address)
	}
	server, err := startServer(ctx, address, environment, h.command(address)...)
	if err != nil {
		return nil, "", err
	}
	url = "http://" + address + h.path
	if h.before == nil {
		return server.stop, url, nil
	}
	if address, err = freeAddress(); err != nil {
		server.stop()
		return nil, "", err
	}
	front, err := startServer(ctx, address, nil, h.before(address, url)...)
	if err != nil {
		server.stop()
		return nil, "", err
	}
	return func() {
		front.stop()
		server.stop()
	}, "http://" + address + h.path, nil
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
func (t *tools) client(name, revision string) subject {
	return subject{name: name, revision: revision, client: true, routes: []route{
		{direct, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testClient(ctx, what, t.goClient, saved)
		}},
		{throughHTTP, func(ctx context.Context, what selection, saved string) (results, error) {
			return t.testWorkbench(ctx, what, saved)
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
