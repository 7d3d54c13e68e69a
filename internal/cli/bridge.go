package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
)

type bridgeOptions struct {
	headers   []string // NAME=VALUE
	tokenFile string
}

func newBridge(g *globals) *cobra.Command {
	var options bridgeOptions
	cmd := &cobra.Command{
		Use:   "bridge URL|SOCKET",
		Short: "Connect a client over stdio to a workbench that runs",
		Long: `Serves MCP on stdin and stdout with what a running workbench offers: one that 'serve'
runs, or any other MCP server over HTTP, by its address; one that clients share
(--shared), by its socket.

It needs no configuration. When the workbench was away, the bridge connects again and
the client goes on; what was in flight fails and is not sent again.`,
		Example: `  mcp-workbench bridge http://127.0.0.1:7420/mcp --token-file ~/.workbench-token
  mcp-workbench bridge https://mcp.example.com/mcp/dev --header 'X-Team=tools'
  mcp-workbench bridge $XDG_RUNTIME_DIR/mcp-workbench/d-0123456789abcdef.sock`,
		Args: exactly("one address or socket"),
		RunE: func(cmd *cobra.Command, args []string) error {
			log, err := g.logger(&config.Config{}, os.Stderr)
			if err != nil {
				return err
			}
			if err := needClient(os.Stdin, "bridge serves"); err != nil {
				return err
			}
			in, out := wire.Pollable(os.Stdin), wire.Pollable(os.Stdout)
			if !isAddress(args[0]) {
				if len(options.headers) > 0 || options.tokenFile != "" {
					return &usageError{err: errors.New("--header and --token-file are for addresses that begin with http:// or https://")}
				}
				return bridgeSocket(cmd.Context(), args[0], relay.Options{In: in, Out: out, Log: log})
			}
			server, err := options.server(args[0])
			if err != nil {
				return err
			}
			return bridgeAddress(cmd.Context(), server, app.Options{Version: Version, Log: log}, in, out)
		},
	}
	cmd.Flags().StringArrayVar(&options.headers, "header", nil, "an HTTP header for every request, as NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&options.tokenFile, "token-file", "", "file with the token that is sent as 'Authorization: Bearer TOKEN'")
	return cmd
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// joinTime is how long a workbench that was there is waited for.
const joinTime = 10 * time.Second

// bridgeSocket connects the client to a workbench on this machine.
func bridgeSocket(ctx context.Context, socket string, options relay.Options) error {
	folder, _ := os.Getwd() // without one, that of the workbench has to do
	patience := time.Duration(0)
	options.Dial = func(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
		conn, err := daemon.Await(ctx, socket, patience, daemon.Hello{
			Version: Version, Folder: folder, Opened: resume.Opened, LastAsked: resume.LastAsked,
		})
		patience = joinTime
		if err != nil && ctx.Err() == nil {
			return nil, &toolbox.Error{
				Code: toolbox.Unreachable, Message: fmt.Sprintf("No workbench can be reached at %s: %v", socket, err), Cause: err,
				Hint: "Name the socket of one that runs, or its address: mcp-workbench bridge http://127.0.0.1:7420/mcp",
			}
		}
		return conn, err
	}
	return relay.Run(ctx, options)
}

// remoteCallTime bounds a call that shows no sign of life. What is at the other end has
// bounds of its own, which are to be felt first.
const remoteCallTime = 24 * time.Hour

// server is what is to be reached as a server of the configuration would be.
func (o bridgeOptions) server(address string) (config.Server, error) {
	server := config.Server{
		Name: "workbench", URL: address,
		Timeouts: config.Timeouts{Connect: config.DefaultConnectTimeout, Call: remoteCallTime},
	}
	if parsed, err := url.Parse(address); err != nil || parsed.Host == "" {
		return server, &usageError{err: errors.New("this is no address that can be used; it looks like http://127.0.0.1:7420/mcp")}
	}
	for _, header := range o.headers {
		name, value, ok := strings.Cut(header, "=")
		if !ok || name == "" || strings.ContainsAny(header, "\r\n") {
			return server, &usageError{err: errors.New("--header takes NAME=VALUE")} // what was given may be secret
		}
		server.Headers = append(server.Headers, config.Variable{Name: name, Value: value})
	}
	if o.tokenFile != "" {
		token, err := readToken(o.tokenFile)
		if err != nil {
			return server, err
		}
		server.Headers = append(server.Headers, config.Variable{Name: "Authorization", Value: "Bearer " + token})
	}
	return server, nil
}

// longestToken bounds what is read of the file.
const longestToken = 16 << 10

func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestToken))
	if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s does not hold a token alone", path)
	}
	return token, nil
}

// shortestSecret is from how many characters on the value of a header is not shown.
const shortestSecret = 8

// headersOf are the headers that a server is sent.
func headersOf(server config.Server) http.Header {
	header := make(http.Header)
	for _, h := range server.Headers {
		header.Set(h.Name, h.Value)
	}
	return header
}

// bridgeAddress connects the client to a workbench over HTTP: it is the only server of one
// that shows its tools as they are.
func bridgeAddress(ctx context.Context, server config.Server, options app.Options, in io.ReadCloser, out io.WriteCloser) error {
	cfg := config.Empty()
	cfg.ToolMode = config.Direct
	cfg.Toolboxes = []config.Toolbox{{Name: "bridge", Servers: []config.Server{server}}}
	for _, header := range server.Headers {
		if secret := strings.TrimPrefix(header.Value, "Bearer "); len(secret) >= shortestSecret {
			cfg.Secrets = append(cfg.Secrets, secret)
		}
	}
	options.Config, options.Transparent = cfg, true
	options.Admit = func(mark string) error { return hops.Ask(ctx, server.URL, headersOf(server), mark) }
	workbench, err := app.New(options)
	if err != nil {
		return err
	}
	err = workbench.ServeStdio(ctx, in, out)
	return errors.Join(err, workbench.Stop(context.WithoutCancel(ctx)))
}
