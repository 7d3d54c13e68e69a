package tokencost

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Server is a server with what is known of its tools.
type Server struct {
	Toolbox, Server string
	Tools           []catalog.Tool
	Instructions    string
	Err             error // why its tools are unknown
}

// Shown is what a client receives of the workbench itself.
type Shown struct {
	Instructions string
	MetaTools    [][]byte // definitions of the workbench's own tools
	// OpenAnswer returns the answer of open_toolbox, in brief or in full.
	OpenAnswer func(box, description string, offers []metatool.Offer, brief bool) string
}

// Tokens estimates the number of tokens of the instructions and of the workbench's own tools.
func (s Shown) Tokens() (instructions int, metaTools []int) {
	for _, tool := range s.MetaTools {
		metaTools = append(metaTools, Estimate(string(tool)))
	}
	return Estimate(s.Instructions), metaTools
}

// Opened estimates the number of tokens of the answer of open_toolbox, in full and in brief.
func (s Shown) Opened(box, description string, offers []metatool.Offer) (full, brief int) {
	if len(offers) == 0 {
		return 0, 0
	}
	return Estimate(s.OpenAnswer(box, description, offers, false)), Estimate(s.OpenAnswer(box, description, offers, true))
}

// cost is the estimated number of tokens of definitions.
type cost struct{ full, brief int }

func (c *cost) add(other cost) {
	c.full += other.full
	c.brief += other.brief
}

// line is the cost of a toolbox, a server or a tool.
type line struct {
	depth int
	name  string
	cost
	tools int   // of a toolbox or server
	err   error // why a server's tools are unknown
}

// Bill is the cost of all definitions.
type Bill struct {
	lines        []*line
	listed       int  // tokens of all definitions as listed by servers
	opened       cost // of all toolboxes
	boxes, tools int
	missing      int // servers whose tools are unknown
	pinned       int // tokens of tools listed natively
	ours         []int
	instructions int
	brief        bool // open_toolbox returns brief listings by default
}

// NewBill estimates the cost of all tools of a configuration, and of the instructions and tools that a
// client sees at the start.
func NewBill(servers []Server, cfg *config.Config, shown Shown) *Bill {
	b := &Bill{brief: cfg.Discovery.OpenBrief}
	b.instructions, b.ours = shown.Tokens()
	for _, box := range cfg.Toolboxes {
		var inside []Server
		for _, server := range servers {
			if server.Toolbox == box.Name {
				inside = append(inside, server)
			}
		}
		if len(inside) > 0 {
			b.addToolbox(box, inside, cfg.Discovery.Pinned, shown)
		}
	}
	return b
}

// addToolbox adds the lines of a toolbox. Opening it costs more than the sum of its tools: the result also contains the
// instructions of the servers and its own structure.
func (b *Bill) addToolbox(box config.Toolbox, servers []Server, pinned []toolbox.Ref, shown Shown) {
	total := &line{name: box.Name}
	b.lines = append(b.lines, total)
	var offers []metatool.Offer
	for _, known := range servers {
		server := &line{depth: 1, name: known.Server, tools: len(known.Tools), err: known.Err}
		b.lines = append(b.lines, server)
		total.tools += server.tools
		if known.Err != nil {
			b.missing++
			continue
		}
		offers = append(offers, metatool.Offer{Server: known.Server, Tools: known.Tools, Instructions: known.Instructions})
		for _, tool := range known.Tools {
			definition := Estimate(string(tool.Definition.Bytes()))
			b.listed += definition
			if slices.Contains(pinned, toolbox.Ref{Toolbox: box.Name, Server: known.Server, Name: tool.Name}) {
				b.pinned += definition
			}
			c := cost{
				full:  Estimate(metatool.OpenTool(box.Name, known.Server, tool, false)),
				brief: Estimate(metatool.OpenTool(box.Name, known.Server, tool, true)),
			}
			b.lines = append(b.lines, &line{depth: 2, name: tool.Name, cost: c})
			server.add(c)
		}
	}
	total.full, total.brief = shown.Opened(box.Name, box.Description, offers)
	b.opened.add(total.cost)
	b.boxes++
	b.tools += total.tools
}

