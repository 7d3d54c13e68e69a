package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

type serveOptions struct {
	listen string // "" leaves it to the configuration
	noAuth bool
	ui     bool
}

func newServe(g *globals) *cobra.Command {
	var options serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve many clients over HTTP",
		Long: `Serve MCP over HTTP (Streamable HTTP) at /mcp, and each toolbox alone, with its tools
under their own names, at /mcp/TOOLBOX. All clients share the servers.

Clients need a bearer token. The first start in a terminal creates one and prints it once;
elsewhere, create it with 'mcp-workbench token add NAME', which works while it serves.

With --ui there is a page at /ui/ that shows this workbench in a browser. It needs a token
that was made with --for page, or with --no-auth a link that is printed.`,
		Example: `  mcp-workbench serve                           on 127.0.0.1:7420
  mcp-workbench serve --listen 127.0.0.1:8080   on another port
  mcp-workbench serve --no-auth                 without tokens, on this machine only
  mcp-workbench serve --ui                      with the page`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runServe(cmd.Context(), *g, options, os.Stderr)
		},
	}
	cmd.Flags().StringVar(&options.listen, "listen", "", "address and port to listen on (default: the configuration's http.listen, or "+config.DefaultListen+")")
	cmd.Flags().StringVar(&g.toolbox, "toolbox", "", "serve this toolbox only (default: all)")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	cmd.Flags().BoolVar(&options.noAuth, "no-auth", false, "require no token; on a loopback address only")
	cmd.Flags().BoolVar(&options.ui, "ui", false, "serve the page at /ui/, for tokens that are for it")
	return cmd
}

func runServe(ctx context.Context, g globals, options serveOptions, stderr io.Writer) error {
	s, err := service.New(g.service(stderr))
	if err != nil {
		return err
	}
	defer s.Close()
	s.Idle = config.DefaultIdle
	if err := s.Err(); err != nil {
		return err
	}
	address := options.listen
	if address == "" {
		address = s.Config.HTTP.Listen
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return &usageError{err: fmt.Errorf("--listen needs an address and a port, such as %s, not '%s'", config.DefaultListen, address)}
	}
	store, err := tokensFor(address, options.noAuth, hasPeople(s.Config.HTTP))
	if err != nil {
		return err
	}
	listener, scheme, err := service.Listen(address, s.Config.HTTP.TLS)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // again, where it was served
	url := scheme + "://" + listener.Addr().String() + "/mcp"
	if err := offerToken(ctx, s.Config, store, url, stderr); err != nil {
		return err
	}
	if scheme == "http" && !service.IsLoopback(address) {
		s.Log().Warn("tokens and responses go over the network in plain text; set http.tls, or use a proxy with TLS")
	}
	return s.Run(ctx, "http", func(ctx context.Context, workbench *app.App) error {
		fmt.Fprintf(stderr, "mcp-workbench: listening on %s\n", url)
		http := app.HTTPOptions{Tokens: store}
		if !options.ui {
			return workbench.ServeHTTP(ctx, listener, http)
		}
		shown := servedPage{subject: s.Subject(), log: s.Log(), base: scheme + "://" + listener.Addr().String(), needsToken: store != nil, stderr: stderr}
		return shown.with(ctx, func(ctx context.Context, page *app.Page) error {
			http.Page = page
			return workbench.ServeHTTP(ctx, listener, http)
		})
	})
}

// offerToken creates the first token and shows it to the person at the terminal. What is not a terminal may be a journal
// that others read, and keep: there it is said how to create one.
func offerToken(ctx context.Context, cfg *config.Config, store *httpauth.Store, url string, stderr io.Writer) error {
	if store == nil || hasPeople(cfg.HTTP) || len(store.List()) > 0 {
		return nil
	}
	if !tty.New(stderr, nil, os.Getenv).IsTerminal() {
		tty.Remark(stderr, "Clients need a token, and there is none yet. Create one, also while this runs: mcp-workbench token add NAME")
		return nil
	}
	token, created, err := store.EnsureDefault()
	if err != nil || !created {
		return err
	}
	recordEvent(ctx, cfg.Audit, audit.TokenCreated(httpauth.DefaultToken, string(httpauth.Calls), nil))
	tty.New(stderr, nil, os.Getenv).Instruct("Clients need a token. This one is for all toolboxes, and is not shown again.\n\n" + clients.HTTPSnippet(url, token) + "\n")
	return nil
}

// hasPeople reports whether clients may come without a token of the workbench: people who sign in, or certificates.
func hasPeople(settings config.HTTP) bool {
	return settings.OAuth != nil || len(settings.TLS.Clients) > 0
}

// tokensFor returns the tokens that clients need; nil if they need none. Where people sign in, there need not be any yet.
func tokensFor(address string, noAuth, people bool) (*httpauth.Store, error) {
	local := service.IsLoopback(address)
	switch {
	case noAuth && people:
		return nil, &toolbox.Error{
			Code:    toolbox.NoAuthRefused,
			Message: "--no-auth would let in everybody as the same client, and the configuration tells people apart: it has 'http.oauth' or 'http.tls.clients'",
			Hint:    "Leave it out, or use a configuration without them.",
		}
	case noAuth && local:
		return nil, nil
	case noAuth:
		return nil, &toolbox.Error{
			Code:    toolbox.NoAuthRefused,
			Message: fmt.Sprintf("--no-auth is for loopback addresses only, and '%s' can be reached from elsewhere", address),
			Hint:    "Leave it out, or listen on 127.0.0.1.",
		}
	}
	store, err := openTokens()
	if err == nil && !local && !people && len(store.List()) == 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.TokenNeeded,
			Message: fmt.Sprintf("'%s' can be reached from elsewhere, where clients need a token, and there is none yet", address),
			Hint:    "Create one first: mcp-workbench token add NAME",
		}
	}
	return store, err
}
