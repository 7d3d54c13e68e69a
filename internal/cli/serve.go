package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

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
	check  bool
	json   bool // with check
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
that was made with --for page, or with --no-auth a link that is printed.

With 'http.oauth' in the configuration people sign in at an identity provider, and tokens
are optional. --check looks at everything that serving needs, and ends: the exit status is 1
if something is missing. It can run beside a workbench that serves.

SIGTERM and Ctrl-C finish the calls in flight first, for 'http.drain' at most; a second one
ends at once.`,
		Example: `  mcp-workbench serve                           on 127.0.0.1:7420
  mcp-workbench serve --listen 127.0.0.1:8080   on another port
  mcp-workbench serve --no-auth                 without tokens, on this machine only
  mcp-workbench serve --ui                      with the page
  mcp-workbench serve --check                   whether it could serve`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case options.check:
				return runServeCheck(cmd, *g, options)
			case options.json:
				return &usageError{err: errors.New("--json is for --check")}
			}
			return runServe(cmd.Context(), *g, options, os.Stderr)
		},
	}
	cmd.Flags().StringVar(&options.listen, "listen", "", "address and port to listen on (default: the configuration's http.listen, or "+config.DefaultListen+")")
	cmd.Flags().StringVar(&g.toolbox, "toolbox", "", "serve this toolbox only (default: all)")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	cmd.Flags().BoolVar(&options.noAuth, "no-auth", false, "require no token; on a loopback address only")
	cmd.Flags().BoolVar(&options.ui, "ui", false, "serve the page at /ui/, for tokens that are for it")
	cmd.Flags().BoolVar(&options.check, "check", false, "check what serving needs, and end")
	addJSONFlag(cmd, &options.json, "with --check: write the report as JSON")
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
	address, err := options.address(s.Config)
	if err != nil {
		return err
	}
	store, err := tokensFor(s.Config, address, options.noAuth)
	if err != nil {
		return err
	}
	listener, err := service.Listen(address, s.Config.HTTP.TLS, s.Log())
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // again, where it was served
	scheme := listener.Scheme
	url := scheme + "://" + listener.Addr().String() + "/mcp"
	if err := offerToken(ctx, s.Config, store, url, stderr); err != nil {
		return err
	}
	if scheme == "http" && !service.IsLoopback(address) {
		s.Log().Warn("tokens and responses go over the network in plain text; set http.tls, or use a proxy with TLS")
	}
	hurry, stop := secondSignal()
	defer stop()
	return s.Run(ctx, service.OverHTTP, func(ctx context.Context, workbench *app.App) error {
		fmt.Fprintf(stderr, "mcp-workbench: listening on %s\n", url)
		http := app.HTTPOptions{Tokens: store, Hurry: hurry, Trusts: listener.Certificates.Trusts, Checks: []func() error{certificateCheck(listener.Certificates)}}
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

// address returns where to listen.
func (o serveOptions) address(cfg *config.Config) (string, error) {
	address := cmp.Or(o.listen, cfg.HTTP.Listen)
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", &usageError{err: fmt.Errorf("--listen needs an address and a port, such as %s, not '%s'", config.DefaultListen, address)}
	}
	return address, nil
}

// secondSignal returns what is closed by the second signal that ends the program.
func secondSignal() (second <-chan struct{}, stop func()) {
	signals, hurry, done := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for range 2 {
			select {
			case <-signals:
			case <-done:
				return
			}
		}
		close(hurry)
	})
	return hurry, func() {
		signal.Stop(signals)
		close(done)
		waiting.Wait()
	}
}

// certificateCheck returns what tells that the certificate in use has expired.
func certificateCheck(certificates *service.Certificates) func() error {
	return func() error {
		if expires := certificates.Expires(); !expires.IsZero() && time.Now().After(expires) {
			return fmt.Errorf("the certificate expired at %s", expires.UTC().Format(time.RFC3339))
		}
		return nil
	}
}

// offerToken creates the first token and shows it to the person at the terminal. What is not a terminal may be a journal
// that others read, and keep: there it is said how to create one.
func offerToken(ctx context.Context, cfg *config.Config, store *httpauth.Store, url string, stderr io.Writer) error {
	if store == nil || len(store.List()) > 0 || knowsPeople(cfg) {
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

// knowsPeople reports whether clients can be known without a token of ours.
func knowsPeople(cfg *config.Config) bool {
	return cfg.HTTP.OAuth != nil || cfg.HTTP.TLS.ClientCA != "" && len(cfg.HTTP.TLS.Clients) > 0
}

// tokensFor returns the tokens that clients need; nil if they need none.
func tokensFor(cfg *config.Config, address string, noAuth bool) (*httpauth.Store, error) {
	local := service.IsLoopback(address)
	switch {
	case noAuth && knowsPeople(cfg):
		return nil, &toolbox.Error{
			Code:    toolbox.NoAuthRefused,
			Message: "--no-auth would let everybody in, and the configuration says who may come in: 'http.oauth' or 'http.tls.clients'",
			Hint:    "Leave it out, or name a configuration without these keys with --config.",
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
	if err == nil && !local && len(store.List()) == 0 && !knowsPeople(cfg) {
		return nil, &toolbox.Error{
			Code:    toolbox.TokenNeeded,
			Message: fmt.Sprintf("'%s' can be reached from elsewhere, where clients need a token, and there is none yet", address),
			Hint:    "Create one first: mcp-workbench token add NAME",
		}
	}
	return store, err
}
