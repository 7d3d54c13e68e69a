package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newSecret() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets for servers in the system's keyring",
		Long: `Keep secrets in the system's keyring, and name them in the configuration by
${keyring:NAME}: in the command, args, env, headers, url and OAuth secrets of a server. A
server gets the value when it starts. No command shows a value.`,
		Example: `  mcp-workbench secret set github-token
  pass show github | mcp-workbench secret set github-token
  mcp-workbench secret list
  mcp-workbench secret remove github-token`,
		Args:                       noArguments,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSecretSet(), newSecretList(), newSecretRemove())
	return cmd
}

func newSecretSet() *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Put a secret into the keyring, or replace it",
		Long: `Put a secret into the system's keyring, or replace it. The value is typed in a terminal,
where it is not shown, or read from stdin or a file; one newline at its end is cut. It
cannot be an argument, since others can see those. A server that runs keeps the value it
was started with; 'mcp-workbench restart SERVER' gives it the new one.`,
		Example: `  mcp-workbench secret set github-token
  mcp-workbench secret set github-token < token.txt
  mcp-workbench secret set deploy-key --from-file key.pem`,
		Args: oneSecret("secret set"), ValidArgsFunction: completion.One(completeSecrets),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setSecret(cmd, args[0], file, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write the result as JSON, and ask nothing")
	cmd.Flags().StringVar(&file, "from-file", "", "file with the value (default: the terminal or stdin)")
	return cmd
}

