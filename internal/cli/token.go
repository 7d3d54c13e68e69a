package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newToken(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and remove the tokens of HTTP clients",
		Long: `Clients of 'mcp-workbench serve' authenticate with a token. Create one for each client, so
that each can be removed by itself. Only a hash is stored: a token is shown once, when it
is created. A running server notices changes within a second.`,
		Example: `  mcp-workbench token add laptop
  mcp-workbench token add ci --toolbox build --toolbox deploy
  mcp-workbench token list
  mcp-workbench token remove ci`,
		Args:                       noArguments,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenAdd(g), newTokenList(), newTokenRemove(g))
	return cmd
}

func newTokenAdd(g *globals) *cobra.Command {
	var grant httpauth.Grant
	var rights []string
	var lifetime string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Create a token and print it once",
		Long: `Create a token and print it to stdout; instructions for clients go to stderr. With
--toolbox the token is limited to these toolboxes: the others do not exist for its client.

--for says what the token permits: calls (use the tools; the default), metrics (read
counters and durations), page (the page of serve --ui).`,
		Example: `  mcp-workbench token add laptop
  mcp-workbench token add ci --toolbox build --toolbox deploy --expires 90d
  mcp-workbench token add prometheus --for metrics`,
		Args: oneName("token add"),
		RunE: func(cmd *cobra.Command, args []string) error {
			grant.Name = args[0]
			for _, right := range rights {
				grant.Rights = append(grant.Rights, httpauth.Right(right))
			}
			if lifetime != "" {
				var err error
				if grant.Lifetime, err = httpauth.ParseLifetime(lifetime); err != nil {
					return &usageError{err: err}
				}
			}
			return addToken(cmd, g, grant, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write the token as JSON")
	cmd.Flags().StringSliceVar(&rights, "for", nil, "what the token permits: "+httpauth.JoinRights(httpauth.Rights)+"; may be repeated (default: calls)")
	cmd.Flags().StringVar(&lifetime, "expires", "", "lifetime of the token, such as 12h or 90d (default: unlimited)")
	completion.Register(cmd, "for", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(httpauth.JoinRights(httpauth.Rights), ", "), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.Flags().StringArrayVar(&grant.Toolboxes, "toolbox", nil, "limit the token to a toolbox; may be repeated (default: all)")
	completion.Register(cmd, "toolbox", completion.Toolboxes(&g.Loader))
	return cmd
}

func newTokenList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens with toolboxes, permissions and expiry",
		Example: `  mcp-workbench token list
  mcp-workbench token list --json | jq -r '.tokens[].name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := openTokens()
			if err != nil {
				return err
			}
			if asJSON {
				return writeTokens(cmd, store)
			}
			listTokens(screenOf(cmd), store.List())
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

func newTokenRemove(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Revoke a token",
		Example: "  mcp-workbench token remove ci",
		Args:    oneName("token remove"), ValidArgsFunction: completion.One(completeTokens),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openTokens()
			if err != nil {
				return err
			}
			if err := store.Remove(args[0]); err != nil {
				return err
			}
			settings, _ := auditSettings(g)
			recordEvent(cmd.Context(), settings, audit.TokenRemoved(args[0]))
			if asJSON {
				return writeJSON(cmd, removedToken{args[0]})
			}
			fmt.Fprintf(tty.Cleaned(cmd.OutOrStdout()), "Token '%s' is removed. A running server refuses it within a second.\n", args[0])
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write the result as JSON")
	return cmd
}

func oneName(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return &usageError{err: fmt.Errorf("%s needs the name of a token, such as laptop", command)}
		case 1:
			return nil
		}
		return &usageError{err: fmt.Errorf("%s takes one name, not %d", command, len(args))}
	}
}

// completeTokens completes the name of a token.
func completeTokens(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if store, err := openTokens(); err == nil {
		for _, token := range store.List() {
			names = append(names, token.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// openTokens opens the tokens of this user.
func openTokens() (*httpauth.Store, error) {
	state := config.StateDir()
	if state == "" {
		return nil, &toolbox.Error{
			Code:    toolbox.NoStateFolder,
			Message: "There is no folder to keep tokens in: HOME and XDG_STATE_HOME are not set",
			Hint:    "Set one of them to a folder that only you can use.",
		}
	}
	return httpauth.Open(filepath.Join(state, httpauth.FileName))
}

func addToken(cmd *cobra.Command, g *globals, grant httpauth.Grant, asJSON bool) error {
	out, errOut := cmd.OutOrStdout(), cmd.ErrOrStderr()
	cfg, err := tokenConfig(g, grant.Toolboxes)
	if err != nil {
		return err
	}
	store, err := openTokens()
	if err != nil {
		return err
	}
	token, err := store.Create(grant)
	if err != nil {
		return err
	}
	recordEvent(cmd.Context(), cfg.Audit, audit.TokenCreated(grant.Name, rightsOf(grant), grant.Toolboxes))
	if asJSON {
		return writeCreated(cmd, store, grant.Name, token)
	}
	fmt.Fprintln(out, token)
	if slices.Contains(grant.Rights, httpauth.Page) {
		if grant.Toolboxes != nil {
			tty.Remark(errOut, "The page shows the whole workbench, and refuses a token that is limited to toolboxes. For the page, create one without --toolbox")
		} else {
			tty.Remark(errOut, "The page is at /ui/ of the address that 'mcp-workbench serve --ui' listens on, and asks for this token")
		}
	}
	if grant.Rights != nil && !slices.Contains(grant.Rights, httpauth.Calls) {
		fmt.Fprintf(tty.Cleaned(errOut), "\nToken '%s' is created, for %s. It is not shown again.\n", grant.Name, httpauth.JoinRights(grant.Rights))
		return nil
	}
	may := "all toolboxes"
	if grant.Toolboxes != nil {
		may = "the toolboxes " + trust.QuoteList(grant.Toolboxes)
	}
	fmt.Fprintf(tty.Cleaned(errOut), "\nToken '%s' is created, for %s. It is not shown again.\n\n", grant.Name, may)
	if !tty.IsInteractive(out) {
		token = "TOKEN" // the token is on stdout only; stderr may end up in a log
	}
	tty.New(errOut, nil, os.Getenv).Instruct(clients.HTTPSnippet(cfg.HTTP.Endpoint(), token))
	return nil
}

// tokenConfig returns the configuration with the toolboxes of a token. Without toolboxes only the
// address is needed, and errors in the file do not matter.
func tokenConfig(g *globals, toolboxes []string) (*config.Config, error) {
	s, err := g.Load(nil)
	if len(toolboxes) == 0 {
		if err != nil {
			s = &loader.Loaded{Config: config.Empty()}
		}
		return s.Config, nil
	}
	switch {
	case err != nil:
		return nil, err
	case s.Untrusted != nil && s.IsEmpty():
		return nil, s.Untrusted.Refusal()
	case s.IsEmpty():
		return nil, s.Err()
	}
	cfg := s.Config
	var names []string
	for _, box := range cfg.Toolboxes {
		names = append(names, box.Name)
	}
	for i, name := range toolboxes {
		switch {
		case !slices.Contains(names, name):
			return nil, unknownToolbox(cfg, name, names)
		case slices.Contains(toolboxes[:i], name):
			return nil, &usageError{err: fmt.Errorf("--toolbox %s is given twice", trust.Quote(name))}
		}
	}
	return cfg, nil
}

// unknownToolbox rejects a token that would see nothing, most likely by mistake.
func unknownToolbox(cfg *config.Config, name string, names []string) error {
	file := loader.JoinFiles(cfg, " and ")
	if file == "" {
		file = "the built-in configuration, since no file was found"
	}
	hint := "Name another file with --config."
	if near := toolbox.Nearest(name, names, 1); len(near) > 0 {
		hint = "Did you mean " + trust.Quote(near[0]) + "? Or name another file with --config."
	} else if len(names) > 0 && len(names) <= 20 {
		hint = "It has " + trust.QuoteList(names) + ". " + hint
	}
	return &toolbox.Error{Code: toolbox.ToolboxNotFound, Message: fmt.Sprintf("There is no toolbox %s in %s", trust.Quote(name), file), Hint: hint}
}

// rightsOf lists what a token permits.
func rightsOf(grant httpauth.Grant) string {
	if len(grant.Rights) == 0 {
		return string(httpauth.Calls)
	}
	return httpauth.JoinRights(grant.Rights)
}
