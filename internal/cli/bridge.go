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
	cmd.Flags().StringArrayVar(&options.headers, "header", nil, "an HTTP header for every request, as NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&options.tokenFile, "token-file", "", "file with the token that is sent as 'Authorization: Bearer TOKEN'")
	return cmd
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
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
