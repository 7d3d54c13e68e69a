package app

import (
	"encoding/json"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/tokencost"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// maxShownName bounds the text of a name or a title in a list, in bytes. A server may send any.
const maxShownName = 1 << 10

// Tools implements control.Trier.
func (i Inspector) Tools(query control.ToolQuery) (control.ToolPage, error) {
	page := control.ToolPage{Tools: []control.ToolRow{}, Offset: query.Offset}
	if query.Query != "" {
		i.search(query, &page)
		return page, nil
	}
	caller := i.caller()
	for _, box := range i.App.view(front.Audience{}).Toolboxes() {
		for _, server := range box.Servers {
			if query.Toolbox != "" && query.Toolbox != box.Name || query.Server != "" && query.Server != server.Name() {
				continue
			}
			known := server.Offered().For(caller)
			if known == nil {
				page.Unknown = append(page.Unknown, box.Name+"/"+server.Name())
				continue
			}
			first := page.Total
			page.Total += known.Count()
			for at := max(first, query.Offset); at < min(page.Total, query.Offset+query.Limit); at++ {
				page.Tools = append(page.Tools, i.row(server, known.At(at-first), caller))
			}
		}
	}
	return page, nil
}

// search fills a page with what a search finds.
func (i Inspector) search(query control.ToolQuery, page *control.ToolPage) {
	caller := i.caller()
	result := i.App.front.Surface(front.Audience{Caller: caller}).Search(metatool.Search{
		Query: query.Query, Toolbox: query.Toolbox, Server: query.Server, Caller: caller, Offset: query.Offset, Limit: query.Limit,
	})
	page.Total, page.Doubtful = result.Total, result.Doubtful
	for _, found := range result.Found {
		row := i.row(found.Server, catalog.Listed{Tool: found.Tool}, caller)
		row.Score, row.Reasons = found.Score, i.reasons(found.Reasons)
		page.Tools = append(page.Tools, row)
	}
}

func (i Inspector) reasons(found []search.Reason) []control.Reason {
	reasons := make([]control.Reason, len(found))
	for n, r := range found {
		reasons[n] = control.Reason{Word: i.App.Mask(r.Word), Found: i.App.Mask(r.Found), Field: r.Field, How: string(r.How), Share: r.Share}
	}
	return reasons
}

// caller is who the clients of the workbench are to the rules of the policy. Those over HTTP have their tokens, and are
// shown as if no rule named them.
func (i Inspector) caller() string {
	switch i.Serving {
	case control.Shared:
		return config.CallerShared
	case "http":
		return ""
	}
	return config.CallerStdio
}

// row describes a tool in a list.
func (i Inspector) row(server *fleet.Server, listed catalog.Listed, caller string) control.ToolRow {
	a, tool := i.App, listed.Tool
	ref := toolbox.Ref{Toolbox: server.Toolbox(), Server: server.Name(), Name: tool.Name}
	row := control.ToolRow{
		Toolbox: ref.Toolbox, Server: ref.Server, Name: tool.Name, Title: a.shown(titleOf(tool)), Tokens: tokencost.Estimate(string(tool.Definition.Bytes())),
		Changed: tool.Changed, ReadOnly: a.reads(ref, tool), Doubted: tool.HintsDoubted,
	}
	row.Destructive = !row.ReadOnly && (tool.HintsDoubted || tool.Hints().Destructive)
	description, _ := tool.Definition.Member("description").Text()
	row.Line = a.Mask(metatool.OneLine(description))
	switch {
	case listed.Withheld != "":
		row.Withheld = listed.Withheld
	case listed.Denied:
		reason, _ := a.policy.Load().Denial(&policy.Query{Caller: caller, Ref: ref, Tool: tool.Definition, HintsDoubted: tool.HintsDoubted})
		row.Withheld = reason.String()
	}
	return row
}

func titleOf(tool catalog.Tool) string {
	title, _ := tool.Definition.Member("title").Text()
	if title == "" {
		title, _ = tool.Definition.Member("annotations").Member("title").Text()
	}
	return title
}

// shown masks a text, and cuts it if it is very long.
func (a *App) shown(text string) string { return a.Mask(toolbox.Clip(text, maxShownName)) }

// Tool implements control.Trier.
func (i Inspector) Tool(box, server, tool string) (detail control.ToolDetail, err error) {
	found, err := i.server(box, server)
	if err != nil {
		return detail, err
	}
	caller := i.caller()
	known := found.Offered().For(caller)
	listed, ok := known.Lookup(tool)
	if !ok {
		return detail, control.NoSuchTool(box, server, tool)
	}
	detail = control.ToolDetail{ToolRow: i.row(found, listed, caller), Signature: i.App.Mask(listed.Signature()), Definition: i.App.maskJSON(listed.Definition.Bytes())}
	for _, warning := range known.WarningsAbout(tool) {
		detail.Warnings = append(detail.Warnings, i.App.Mask(warning))
	}
	for _, one := range i.App.meter.Read(box, server, time.Now()).Requests {
		if one.Tool == tool {
			detail.Counts = one.Counts
		}
	}
	return detail, nil
}

// maskJSON masks the secrets in JSON.
func (a *App) maskJSON(value []byte) json.RawMessage {
	if masked := []byte(a.Mask(string(value))); json.Valid(masked) {
		return masked
	}
	return json.RawMessage(`{}`) // a secret is a part of its structure
}
