package cli

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

func newCall(g *globals) *cobra.Command {
	var options console.CallOptions
	var how aloneFlag
	var logsIn bool
	cmd := &cobra.Command{
		Use:   "call TOOL [ARGUMENTS…]",
		Short: "Call a tool and show its result",
		Long:  callHelp,
		Example: `  mcp-workbench call clock/now
  mcp-workbench call dev/files/read path=README.md
  mcp-workbench call search query=workbench limit=5 tags=go tags=mcp
  mcp-workbench call dev/git/commit @commit.json message='Fix it'
  mcp-workbench call draw text=hello --output pictures
  mcp-workbench call dev/git/status --root .
  mcp-workbench call notion/search query=plans --login
  mcp-workbench call dev/files/list --json | jq .structuredContent`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{err: errors.New("call takes TOOL, the name of a tool, and its arguments")}
			}
			if options.Timeout < 0 {
				return &usageError{err: errors.New("--timeout must be positive, such as 30s or 5m")}
			}
			return absolute(options.Roots)
		},
		ValidArgsFunction: completion.Call(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			options.Ref, options.Words, options.Stdin = args[0], args[1:], cmd.InOrStdin()
			options.LoginProblem = func(toolbox, server string) error { return loginProblem(c, toolbox+"/"+server) }
			if logsIn {
				options.Login = loginDuring(c, cmd.InOrStdin(), slices.Contains(options.Words, "-"))
			}
			return c.Call(cmd.Context(), options)
		},
	}
	addJSONFormFlag(cmd, &options.JSON, jsonForeign, "write the result as the server sent it")
	cmd.Flags().StringVar(&options.Folder, "output", "", "folder for files (default: the working folder)")
	cmd.Flags().DurationVar(&options.Timeout, "timeout", 0, "time limit of the call, such as 30s (default: the configuration's timeouts.call)")
	cmd.Flags().StringArrayVar(&options.Roots, "root", nil, "folder to give the server as a root, such as '.'; may be repeated (default: none)")
	cmd.Flags().BoolVar(&logsIn, "login", false, "sign in to the server if it needs a login, and call again")
	completion.Register(cmd, "root", completion.Folders)
	completion.Register(cmd, "output", completion.Folders)
	how.define(cmd)
	return cmd
}

const callHelp = `Call a tool and show its result. Only the server of the tool is started.

` + toolWords + `

Arguments are checked against the tool's schema before the call:
  key=value      with the type that the schema says; repeat it for a list
  a.b=value      a member of an object
  key:=JSON      any JSON
  '{"key": 1}'   a JSON object
  @file          a JSON object in a file
  -              a JSON object on stdin
Later arguments override earlier ones.

Text is printed; images, audio and other files are saved, and shown where the terminal can.
Questions of the server are asked here, and declined where nobody can answer. Ctrl-C cancels
the call. If the result is an error, it is on stderr and the exit status is 1.

A server that asks for the client's roots gets the folders of --root, and none by default:
some servers use roots instead of the folders in their configuration.

Where clients share a workbench ("shared": true in the configuration, or a client runs with
--shared), the call goes through it: the server keeps running, with its state, for the next
call. --alone starts the server for this call and stops it afterwards.

If a remote server needs a login, the tool is not called, and the error names the command
that signs in. With --login this command signs in, as 'login' does and with its steps on
stderr, and calls the tool again. At a terminal you are asked if the server wants the login
for the call itself. A browser is never opened without --login or your consent.

The tool is called without confirmation, whatever it does, unless the policy of the
configuration wants a person to be asked: 'show TOOL' shows what its server says about the
tool, and 'policy explain TOOL' what the policy says about a call.`

// absolute makes paths absolute, in place.
func absolute(folders []string) error {
	for i, folder := range folders {
		path, err := filepath.Abs(folder)
		if err != nil {
			return err
		}
		folders[i] = path
	}
	return nil
}
