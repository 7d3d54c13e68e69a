package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/ledger"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/policycheck"
)

func newPolicy(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show the policy, explain and test its verdicts",
		Long: `Show the policy in force: its files, and how many of the known tools it hides from whom. The
commands below explain a verdict rule by rule, test a policy with cases, suggest one, and accept
changed hints of tools. None of them calls a tool.`,
		Example: `  mcp-workbench policy
  mcp-workbench policy explain dev/files/write path=/etc/passwd
  mcp-workbench policy test cases.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.newConsole(cmd, aloneFlag{alone: true})
			if err != nil {
				return err
			}
			known, err := c.CachedDefinitions(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd, policycheck.NewSummary(c.Config, known))
			}
			policycheck.Summarize(c.Out, c.Config, known)
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	cmd.AddCommand(newPolicyExplain(g), newPolicyTest(g), newPolicySuggest(g), newPolicyAccept(g))
	return cmd
}

func newPolicyExplain(g *globals) *cobra.Command {
	var asJSON bool
	var how aloneFlag
	caller := config.CallerStdio
	cmd := &cobra.Command{
		Use:   "explain TOOL [ARGUMENTS…]",
		Short: "Explain how each rule judges a call",
		Long: `Explain how each rule of each file judges a call of a tool: whether it is about the call and
why, what it requires, and the verdict. The tool is not called, and nothing counts as a call.

TOOL and ARGUMENTS are as for 'call'. Definitions come from the cache: only a server that was
never connected is started. The exit status does not depend on the verdict.`,
		Example: `  mcp-workbench policy explain dev/files/write path=/etc/passwd
  mcp-workbench policy explain db/query '{"sql": "select 1"}' --caller token:ci
  mcp-workbench policy explain delete_repo --json | jq -r .verdict`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{err: errors.New("explain takes TOOL, the name of a tool, and its arguments")}
			}
			if wrong := config.CheckCaller(caller); wrong != "" {
				return &usageError{err: errors.New("--caller " + wrong)}
			}
			return nil
		},
		ValidArgsFunction: completion.Call(&g.Loader),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			return explainCall(cmd, c, args, caller, asJSON)
		},
	}
	cmd.Flags().StringVar(&caller, "caller", caller, "who calls: stdio, shared, terminal, http, token:NAME, person:SUBJECT or certificate:NAME")
	addJSONFlag(cmd, &asJSON, "write JSON")
	completion.Register(cmd, "caller", cobra.FixedCompletions([]cobra.Completion{
		config.CallerStdio, config.CallerShared, config.CallerTerminal, config.CallerHTTP, config.CallerToken, config.CallerPerson, config.CallerCertificate,
	}, cobra.ShellCompDirectiveNoFileComp))
	how.define(cmd)
	return cmd
}

func explainCall(cmd *cobra.Command, c *console.Console, args []string, caller string, asJSON bool) error {
	known, err := c.DefinitionsFor(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	tool, err := known.Find(args[0])
	if err != nil {
		_ = c.PrintUnreachable(known) // err says it, too
		return err
	}
	arguments, err := c.Arguments(tool, console.CallOptions{Words: args[1:], Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	q := &policy.Query{
		Caller: caller, Ref: tool.Ref, Tool: tool.Tool.Definition, HintsDoubted: tool.Tool.HintsDoubted,
		Arguments: wire.Raw(arguments), Folder: tool.Folder, Others: tool.NamedFolders,
	}
	rules, counter := policy.New(c.Config), ledger.New(config.StateDir())
	if asJSON {
		return policycheck.ExplainJSON(c.Out, rules, q, counter)
	}
	policycheck.Explain(c.Out, rules, q, counter)
	return nil
}

func newPolicyTest(g *globals) *cobra.Command {
	var asJSON bool
	var how aloneFlag
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Test the policy with the cases of a file",
		Long: `Judge the calls in a file, and compare the verdicts with the expected ones. Cases with another
verdict are shown with what decided, and the exit status is 1 if there are any. No tool is
called. FILE is JSON, and may have comments:

  {"cases": [{
    "caller": "stdio",  // shared, terminal, http, token:NAME, person:SUBJECT, certificate:NAME
    "history": [{"tool": "dev/chat/post"}],  // for limits
    "tool": "dev/chat/post",
    "arguments": {"text": "hello"},
    "verdict": "allow"  // or ask, deny
  }]}

Only tool and verdict are required. Definitions come from the cache: only servers that were
never connected are started.`,
		Example: `  mcp-workbench policy test cases.json
  mcp-workbench policy test cases.json --json | jq .differ`,
		Args: exactly("FILE, the cases"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cases, err := config.ReadPolicyCases(args[0])
			if err != nil {
				return err
			}
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			return testPolicy(cmd, c, args[0], cases, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	how.define(cmd)
	return cmd
}

func testPolicy(cmd *cobra.Command, c *console.Console, file string, cases []config.PolicyCase, asJSON bool) error {
	known := &console.Definitions{}
	if names := policycheck.NamesIn(cases); len(names) > 0 {
		var err error
		if known, err = c.DefinitionsFor(cmd.Context(), names...); err != nil {
			return err
		}
	}
	found, err := policycheck.NewCases(file, cases, known)
	if err != nil {
		return errors.Join(c.PrintUnreachable(known), err)
	}
	return found.Test(c.Out, policy.New(c.Config), asJSON)
}

func newPolicySuggest(g *globals) *cobra.Command {
	var how aloneFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Suggest a policy from what the tools declare",
		Long: `Write a policy to start from, as JSON with comments for the top of a configuration file: it asks
about tools that say they are destructive, and about paths outside of the project where every
call has one, and denies nothing. Guesses and other paths are comments. No file is changed.

Definitions come from the cache: only servers that were never connected are started.`,
		Example: `  mcp-workbench policy suggest
  mcp-workbench policy suggest --json | jq .policy.rules`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.newConsole(cmd, how)
			if err != nil {
				return err
			}
			known, err := c.DefinitionsFor(cmd.Context())
			if err != nil {
				return err
			}
			if err := c.PrintUnreachable(known); err != nil {
				return err
			}
			if asJSON {
				return policycheck.SuggestJSON(cmd.OutOrStdout(), c.Config, known.All(), config.UserPath(os.Getenv))
			}
			policycheck.Suggest(c.Out, c.Config, known.All(), config.UserPath(os.Getenv))
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON, without the comments")
	how.define(cmd)
	return cmd
}
