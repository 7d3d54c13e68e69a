package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

func newTokens(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "tokens [TOOLBOX]",
		Short: "Estimate what tools cost of a model's context",
		Long: `Estimate how many tokens the definitions of each toolbox, server and tool are, in full
and in brief, and what the workbench saves against listing all of them. Servers of
which nothing is known yet are connected for it.`,
		Example: `  mcp-workbench tokens
  mcp-workbench tokens dev`,
		ValidArgsFunction: completeOne(completeToolboxes(g)),
		Args:              atMostOne("one toolbox"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTokens(cmd.Context(), *g, strings.Join(args, ""), cmd.OutOrStdout(), os.Stderr)
		},
	}
}

func runTokens(ctx context.Context, g globals, name string, out, stderr io.Writer) (err error) {
	cfg, log, err := g.loadForTerminal(ctx, out, stderr)
	if err != nil {
		return err
	}
	cfg.ToolMode = config.Proxy // which is what the others are compared with
	workbench, err := app.New(app.Options{Config: cfg, Version: Version, StateDir: stateDir(), Log: log, Toolbox: name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	known := workbench.Known(ctx, app.KnownOptions{Capabilities: app.ByPerson})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	instructions, tools := workbench.Shown()
	bill := newBill(known, cfg.Discovery.Pinned)
	bill.instructions = estimateTokens(instructions)
	for _, tool := range tools {
		bill.ours = append(bill.ours, estimateTokens(string(tool)))
	}
	bill.print(out)
	return nil
}

// cost is what definitions cost, in estimated tokens.
type cost struct{ full, brief int }

func (c *cost) add(other cost) {
	c.full += other.full
	c.brief += other.brief
}

// line is a toolbox, a server or a tool with its cost.
type line struct {
	depth int
	name  string
	cost
	tools int   // of a toolbox or server
	err   error // why nothing is known of a server
}

// bill is what all definitions cost.
type bill struct {
	lines        []*line
	all          cost
	tools        int
	missing      int // servers of which nothing is known
	pinned       int // tokens of tools that are listed natively
	ours         []int
	instructions int
}

func newBill(known []app.KnownServer, pinned []toolbox.Ref) *bill {
	b := &bill{}
	var box *line
	for i, offer := range known {
		if i == 0 || offer.Toolbox != known[i-1].Toolbox {
			box = &line{name: offer.Toolbox}
			b.lines = append(b.lines, box)
		}
		server := &line{depth: 1, name: offer.Server, tools: len(offer.Tools), err: offer.Err}
		b.lines = append(b.lines, server)
		if offer.Err != nil {
			b.missing++
		}
		for _, tool := range offer.Tools {
			c := costOf(offer.Server, tool)
			b.lines = append(b.lines, &line{depth: 2, name: tool.Name, cost: c})
			server.add(c)
			for _, ref := range pinned {
				if ref == (toolbox.Ref{Toolbox: offer.Toolbox, Server: offer.Server, Name: tool.Name}) {
					b.pinned += c.full
				}
			}
		}
		box.add(server.cost)
		box.tools += server.tools
		b.all.add(server.cost)
		b.tools += server.tools
	}
	return b
}

func costOf(server string, tool catalog.Tool) cost {
	return cost{
		full:  estimateTokens(string(tool.Definition.Bytes())),
		brief: estimateTokens(string(metatool.BriefTool(server, tool))),
	}
}

func (b *bill) print(out io.Writer) {
	fmt.Fprint(out, "Estimated tokens of definitions: by a rule of thumb, not by a model's own tokenizer.\n\n")
	fmt.Fprintf(out, "%9s %9s\n", "in full", "in brief")
	for _, l := range b.lines {
		name := strings.Repeat("  ", l.depth) + l.name
		switch {
		case l.err != nil:
			fmt.Fprintf(out, "%9s %9s  %s: not known: %v\n", "?", "?", name, l.err)
		case l.depth == 2:
			fmt.Fprintf(out, "%9s %9s  %s\n", thousands(l.full), thousands(l.brief), name)
		default:
			fmt.Fprintf(out, "%9s %9s  %s (%s)\n", thousands(l.full), thousands(l.brief), name, count(l.tools, "tool", "tools"))
		}
	}
	start := b.instructions + b.pinned
	for _, tokens := range b.ours {
		start += tokens
	}
	fmt.Fprintf(out, "\nListing all %s directly: %s tokens\n", count(b.tools, "tool", "tools"), thousands(b.all.full))
	fmt.Fprintf(out, "Through the workbench, at the start: %s tokens: %s of its own %s, instructions %s",
		thousands(start), count(len(b.ours), "tool", "tools"), thousands(start-b.instructions-b.pinned), thousands(b.instructions))
	if b.pinned > 0 {
		fmt.Fprintf(out, ", pinned tools %s", thousands(b.pinned))
	}
	fmt.Fprintln(out)
	switch saved := b.all.full - start; {
	case b.all.full == 0:
	case saved > 0:
		fmt.Fprintf(out, "Saved at the start: %s tokens, %d %%. Opening a toolbox adds what is listed for it above.\n", thousands(saved), 100*saved/b.all.full)
	default:
		fmt.Fprintf(out, "Nothing is saved at the start: the tools are few. %s\n", `"toolMode": "direct" offers them as they are.`)
	}
	if b.missing > 0 {
		fmt.Fprintf(out, "Not counted: %s that could not be connected.\n", count(b.missing, "server", "servers"))
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
