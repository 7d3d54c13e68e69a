// Package builtin holds the MCP servers that come with the workbench. They need no configuration, network or other
// program, and run as child processes of the same binary over stdin and stdout.
package builtin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Options configure how a server runs.
type Options struct {
	Version string         // reported to the client
	Stdin   io.ReadCloser  // the process's own if nil
	Stdout  io.WriteCloser // the process's own if nil
}

// service is an open built-in server: its tools and their resources.
type service interface {
	instructions() string
	register(*mcp.Server)
	io.Closer
}

// kind is a kind of built-in server.
type kind struct {
	name     string
	title    string
	about    string // one line for people
	inFolder bool   // it depends on the working directory
	open     func(name string, args []string) (service, error)
}

// kinds are all built-in servers. A new one needs a row here and a file with its tools: the configuration, its schema,
// the commands and their help take the names from this table.
var kinds = []kind{
	{"files", "Files", "List, read and search the files below a folder, without changing them.", true, openFiles},
	{"notes", "Notes", "Keep notes across conversations, on this machine only.", false, openNotes},
	{"clock", "Clock", "Tell the time, convert it between zones, and measure between two times.", false, openClock},
}

// Names returns the names of the built-in servers.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Describe returns a line for people on what the named server does, or "" if the name is unknown.
func Describe(name string) string {
	k, _ := find(name)
	return k.about
}

// WorksInFolder reports whether the named server depends on its working directory.
func WorksInFolder(name string) bool {
	k, _ := find(name)
	return k.inFolder
}

// Check reports what is wrong with a name or with args, as Run would. If the args ask for help, it is returned.
func Check(name string, args []string) (usage string, err error) {
	k, err := find(name)
	if err != nil {
		return "", err
	}
	s, err := k.open(name, args)
	if errors.Is(err, flag.ErrHelp) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	return "", s.Close()
}

// Run runs the named server until its input ends or ctx does; both return nil. An invalid name or invalid args return a
// *toolbox.Error.
func Run(ctx context.Context, name string, args []string, opts Options) error {
	k, err := find(name)
	if err != nil {
		return err
	}
	s, err := k.open(name, args)
	if err != nil {
		return err
	}
	defer s.Close()

	server := newServer(k, s, opts.Version)
	server.AddReceivingMiddleware(endWith(ctx))
	transport := &mcp.IOTransport{Reader: os.Stdin, Writer: keepOpen{os.Stdout}}
	if opts.Stdin != nil {
		transport.Reader = opts.Stdin
	}
	if opts.Stdout != nil {
		transport.Writer = opts.Stdout
	}
	if err := server.Run(ctx, transport); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serving %s: %w", name, err)
	}
	return nil
}

// keepOpen keeps the SDK from closing the output of the process.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

func find(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	suggestions := toolbox.Nearest(name, Names(), 3)
	hint := "The built-in servers are " + strings.Join(Names(), ", ") + "."
	if len(suggestions) > 0 {
		hint = "Did you mean " + strings.Join(suggestions, " or ") + "? " + hint
	}
	return kind{}, &toolbox.Error{Message: fmt.Sprintf("there is no built-in server %q", name), Hint: hint}
}

func newServer(k kind, s service, version string) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "mcp-workbench-" + k.name, Title: k.title, Version: version},
		&mcp.ServerOptions{
			Instructions: s.instructions(),
			// The list of tools is constant, and the server does not log.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	s.register(server)
	return server
}

// endWith cancels every request when ctx ends. The SDK waits for running requests when its own context ends, but does
// not cancel them, so that a long search would delay the exit.
func endWith(ctx context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(reqCtx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			reqCtx, cancel := context.WithCancel(reqCtx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(reqCtx, method, req)
		}
	}
}

// parseFlags parses args, which must be flags only.
func parseFlags(name string, args []string, define func(*flag.FlagSet)) error {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	define(set)

	var usage strings.Builder
	fmt.Fprintf(&usage, "Usage: mcp-workbench builtin %s", name)
	set.VisitAll(func(f *flag.Flag) {
		arg, help := flag.UnquoteUsage(f)
		fmt.Fprintf(&usage, " [--%s %s]\n--%s: %s", f.Name, arg, f.Name, help)
	})

	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return &toolbox.Error{Message: usage.String(), Cause: err}
	case err != nil:
		return &toolbox.Error{Message: fmt.Sprintf("built-in server %s: %v", name, err), Hint: usage.String(), Cause: err}
	case set.NArg() > 0:
		return &toolbox.Error{Message: fmt.Sprintf("built-in server %s: unexpected argument %q", name, set.Arg(0)), Hint: usage.String()}
	}
	return nil
}
