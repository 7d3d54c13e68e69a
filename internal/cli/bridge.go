package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
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
		Short: "Connect a stdio client to a running workbench",
		Long: `Serve MCP on stdin and stdout by forwarding to a running workbench: to 'serve' or any other
MCP server over HTTP by its URL, or to the shared workbench (--shared) by its socket.

No configuration is needed. If the workbench restarts, the bridge reconnects and the
session continues; requests in flight fail and are not repeated.`,
		Example: `  mcp-workbench bridge http://127.0.0.1:7420/mcp --token-file ~/.workbench-token
  mcp-workbench bridge https://mcp.example.com/mcp/dev --header 'X-Team=tools'
  mcp-workbench bridge $XDG_RUNTIME_DIR/mcp-workbench/d-0123456789abcdef.sock`,
		Args: exactly("one address or socket"),
		RunE: func(cmd *cobra.Command, args []string) error {
			log, err := service.NewLogger(g.logLevel, &config.Config{}, os.Stderr)
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
				return service.BridgeSocket(cmd.Context(), args[0], Version, relay.Options{In: in, Out: out, Log: log})
			}
			server, err := options.server(args[0])
			if err != nil {
				return err
			}
			return service.BridgeAddress(cmd.Context(), server, app.Options{Version: Version, Log: log}, in, out)
		},
	}
	cmd.Flags().StringArrayVar(&options.headers, "header", nil, "HTTP header of every request, NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&options.tokenFile, "token-file", "", "file with the token to send as 'Authorization: Bearer TOKEN'")
	return cmd
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// remoteCallTime is the time limit of a call without progress. The remote workbench has limits of its own, which apply
// first.
const remoteCallTime = 24 * time.Hour

// server describes the remote workbench as a server of a configuration.
func (o bridgeOptions) server(address string) (config.Server, error) {
	server := config.Server{
		Name: "workbench", URL: address,
		Timeouts: config.Timeouts{Connect: config.DefaultConnectTimeout, Call: remoteCallTime},
	}
	if parsed, err := url.Parse(address); err != nil || parsed.Host == "" {
		return server, &usageError{err: errors.New("this is not a usable URL; an example: http://127.0.0.1:7420/mcp")}
	}
	for _, header := range o.headers {
		name, value, ok := strings.Cut(header, "=")
		if !ok || name == "" || strings.ContainsAny(header, "\r\n") {
			return server, &usageError{err: errors.New("--header takes NAME=VALUE")} // the value may be secret
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

// longestToken is the size of a token read from a file, in bytes.
const longestToken = 16 << 10

func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", tokenUnreadable(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestToken))
	if err != nil {
		return "", tokenUnreadable(err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", tokenUnreadable(fmt.Errorf("%s does not hold a token alone", path))
	}
	return token, nil
}

func tokenUnreadable(err error) error {
	return &toolbox.Error{
		Code: toolbox.TokenInvalid, Message: "the token cannot be read: " + err.Error(), Cause: err,
		Hint: "Name a file that holds the token and nothing else, which 'mcp-workbench token add NAME' prints.",
	}
}
