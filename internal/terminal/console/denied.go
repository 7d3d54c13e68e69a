package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// This file handles tools denied by the policy. They are not listed, but naming one explains why.

// deniedByName returns an error if the policy denies the named tool, whichever server it belongs to: no server has to
// be connected then.
func (c *Console) deniedByName(ref string, servers []place) (first error) {
	for _, at := range servers {
		shown := ref // ambiguous
		if len(servers) == 1 {
			shown = at.String() + "/" + toolName(ref, at)
		}
		denied := c.deniedTool(at, toolName(ref, at), shown)
		if denied == nil {
			return nil
		}
		first = cmp.Or(first, denied)
	}
	return first
}

// deniedAmong returns an error if a reference names a tool of these servers in the cache that is denied, which may depend on its
// definition.
func (c *Console) deniedAmong(ctx context.Context, ref string, servers []place) error {
	rules := policy.New(c.Config)
	if rules == nil {
		return nil
	}
	known, err := app.Remembered(ctx, c.withoutPolicy().Config, c.StateDir)
	if err != nil {
		return err
	}
	for _, tool := range (&Definitions{known: known}).All() {
		at := place{tool.Ref.Toolbox, tool.Ref.Server}
		if !slices.Contains(servers, at) || toolName(ref, at) != tool.Ref.Name && ref != tool.Ref.Name {
			continue
		}
		if denial, isDenied := rules.Denial(queryOf(tool)); isDenied {
			return deniedError(at.String()+"/"+tool.Ref.Name, tool.Ref, denial)
		}
	}
	return nil
}

// queryOf asks the policy about a tool, called by this command.
func queryOf(tool Definition) *policy.Query {
	return &policy.Query{
		Caller: config.CallerTerminal, Ref: tool.Ref, Tool: tool.Tool.Definition, HintsDoubted: tool.Tool.HintsDoubted, Folder: tool.Folder, Others: tool.NamedFolders,
	}
}

// toolName returns the tool's name in a reference if that is about the server.
func toolName(ref string, at place) string {
	for _, prefix := range []string{at.String() + "/", at.Server + "/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok && name != "" {
			return name
		}
	}
	return ref
}

// deniedTool returns why a tool is denied whatever its definition is, or nil. shown is its name in the message.
func (c *Console) deniedTool(at place, name, shown string) error {
	ref := toolbox.Ref{Toolbox: at.Toolbox, Server: at.Server, Name: name}
	denial, isDenied := policy.New(c.Config).Denial(queryOf(Definition{Ref: ref}))
	if !isDenied {
		return nil
	}
	return deniedError(shown, ref, denial)
}

// denied is the cause of the error that a tool is denied.
type denied struct {
	ref    toolbox.Ref
	reason policy.Reason
}

func (d *denied) Error() string { return "the tool " + d.reason.String() }

// recordDenied lets a workbench refuse the call of a tool that is denied, so that it is recorded as those of other clients are. The
// workbench refuses everything: whatever the rules are by now, nothing is run. Arguments were not made.
func (c *Console) recordDenied(ctx context.Context, d *denied) (err error) {
	workbench, err := app.New(app.Options{
		Config: restrictTo(c.Config, []place{{d.ref.Toolbox, d.ref.Server}}), Version: c.Version, StateDir: c.StateDir, Log: c.Log,
		Refusal: &call.Failure{Message: "it " + d.reason.String(), Rule: d.reason.Where()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	client, err := c.connect(ctx, c.Config, workbench.ServeTerminal, Handlers{})
	if err != nil {
		return err
	}
	_, err = client.Call(ctx, "use_tool", useTool(d.ref, nil))
	return errors.Join(err, client.Close())
}

func deniedError(shown string, ref toolbox.Ref, denial policy.Reason) error {
	return &toolbox.Error{
		Code:    toolbox.ToolDenied,
		Message: fmt.Sprintf("The tool '%s' %s", shown, denial),
		Hint: "To allow it, change the rule. To see how all rules judge it: " +
			trust.Quote("mcp-workbench", "policy", "explain", shown, "--caller", config.CallerTerminal),
		Cause: &denied{ref, denial},
	}
}

// judgedBefore says what the policy does with calls of a tool; "" if it allows all.
func (c *Console) judgedBefore(e entry) string {
	tool := Definition{Ref: toolbox.Ref{Toolbox: e.Toolbox, Server: e.Server, Name: e.tool.Name}, Tool: e.tool}
	judged := policy.New(c.Config).Judge(queryOf(tool))
	switch {
	case judged.Verdict == config.Allow:
		return ""
	case judged.Reason.Unmet != "":
		return "it depends on the arguments (" + judged.Reason.Where() + ")"
	case judged.Verdict == config.Ask:
		return "a person is asked before each call (" + judged.Reason.Where() + ")"
	}
	return "the tool " + judged.Reason.String()
}
