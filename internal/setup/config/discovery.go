package config

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Discovery configures how clients find tools, and how much of a result they receive at once.
type Discovery struct {
	Search         bool          // offer find_tools
	ReadTool       bool          // offer read_tool
	AutoOpen       bool          // treat every toolbox as open
	OpenBrief      bool          // default of open_toolbox: list names and summaries only
	MaxResultBytes int           // larger results are cut to their head; 0: no limit
	Pinned         []toolbox.Ref // tools that are also offered natively, in order
}

var searchKey = key{
	name: "search", kinds: []kind{kindBoolean}, fallback: "true",
	description: "Offers the tool find_tools, which searches the tools of all toolboxes. Direct mode does not have it.",
}

var readToolKey = key{
	name: "readTool", kinds: []kind{kindBoolean}, fallback: "true",
	description: "Offers the tool read_tool, which runs tools that only read, so that clients need not ask a person for these. Direct mode does not have it.",
}

var autoOpenKey = key{
	name: "autoOpen", kinds: []kind{kindBoolean}, fallback: "false",
	description: "Lets use_tool call tools of toolboxes that were not opened; a call starts only the server that it needs. Clients that connect for a single call need it. It has no effect in direct mode.",
}

var openDetailKey = key{
	name: "openDetail", kinds: []kind{kindString}, enum: []string{"full", "brief"}, fallback: `"full"`,
	description: "The default detail of open_toolbox: \"full\" returns the servers' own tool definitions, \"brief\" a signature and one line of description per tool. The full definitions of single tools are available on request.",
}

var resultsKey = key{
	name: "results", kinds: []kind{kindObject}, members: &resultsObject, example: `{"maxBytes": "32KiB"}`,
	description: "How large tool results are handled. Without it they are forwarded unchanged. It has no effect in direct mode.",
}

var resultsObject = object{keys: []key{{
	name: "maxBytes", kinds: []kind{kindInteger, kindString}, check: checkResultSize, pattern: sizePattern, example: `"32KiB"`,
	description: "The maximum size of a result that is forwarded whole, in bytes or with a unit such as \"32KiB\"; from 4KiB to 1GiB. A larger result is stored for a while: the client receives its head and reads the rest with read_result.",
}}}

var pinnedKey = key{
	name: "pinned", kinds: []kind{kindArray}, nonEmpty: true, check: checkPinned, pattern: `^[^/].*/.+/.+|\$\{`, example: `["dev/files/read_file"]`,
	description: "Tools that are also offered as native tools beside open_toolbox and use_tool, each as \"toolbox/server/tool\". It has no effect in direct mode, which offers all tools natively.",
}

// checkResultSize rejects limits below the size of the text that replaces a large result.
func checkResultSize(text string) string {
	if size, ok := parseSize(text); !ok || size < 4<<10 || size > 1<<30 {
		return `must be a number of bytes or a size such as "32KiB", from 4KiB to 1GiB`
	}
	return ""
}

func checkPinned(text string) string {
	if len(splitPinned(text)) < 3 {
		return `must name a tool as "toolbox/server/tool"`
	}
	return ""
}

// splitPinned splits a pinned tool into its three parts; fewer if one is missing.
func splitPinned(text string) []string {
	parts := strings.SplitN(text, "/", 3)
	for _, part := range parts {
		if part == "" {
			return nil
		}
	}
	return parts
}

// discovery reads everything except the pinned tools, which depend on the toolboxes.
func discovery(root *node) Discovery {
	d := Discovery{Search: true, ReadTool: !root.get("readTool").isFalse(), AutoOpen: root.get("autoOpen").isTrue(), OpenBrief: root.get("openDetail").string() == "brief"}
	if search := root.get("search"); search != nil {
		d.Search = search.isTrue()
	}
	if results := root.get("results"); results != nil {
		if size := results.get("maxBytes"); size != nil {
			d.MaxResultBytes, _ = parseSize(size.text)
		}
	}
	return d
}

func (b *builder) allPinned(root *node, boxes []Toolbox) (refs []toolbox.Ref) {
	pinned := root.get("pinned")
	if pinned == nil {
		return nil
	}
	p := rootPlace.member("pinned")
	for i := range pinned.elements {
		if ref, ok := b.pinned(&pinned.elements[i], p.element(i), boxes); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// pinned finds the server of a pinned tool. Names may contain slashes, so the configured names decide where each name
// ends. The server's tools are not known here.
func (b *builder) pinned(n *node, p place, boxes []Toolbox) (toolbox.Ref, bool) {
	if n.kind != kindString || n.unresolved || len(splitPinned(n.text)) < 3 {
		return toolbox.Ref{}, false
	}
	var known []string
	for _, box := range boxes {
		rest, inBox := strings.CutPrefix(n.text, box.Name+"/")
		for _, server := range box.Servers {
			known = append(known, box.Name+"/"+server.Name)
			if tool, ok := strings.CutPrefix(rest, server.Name+"/"); ok && inBox && tool != "" {
				b.names[tool] = true
				return toolbox.Ref{Toolbox: box.Name, Server: server.Name, Name: tool}, true
			}
		}
	}
	parts := splitPinned(n.text)
	hint := "name it as \"toolbox/server/tool\""
	if near := toolbox.Nearest(parts[0]+"/"+parts[1], known, 1); len(near) > 0 {
		hint = "did you mean " + quote(near[0]+"/"+parts[2]) + "?"
	}
	b.report.fail(n.offset, p.at, p.describe("names no server that is configured"), hint)
	return toolbox.Ref{}, false
}
