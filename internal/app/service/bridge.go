package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
)

// joinTime is the wait for a workbench that was connected before.
const joinTime = 10 * time.Second

// BridgeSocket connects the client to a workbench on this machine.
func BridgeSocket(ctx context.Context, socket, version string, options relay.Options) error {
	folder, _ := os.Getwd() // without one, the workbench's is used
	patience := time.Duration(0)
	options.Dial = func(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
		conn, err := daemon.Await(ctx, socket, patience, daemon.Hello{
			Version: version, Folder: folder, Opened: resume.Opened, LastAsked: resume.LastAsked,
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

// shortestSecret is the length from which the value of a header is masked, in bytes.
const shortestSecret = 8

// headersOf returns the headers of requests to a server.
func headersOf(server config.Server) http.Header {
	header := make(http.Header)
	for _, h := range server.Headers {
		header.Set(h.Name, h.Value)
	}
	return header
}

// tokenAdvice says how a bridge gets a token. No configuration names its server, so that no command can log in to it.
const tokenAdvice = "name the file of a token that it accepts with --token-file; where the workbench runs, 'mcp-workbench token add NAME' makes one"

// authorizationTime bounds the wait for an answer to the first request of a bridge; then the client's own requests show what is wrong.
const authorizationTime = 5 * time.Second

// refuseWithoutToken reports that a server wants a token that the bridge does not have: a client would see no tools, and no reason.
func refuseWithoutToken(ctx context.Context, server config.Server) error {
	ctx, cancel := context.WithTimeout(ctx, authorizationTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		return nil // reported when it is connected
	}
	request.Header = headersOf(server)
	request.Header.Set("Accept", "application/json") // do not open a stream
	client := &http.Client{
		Transport:     webclient.NewTransport(webclient.Options{Environ: os.Environ()}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is not for others
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil // it may come later
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		return nil
	}
	message := "The server at " + webclient.Plain(request.URL) + " needs a token"
	if request.Header.Get("Authorization") != "" {
		message = "The server at " + webclient.Plain(request.URL) + " does not accept the token"
	}
	return &toolbox.Error{Code: toolbox.LoginNeeded, Message: message, Hint: strings.ToUpper(tokenAdvice[:1]) + tokenAdvice[1:] + "."}
}

// BridgeAddress connects the client to a workbench over HTTP, as the only server of a workbench in
// direct mode.
func BridgeAddress(ctx context.Context, server config.Server, options app.Options, in io.ReadCloser, out io.WriteCloser) error {
	cfg := config.Empty()
	cfg.ToolMode = config.Direct
	cfg.Toolboxes = []config.Toolbox{{Name: "bridge", Servers: []config.Server{server}}}
	for _, header := range server.Headers {
		if secret := strings.TrimPrefix(header.Value, "Bearer "); len(secret) >= shortestSecret {
			cfg.Secrets = append(cfg.Secrets, secret)
		}
	}
	if err := refuseWithoutToken(ctx, server); err != nil {
		return err
	}
	cfg.LoginAdvice = tokenAdvice
	options.Config, options.Transparent = cfg, true
	options.Admit = func(mark string) error { return hops.Probe(ctx, server.URL, headersOf(server), mark) }
	workbench, err := app.New(options)
	if err != nil {
		return err
	}
	err = workbench.ServeStdio(ctx, in, out)
	return errors.Join(err, workbench.Stop(context.WithoutCancel(ctx)))
}