func newSecretList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of the secrets",
		Long: `List the names of the secrets that 'secret set' keeps in the system's keyring. The keyring
is not asked, so nothing has to be unlocked.`,
		Example: `  mcp-workbench secret list
  mcp-workbench secret list --json | jq -r '.secrets[].name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			book, err := openSecrets()
			if err != nil {
				return err
			}
			names, err := book.Names()
			if err != nil {
				return secretsUnusable(err)
			}
			if asJSON {
				return writeSecrets(cmd, names)
			}
			listSecrets(screenOf(cmd), names)
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

func newSecretRemove() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a secret from the keyring",
		Example: "  mcp-workbench secret remove github-token",
		Args:    oneSecret("secret remove"), ValidArgsFunction: completion.One(completeSecrets),
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := openSecrets()
			if err != nil {
				return err
			}
			found, err := book.Remove(cmd.Context(), args[0])
			if err != nil {
				return secretsUnusable(err)
			}
			if !found {
				return unknownSecret(book, args[0])
			}
			if asJSON {
				return writeJSON(cmd, secretName{args[0]})
			}
			fmt.Fprintf(tty.Cleaned(cmd.OutOrStdout()), "Secret '%s' is removed. A server that runs keeps it until it ends.\n", args[0])
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write the result as JSON")
	return cmd
}

func oneSecret(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return &usageError{err: fmt.Errorf("%s needs the name of a secret, such as github-token", command)}
		case len(args) > 1:
			// Not the arguments themselves: one of them may be the value.
			return &usageError{err: fmt.Errorf("%s takes one name, not %d arguments; a value is typed, or comes from stdin", command, len(args))}
		}
		if wrong := config.CheckSecretName(args[0]); wrong != "" {
			return &usageError{err: errors.New("the name of a secret " + wrong)}
		}
		return nil
	}
}

// completeSecrets completes the name of a secret.
func completeSecrets(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if book, err := openSecrets(); err == nil {
		names, _ = book.Names() // completion cannot show an error
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func openSecrets() (*keyring.Book, error) {
	state := config.StateDir()
	if state == "" {
		return nil, &toolbox.Error{
			Code:    toolbox.NoStateFolder,
			Message: "There is no folder to keep the names of secrets in: HOME and XDG_STATE_HOME are not set",
			Hint:    "Set one of them to a folder that only you can use.",
		}
	}
	return keyring.OpenBook(state), nil
}

func setSecret(cmd *cobra.Command, name, file string, asJSON bool) error {
	book, err := openSecrets()
	if err != nil {
		return err
	}
	if file == "" { // before a person types a value that nothing can keep
		if err := keyring.Check(); err != nil {
			return secretsUnusable(err)
		}
	}
	value, err := readSecret(cmd, name, file, asJSON)
	if err != nil {
		return err
	}
	replaced, err := book.Set(cmd.Context(), name, value)
	if err != nil {
		return secretsUnusable(err)
	}
	if asJSON {
		return writeJSON(cmd, struct {
			secretName
			Replaced bool `json:"replaced"`
		}{secretName{name}, replaced})
	}
	what := "is in the system's keyring"
	if replaced {
		what = "is replaced in the system's keyring"
	}
	fmt.Fprintf(tty.Cleaned(cmd.OutOrStdout()), "Secret '%s' %s. A server gets it by ${keyring:%s} in its env, headers, url or args.\n", name, what, name)
	return nil
}

// readSecret returns the value of a secret: from a file, a person at a terminal, or stdin.
func readSecret(cmd *cobra.Command, name, file string, asJSON bool) (string, error) {
	var data []byte
	screen := screenOf(cmd)
	switch {
	case file != "":
		content, _, err := safefile.Read(file, keyring.MaxSecret+1)
		if err != nil {
			return "", invalidSecret("The file with the secret cannot be read: " + err.Error())
		}
		data = content
	case asJSON && tty.IsInteractive(cmd.ErrOrStderr()):
		return "", &toolbox.Error{
			Code:    toolbox.AnswerNeeded,
			Message: "Nothing was changed: --json does not ask",
			Hint:    "Give the value on stdin, or name a file with --from-file.",
		}
	case screen.IsInteractive():
		typed, err := screen.Secret(cmd.Context(), fmt.Sprintf("Value of '%s'? (it is not shown)", name))
		if err != nil {
			return "", err
		}
		data = []byte(typed)
	default:
		content, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), keyring.MaxSecret+2))
		if err != nil {
			return "", invalidSecret("The secret cannot be read from stdin: " + err.Error())
		}
		data = content
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case value == "":
		return "", invalidSecret("The secret is empty, and was not stored")
	case len(value) > keyring.MaxSecret:
		return "", invalidSecret(fmt.Sprintf("The secret is larger than %d KiB, and was not stored", keyring.MaxSecret>>10))
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "", invalidSecret("The secret is not text in UTF-8, and was not stored; encode it, for example as Base64")
	}
	return value, nil
}

func invalidSecret(message string) error {
	return &toolbox.Error{Code: toolbox.SecretInvalid, Message: message, Hint: "Give the value on stdin, in a terminal, or with --from-file."}
}

func secretsUnusable(err error) error {
	switch {
	case errors.Is(err, keyring.ErrTooMany):
		return &toolbox.Error{
			Code:    toolbox.SecretInvalid,
			Message: fmt.Sprintf("There are %d secrets already, and there cannot be more", keyring.MaxSecrets),
			Hint:    "Remove some: mcp-workbench secret list",
			Cause:   err,
		}
	case errors.Is(err, keyring.ErrTooBig):
		return &toolbox.Error{Code: toolbox.SecretInvalid, Message: "The secret is larger than this system's keyring takes", Hint: "Keep it in a file that only you can read, and name it by ${file:PATH}.", Cause: err}
	}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known
	}
	return &toolbox.Error{
		Code:    toolbox.KeyringUnusable,
		Message: "The system's keyring cannot be used: " + err.Error(),
		Hint:    "Unlock it or start its service. On a machine without one, name secrets by ${file:PATH}, ${exec:COMMAND} or ${credential:NAME}.",
		Cause:   err,
	}
}

func unknownSecret(book *keyring.Book, name string) error {
	hint := "See: mcp-workbench secret list"
	if names, err := book.Names(); err == nil {
		if near := toolbox.Nearest(name, names, 1); len(near) > 0 {
			hint = "Did you mean '" + near[0] + "'?"
		}
	}
	return &toolbox.Error{Code: toolbox.SecretNotFound, Message: fmt.Sprintf("There is no secret '%s' in the keyring", name), Hint: hint}
}

// secretName is a secret in JSON, without its value.
type secretName struct {
	Name string `json:"name"`
}

func writeSecrets(cmd *cobra.Command, names []string) error {
	secrets := []secretName{}
	for _, name := range names {
		secrets = append(secrets, secretName{name})
	}
	return writeJSON(cmd, struct {
		Secrets []secretName `json:"secrets"`
	}{secrets})
}

func listSecrets(screen *tty.Screen, names []string) {
	if len(names) == 0 {
		fmt.Fprintln(screen, "There are no secrets. To put one into the keyring: mcp-workbench secret set NAME")
		return
	}
	rows := make([][]tty.Cell, len(names))
	for i, name := range names {
		rows[i] = []tty.Cell{{Text: name, Style: tty.Name}}
	}
	screen.Table([]string{"NAME"}, rows)
}
