// Package console is the client for a person at a terminal: it finds tools, calls them, asks the
// questions of servers, and shows results.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/localclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Options configure a console.
type Options struct {
	Config   *config.Config
	Version  string
	StateDir string // see app.Options
	Log      *slog.Logger
	Dial     Dial // nil: every session has a workbench of its own

	Out *tty.Screen // for results
	Err *tty.Screen // for progress, problems and questions
}

// Console is shared by the commands that use tools.
type Console struct {
	Options
	reported   map[place]bool // servers that were said to be unreachable
	askedAgain map[place]bool // see askAgain
}

// New makes a console. It starts nothing.
func New(options Options) *Console {
	return &Console{options, make(map[place]bool), make(map[place]bool)}
}

// capabilities returns the declared client capabilities: elicitation and roots.
func capabilities(canBeAsked, hasRoots bool) []byte {
	declared := []byte("{")
	if hasRoots {
		declared = append(declared, `"roots":{}`...)
	}
	if canBeAsked {
		if hasRoots {
			declared = append(declared, ',')
		}
		declared = append(declared, `"elicitation":{"form":{},"url":{}}`...)
	}
	return append(declared, '}')
}

// workbench makes a workbench of its own for a command.
func (c *Console) workbench(cfg *config.Config) (*app.App, error) {
	return app.New(app.Options{Config: cfg, Version: c.Version, StateDir: c.StateDir, Log: c.Log})
}

// Session is one session with a workbench.
type Session struct {
	workbench *app.App // in this process; nil for a shared one
	client    *localclient.Client
}

// Handlers receive notifications and requests of servers; see localclient.Options.
type Handlers struct {
	Progress, Log func(params wire.Payload)
	// Elicit answers a server's question to the person; nil: nobody can be asked.
	Elicit func(ctx context.Context, params wire.Payload) ([]byte, error)
	// Roots returns the folders for roots/list; nil: the capability is not declared.
	Roots func() []string
}

// Open opens a session with a workbench of its own. It must be closed.
func (c *Console) Open(ctx context.Context, cfg *config.Config, handlers Handlers) (*Session, error) {
	workbench, err := c.workbench(cfg)
	if err != nil {
		return nil, err
	}
	client, err := c.connect(ctx, cfg, workbench.ServeTerminal, handlers)
	if err != nil {
		return nil, errors.Join(err, workbench.Stop(context.WithoutCancel(ctx)))
	}
	return &Session{workbench, client}, nil
}

// connect opens a session.
func (c *Console) connect(ctx context.Context, cfg *config.Config, serve serveFunc, handlers Handlers) (*localclient.Client, error) {
	return localclient.Connect(ctx, localclient.Options{
		Serve: serve, Name: "mcp-workbench-terminal", Version: c.Version,
		Capabilities: capabilities(handlers.Elicit != nil, handlers.Roots != nil), MaxMessage: cfg.MaxMessageSize + messageRoom,
		Progress: handlers.Progress, Log: handlers.Log,
		Answer: func(ctx context.Context, method string, params wire.Payload) ([]byte, error) {
			switch {
			case method == protocol.MethodElicitation && handlers.Elicit != nil:
				return handlers.Elicit(ctx, params)
			case method == protocol.MethodRootsList && handlers.Roots != nil:
				return rootsResult(handlers.Roots()), nil
			}
			return nil, &localclient.Error{Code: protocol.CodeMethodNotFound, Message: fmt.Sprintf("The client does not support '%.100s'", method)}
		},
	})
}

// messageRoom is the size of a message beyond the largest one of a server.
const messageRoom = 1 << 20

// rootsResult is the result of roots/list.
func rootsResult(folders []string) []byte {
	result := []byte(`{"roots":[`)
	for i, folder := range folders {
		path := filepath.ToSlash(folder)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // of a Windows drive
		}
		if i > 0 {
			result = append(result, ',')
		}
		result = wire.AppendMember(append(result, '{'), "uri", (&url.URL{Scheme: "file", Path: path}).String())
		result = append(wire.AppendMember(result, "name", filepath.Base(folder)), '}')
	}
	return append(result, "]}"...)
}

// Call calls one of the workbench's own tools and returns the unchanged result.
func (s *Session) Call(ctx context.Context, tool string, arguments []byte) (wire.Payload, error) {
	return s.client.Call(ctx, tool, arguments)
}

// Ask calls one of the workbench's own tools and returns its text; an error result becomes an error.
func (s *Session) Ask(ctx context.Context, tool string, arguments any) (string, error) {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	result, err := s.Call(ctx, tool, encoded)
	if err != nil {
		return "", err
	}
	text := strings.Join(texts(result), "\n")
	if isError(result) {
		return "", &ResultError{text}
	}
	return text, nil
}

// ResultError is an error result of one of the workbench's tools.
type ResultError struct{ Text string }

func (e *ResultError) Error() string { return e.Text }

// Close ends the session, and its own workbench if any.
func (s *Session) Close(ctx context.Context) error {
	err := s.client.Close()
	if s.workbench != nil {
		err = errors.Join(err, s.workbench.Stop(context.WithoutCancel(ctx)))
	}
	return err
}

// texts returns the text blocks of a result.
func texts(result wire.Payload) (all []string) {
	for block := range result.Member("content").Elements() {
		if text, ok := block.Member("text").Text(); ok {
			all = append(all, text)
		}
	}
	return all
}

func isError(result wire.Payload) bool { return string(result.Member("isError").Bytes()) == "true" }
