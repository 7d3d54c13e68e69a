package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// show prints a result; an error result goes to stderr.
func (c *Console) show(result wire.Payload, e entry, options CallOptions) error {
	failed := &toolbox.Error{
		Code:    toolbox.ToolError,
		Message: fmt.Sprintf("Tool '%s' answered with an error", tty.CleanLine(e.Ref())),
		Hint:    "Its answer is above. Its parameters: mcp-workbench show " + e.Ref(),
	}
	if refused := c.notApproved(e, result); refused != nil {
		failed = refused
		if !options.JSON {
			return failed
		}
	}
	if options.JSON {
		if _, err := fmt.Fprintf(c.Out.Writer, "%s\n", tty.EscapeJSON(result.Bytes())); err != nil {
			return err
		}
		if isError(result) {
			failed.Hint = ""
			return failed
		}
		return nil
	}
	to := c.Out
	if isError(result) {
		to = c.Err
	}
	p := presenter{screen: to, files: folder{path: options.Folder}, name: e.tool.Name}
	if err := p.present(result); err != nil {
		return err
	}
	if p.blocks == 0 {
		fmt.Fprintln(c.Err, "The tool answered without content.")
	}
	if isError(result) {
		return failed
	}
	return nil
}

// notApproved is the error for the result of a call that the policy did not let pass, since nobody approved it; nil for others. What the
// result says is meant for models.
func (c *Console) notApproved(e entry, result wire.Payload) *toolbox.Error {
	if !isError(result) || policy.New(c.Config) == nil {
		return nil
	}
	said, reason, found := strings.Cut(strings.Join(texts(result), "\n"), approval.NotRun)
	_, rule, isOurs := strings.Cut(said, approval.Needed)
	if !found || !isOurs {
		return nil
	}
	reason, _, _ = strings.Cut(reason, "\n")
	hint := "To see how the rules judge it: " + trust.Command(c.Config, "policy", "explain", e.Ref(), "--caller", config.CallerTerminal)
	if !c.Err.IsInteractive() {
		hint = "In a terminal, you are asked.\n" + hint
	}
	return &toolbox.Error{
		Code:    toolbox.ToolDenied,
		Message: tty.CleanLine(fmt.Sprintf("Tool '%s' was not called: it %s%s%s%s", e.Ref(), approval.Needed, rule, approval.NotRun, reason)),
		Hint:    hint,
	}
}

// presenter shows the content of a result on a screen, and saves everything but text to files.
type presenter struct {
	screen *tty.Screen
	files  folder
	name   string // of the tool
	blocks int    // printed so far
}

func (p *presenter) present(result wire.Payload) error {
	texts := 0
	for block := range result.Member("content").Elements() {
		p.blocks++
		if err := p.block(block); err != nil {
			return err
		}
		if text(block.Member("type")) == "text" {
			texts++
		}
	}
	// A server that sends both sends the same content in both.
	if structured := result.Member("structuredContent"); texts == 0 && structured.Kind() == "object" {
		p.blocks++
		p.json(structured)
	}
	return nil
}

func (p *presenter) block(block wire.Payload) error {
	switch text(block.Member("type")) {
	case "text":
		p.text(text(block.Member("text")))
		return nil
	case "image", "audio":
		return p.media(block.Member("data"), text(block.Member("mimeType")), p.name, block)
	case "resource":
		return p.resource(block.Member("resource"))
	case "resource_link":
		p.link(block)
		return nil
	default: // an unknown type
		p.json(block)
		return nil
	}
}

// text writes a text. On a terminal, control characters are made visible.
func (p *presenter) text(text string) {
	if p.screen.IsTerminal() {
		text = tty.Clean(text)
	}
	fmt.Fprintln(p.screen.Writer, strings.TrimSuffix(text, "\n"))
}

func (p *presenter) json(value wire.Payload) {
	var indented bytes.Buffer
	if json.Indent(&indented, value.Bytes(), "", "  ") != nil {
		indented.Reset()
		indented.Write(value.Bytes())
	}
	p.text(indented.String())
}

// media saves content other than text, and displays images where possible.
func (p *presenter) media(data wire.Payload, mimeType, name string, whole wire.Payload) error {
	content, ok := decoded(data)
	if !ok {
		p.json(whole) // not valid base64
		return nil
	}
	path, err := p.files.save(name, mimeType, content)
	if err != nil {
		return err
	}
	if strings.HasPrefix(mimeType, "image/") {
		p.screen.Picture(content, name)
	}
	kind := tty.CleanLine(mimeType)
	if kind == "" {
		kind = "a file"
	}
	fmt.Fprintf(p.screen, "%s %s (%s, %s)\n", p.screen.Paint(tty.Good, "Saved:"), tty.CleanLine(path), kind, size(len(content)))
	return nil
}

func decoded(data wire.Payload) ([]byte, bool) {
	encoded, ok := data.Text()
	if !ok {
		return nil, false
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	return content, err == nil
}

func (p *presenter) resource(resource wire.Payload) error {
	uri, mimeType := text(resource.Member("uri")), text(resource.Member("mimeType"))
	if blob := resource.Member("blob"); !blob.IsAbsent() {
		fmt.Fprintln(p.screen, p.screen.Paint(tty.Faint, tty.CleanLine("Resource "+uri)))
		return p.media(blob, mimeType, lastPart(uri, p.name), resource)
	}
	heading := "Resource " + uri
	if mimeType != "" {
		heading += " (" + mimeType + ")"
	}
	fmt.Fprintln(p.screen, p.screen.Paint(tty.Faint, tty.CleanLine(heading+":")))
	p.text(text(resource.Member("text")))
	return nil
}

func (p *presenter) link(link wire.Payload) {
	title := text(link.Member("title"))
	if title == "" {
		title = text(link.Member("name"))
	}
	line := p.screen.Paint(tty.Strong, tty.CleanLine(title)) + "  " + tty.CleanLine(text(link.Member("uri")))
	if mimeType := tty.CleanLine(text(link.Member("mimeType"))); mimeType != "" {
		line += " (" + mimeType + ")"
	}
	fmt.Fprintln(p.screen, line)
	if description := tty.CleanLine(text(link.Member("description"))); description != "" {
		fmt.Fprintln(p.screen, "  "+description)
	}
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return toolbox.Count(n, "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