// Print writes the bill.
func (b *Bill) Print(screen *tty.Screen) {
	out := tty.Cleaned(screen)
	fmt.Fprintln(out, screen.Wrap("Estimated tokens: by a rule of thumb, not by a model's own tokenizer. The line of a toolbox is what "+
		"opening it costs: its tools, the instructions of its servers, and the rest of the answer.", 0)+"\n")
	fmt.Fprintf(out, "%9s %9s\n", "in full", "in brief")
	for _, l := range b.lines {
		name := strings.Repeat("  ", l.depth) + l.name
		switch {
		case l.err != nil:
			fmt.Fprintf(out, "%9s %9s  %s: not known: %v\n", "?", "?", name, l.err)
		case l.depth == 2:
			fmt.Fprintf(out, "%9s %9s  %s\n", thousands(l.full), thousands(l.brief), name)
		default:
			fmt.Fprintf(out, "%9s %9s  %s (%s)\n", thousands(l.full), thousands(l.brief), name, toolbox.Count(l.tools, "tool", "tools"))
		}
	}
	var sums strings.Builder
	b.printSums(&sums)
	fmt.Fprint(out, screen.Wrap(sums.String(), 0))
}

// start returns the tokens that a client pays at the start: our tools, the instructions and pinned tools.
func (b *Bill) start() int {
	start := b.instructions + b.pinned
	for _, tokens := range b.ours {
		start += tokens
	}
	return start
}

// Sentence says in one line what the tools cost a client directly and through the workbench.
func (b *Bill) Sentence() string {
	start := b.start()
	text := fmt.Sprintf("Listed directly, %s would cost a client about %s tokens of context; through the workbench it starts with %s",
		toolbox.Count(b.tools, "tool", "tools"), thousands(b.listed), thousands(start))
	switch saved := b.listed - start; {
	case b.tools == 0:
		return fmt.Sprintf("Through the workbench, a client starts with about %s tokens of context, whatever the number of tools.", thousands(start))
	case saved > 0:
		text += fmt.Sprintf(": %d %% less.", 100*saved/b.listed)
	default:
		text += ", which hardly grows with the servers that you add."
	}
	return text
}

func (b *Bill) printSums(out io.Writer) {
	start := b.start()
	fmt.Fprintf(out, "\nListing all %s directly: %s tokens\n", toolbox.Count(b.tools, "tool", "tools"), thousands(b.listed))
	fmt.Fprintf(out, "Through the workbench, at the start: %s tokens: %s of its own %s, instructions %s",
		thousands(start), toolbox.Count(len(b.ours), "tool", "tools"), thousands(start-b.instructions-b.pinned), thousands(b.instructions))
	if b.pinned > 0 {
		fmt.Fprintf(out, ", pinned tools %s", thousands(b.pinned))
	}
	fmt.Fprintln(out)
	switch saved := b.listed - start; {
	case b.listed == 0:
	case saved > 0:
		fmt.Fprintf(out, "Saved at the start: %s tokens, %d %%.\n", thousands(saved), 100*saved/b.listed)
	default:
		fmt.Fprintf(out, "Nothing is saved at the start: there are only a few tools. %s\n", `"toolMode": "direct" offers them as they are.`)
	}
	how := `in full here ("openDetail": "brief" changes that)`
	if b.brief {
		how = `in brief here ("openDetail")`
	}
	fmt.Fprintf(out, "Opening %s: %s tokens in full, %s in brief. open_toolbox answers %s.\n",
		toolbox.Count(b.boxes, "toolbox", "toolboxes"), thousands(b.opened.full), thousands(b.opened.brief), how)
	if b.missing > 0 {
		fmt.Fprintf(out, "Not counted: %s that could not be connected.\n", toolbox.Count(b.missing, "server", "servers"))
	}
}

// thousands formats a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
