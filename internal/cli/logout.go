package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newLogout(g *globals) *cobra.Command {
	var flags logoutFlags
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "Sign out of a remote server",
		Long: `Revoke the tokens of a login at the authorization server, and remove the login from this
machine. Running workbenches notice within a second. SERVER is as for 'login', or the URL
of a server that is not in the configuration any more; 'auth status' lists those.

The login is removed even if the authorization server cannot be reached; the command then
says that it may still accept the tokens.

Where each person has an account of their own, --person signs out one of them, and
--everyone all.`,
		Example: `  mcp-workbench logout notion
  mcp-workbench logout mail --account work
  mcp-workbench logout https://mcp.example.com/mcp
  mcp-workbench logout crm --person 8a6e…    the subject, as in the audit log
  mcp-workbench logout crm --everyone`,
		Args:              exactly("the name of one server, such as dev/github"),
		ValidArgsFunction: completion.One(completion.Remote(&g.Loader)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return runLogout(cmd, g, args[0], flags)
		},
	}
	addJSONFlag(cmd, &flags.json, "write the result as JSON")
	flags.defineAccount(cmd, g)
	cmd.Flags().StringVar(&flags.person, "person", "", "the subject of one person, where each has an account of their own")
	cmd.Flags().BoolVar(&flags.everyone, "everyone", false, "all people, where each has an account of their own")
	cmd.MarkFlagsMutuallyExclusive("account", "person", "everyone")
	return cmd
}

func runLogout(cmd *cobra.Command, g *globals, ref string, flags logoutFlags) error {
	account := flags.account
	ctx := cmd.Context()
	loaded, log, err := g.loadForTerminal(ctx, cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return err
	}
	logins := openLogins(loaded.Config, log)
	defer logins.Close()
	found, err := logins.find(loaded.Config, ref)
	if err != nil {
		return err
	}
	if found.server.HasOwnAccounts() || flags.isForPeople() {
		return logins.logoutPeople(cmd, found, ref, flags)
	}
	result, err := logins.of(found, account).Logout(ctx)
	if err != nil {
		return err
	}
	screen := screenOf(cmd)
	if account == "" {
		account = found.account()
	}
	name := "'" + tty.CleanLine(ref) + "'"
	if account != "" {
		name += " as '" + tty.CleanLine(account) + "'"
	}
	if isJSON(cmd) {
		if err := writeJSON(cmd, newSignedOut(ref, account, result.Logins, result.Notices, logins.mask)); err != nil {
			return err
		}
	}
	if result.Logins == 0 {
		fmt.Fprintf(screen, "There is no login to %s.%s\n", name, logins.otherAccounts(found.server.URL, account))
		return nil
	}
	logins.record(audit.Logout(found.toolbox, found.server.Name))
	fmt.Fprintf(screen, "%s Signed out of %s.\n", screen.Paint(tty.Good, "✓"), name)
	for _, notice := range result.Notices {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.Clean(logins.mask(notice)), 2))
	}
	return nil
}

// signedOut is the JSON of 'logout'.
type signedOut struct {
	Server  string   `json:"server"`
	Account string   `json:"account"` // "": the default one
	Logins  int      `json:"logins"`  // that were removed
	Notices []string `json:"notices"` // such as that tokens could not be revoked
}

func newSignedOut(ref, account string, removed int, notices []string, mask func(string) string) signedOut {
	out := signedOut{ref, account, removed, []string{}}
	for _, notice := range notices {
		out.Notices = append(out.Notices, mask(notice))
	}
	return out
}

// find is findRemote that also accepts the address of a server that is not configured, as 'auth status' shows it.
func (l *logins) find(cfg *config.Config, ref string) (remote, error) {
	if !importer.IsAddress(ref) {
		return findRemote(cfg, ref)
	}
	server, err := credentials.CanonicalServer(ref)
	if err != nil {
		return remote{}, &toolbox.Error{Code: toolbox.ReferenceNotFound, Message: "There is no such server: " + err.Error(), Hint: "To see all logins: mcp-workbench auth status"}
	}
	all, _ := l.store.All() // what cannot be read is reported when it is removed
	var similar []string
	for _, one := range all {
		if one.Server == server {
			similar = []string{server}
			break
		}
		if plain(one.Server) == server && !slices.Contains(similar, one.Server) {
			similar = append(similar, one.Server)
		}
	}
	if len(similar) == 1 {
		server = similar[0]
	}
	return remote{server: &config.Server{URL: server}}, nil
}

// otherAccounts returns a sentence about the other accounts with a login to a server; "" without any.
func (l *logins) otherAccounts(address, account string) string {
	server, err := credentials.CanonicalServer(address)
	all, _ := l.store.All() // what cannot be read cannot be suggested
	var names []string
	for _, one := range all {
		if err != nil || one.Server != server || one.Account == account || !isLogin(one) || credentials.IsPersonal(one.Account) {
			continue
		}
		if one.Account == "" {
			names = append(names, "the default one")
		} else {
			names = append(names, "'"+tty.CleanLine(one.Account)+"'")
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return " Accounts with a login: " + strings.Join(slices.Compact(names), ", ") + "."
}

// isLogin reports whether a credential is more than a registration.
func isLogin(c *credentials.Credential) bool {
	return c.Access != "" || c.Refresh != "" || c.Dead != ""
}
