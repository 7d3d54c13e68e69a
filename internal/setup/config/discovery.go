package config

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Discovery is how clients find tools, and how much of an answer they get at once.
type Discovery struct {
	Search         bool          // offers find_tools
	AutoOpen       bool          // every toolbox counts as open
	OpenBrief      bool          // open_toolbox answers in brief where the call does not say how
	MaxResultBytes int           // of what is larger, clients get the head; 0: no limit
	Pinned         []toolbox.Ref // tools that are also offered natively, in order
}

var searchKey = key{
	name: "search", kinds: []kind{kindBoolean}, fallback: "true",
	description: "Offers the tool find_tools, which searches the tools of all toolboxes. It is not there in direct mode.",
}

var autoOpenKey = key{
	name: "autoOpen", kinds: []kind{kindBoolean}, fallback: "false",
	description: "Lets use_tool run tools of toolboxes that were not opened: only the server that the call is for is started. Clients that make one call and leave need it. It has no effect in direct mode.",
}

var openDetailKey = key{
	name: "openDetail", kinds: []kind{kindString}, enum: []string{"full", "brief"}, fallback: `"full"`,
	description: "How open_toolbox describes tools where the call does not say it: \"full\" with the servers' own definitions, \"brief\" with a signature and a line of description each. The full definition of single tools is available on request.",
}

var resultsKey = key{
	name: "results", kinds: []kind{kindObject}, members: &resultsObject, example: `{"maxBytes": "32KiB"}`,
	description: "What becomes of large results of tools. Without it they are passed on as they are. It has no effect in direct mode.",
}

var resultsObject = object{keys: []key{{
	name: "maxBytes", kinds: []kind{kindInteger, kindString}, check: checkResultSize, pattern: sizePattern, example: `"32KiB"`,
	description: "The largest result that is passed on whole, in bytes or with a unit such as \"32KiB\"; from 4KiB to 1GiB. A larger one is kept for a while: the client gets its head and reads on with read_result.",
}}}

var pinnedKey = key{
	name: "pinned", kinds: []kind{kindArray}, nonEmpty: true, check: checkPinned, pattern: `^[^/].*/.+/.+|\$\{`, example: `["dev/files/read_file"]`,
	description: "Tools that are offered natively beside open_toolbox and use_tool, each as \"toolbox/server/tool\". It has no effect in direct mode, which offers all.",
}

// checkResultSize refuses limits so small that what stands for a result is no smaller.
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

// splitPinned returns the parts of a pinned tool; there are three unless one is missing.
func splitPinned(text string) []string {
	parts := strings.SplitN(text, "/", 3)
	for _, part := range parts {
		if part == "" {
			return nil
		}
	}
	return parts
}

// discovery reads all but the pinned tools, which depend on the toolboxes.
func discovery(root *node) Discovery {
	d := Discovery{Search: true, AutoOpen: root.get("autoOpen").isTrue(), OpenBrief: root.get("openDetail").string() == "brief"}
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

// pinned finds the server of a pinned tool. Names may hold slashes themselves, so that the
// configured ones decide where a name ends. Which tools a server has is not known here.
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
	b.report.fail(n.offset, p.at, p.says("names no server that is configured"), hint)
	return toolbox.Ref{}, false
}
