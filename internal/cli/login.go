package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/login"
)

type loginFlags struct {
	noBrowser, fresh, json bool
	account                string
}

func newLogin(g *globals) *cobra.Command {
	var flags loginFlags
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Sign in to a remote server",
		Long: `Sign in to a remote server with OAuth, and store the login. Running workbenches use the
login within a second, and renew it by themselves.

` + serverWords + `

Each step is shown. The address is printed, and opened with $BROWSER or the system's
browser. Over SSH, in WSL or in a container, open the address anywhere, and paste the
address that the browser ends at.`,
		Example: `  mcp-workbench login notion
  mcp-workbench login dev/github --no-browser
  mcp-workbench login mail --account work    a second account, for another server entry
  mcp-workbench login notion --fresh         register and sign in from scratch`,
		Args:              exactly("the name of one server, such as dev/github"),
		ValidArgsFunction: completion.One(completion.Logins(&g.Loader)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return runLogin(cmd, g, args[0], flags)
		},
	}
	cmd.Flags().BoolVar(&flags.noBrowser, "no-browser", false, "open nothing; print the address only")
	cmd.Flags().BoolVar(&flags.fresh, "fresh", false, "forget the earlier login and the registered client first")
	addJSONFlag(cmd, &flags.json, "write the result as JSON; the steps go to stderr")
	flags.defineAccount(cmd, g)
	return cmd
}

func (f *loginFlags) defineAccount(cmd *cobra.Command, g *globals) {
	cmd.Flags().StringVar(&f.account, "account", "", "name of the login, if you have several accounts (default: the server's oauth.account)")
	completion.Register(cmd, "account", completion.Accounts(&g.Loader))
}

// check refuses a name of an account that the configuration could not have.
func (f *loginFlags) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("account") {
		return nil
	}
	if wrong := config.CheckAccount(f.account); wrong != "" {
		return &usageError{err: fmt.Errorf("--account %s", wrong)}
	}
	return nil
}

func runLogin(cmd *cobra.Command, g *globals, ref string, flags loginFlags) error {
	ctx, in := cmd.Context(), cmd.InOrStdin()
	loaded, log, err := g.loadForTerminal(ctx, cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return err
	}
	found, err := findRemote(loaded.Config, ref)
	if err != nil {
		return err
	}
	if err := found.refuseLogin(); err != nil {
		return found.withRedirectURI(loaded.Config, err)
	}
	logins := openLogins(loaded.Config, log)
	defer logins.Close()
	screen := screenOf(cmd)
	if flags.json {
		screen = tty.New(cmd.ErrOrStderr(), in, os.Getenv)
	}
	_, err = login.Run(ctx, logins.of(found, flags.account), login.Options{
		Server: found.Ref(), URL: plain(found.server.URL), Fresh: flags.fresh, NoBrowser: flags.noBrowser, Config: loaded.Config,
		Screen: screen, Input: inputOf(screen, in), Getenv: os.Getenv, Mask: logins.mask,
	})
	if err != nil {
		return err
	}
	account := cmp.Or(flags.account, found.account())
	user, isUsed := userOf(loaded.Config, found, account)
	if flags.json {
		return writeJSON(cmd, signedIn{found.Ref(), account, isUsed})
	}
	if !isUsed {
		using := "its default login"
		if used := found.account(); used != "" {
			using = fmt.Sprintf("the account '%s'", tty.CleanLine(used))
		}
		fmt.Fprintf(screen, "%s The configuration uses %s. To use this one, add to the server: \"oauth\": {\"account\": \"%s\"}\n",
			screen.Paint(tty.Caution, "!"), using, flags.account)
		return nil
	}
	fmt.Fprintf(screen, "To see its tools: %s\n", trust.Command(loaded.Config, "tools", user.Ref()))
	return nil
}

// signedIn is the JSON of 'login'.
type signedIn struct {
	Server  string `json:"server"`
	Account string `json:"account"` // "": the default one
	Used    bool   `json:"used"`    // by the configuration
}

// userOf returns the server of the configuration that uses a login which was made for one: that server itself if it can be,
// or another with the same address and the account.
func userOf(cfg *config.Config, made remote, account string) (remote, bool) {
	if made.account() == account {
		return made, true
	}
	address, err := credentials.CanonicalServer(made.server.URL)
	for _, one := range remotes(cfg) {
		if other, otherErr := credentials.CanonicalServer(one.server.URL); err == nil && otherErr == nil && other == address && one.account() == account && one.refuseLogin() == nil {
			return one, true
		}
	}
	return remote{}, false
}

// inputOf returns where pasted lines are read from: the keyboard of the screen, or else the input of the command.
func inputOf(screen *tty.Screen, in io.Reader) *tty.Lines {
	if screen.IsInteractive() {
		return screen.Lines()
	}
	return tty.NewLines(in)
}

// loginDuring returns how a call logs in. The arguments of the call may be on stdin, where no address can be pasted then.
func loginDuring(c *console.Console, in io.Reader, hasArguments bool) func(ctx context.Context, toolbox, server string) error {
	input := inputOf(c.Err, in)
	if hasArguments && !c.Err.IsInteractive() {
		input = nil
	}
	return func(ctx context.Context, toolbox, server string) error {
		found, err := findRemote(c.Config, toolbox+"/"+server)
		if err != nil {
			return err
		}
		logins := openLogins(c.Config, c.Log)
		defer logins.Close()
		_, err = login.Run(ctx, logins.of(found, ""), login.Options{
			Server: found.Ref(), URL: plain(found.server.URL), Config: c.Config, Screen: c.Err, Input: input, Getenv: os.Getenv, Mask: logins.mask,
		})
		return err
	}
}
