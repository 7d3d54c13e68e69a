package overview

import (
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// ReasonsOf returns how each of several copies of a server differs from the others, and whose a copy is that is for one
// person; nil with one copy of each server for all.
func ReasonsOf(servers []control.Server) []string {
	type place struct {
		of     string
		aspect int
	}
	copies := make(map[string]int)
	texts := make(map[place]map[string]struct{}) // each once
	shown := make([][]string, len(servers))
	for i, server := range servers {
		copies[server.Ref()]++
		for n, aspect := range aspects {
			text, at := aspect(server.Why), place{server.Ref(), n}
			shown[i] = append(shown[i], text)
			if texts[at] == nil {
				texts[at] = make(map[string]struct{})
			}
			texts[at][text] = struct{}{}
		}
	}
	var reasons []string
	for i, server := range servers {
		if copies[server.Ref()] < 2 && server.Why.Person == "" {
			continue
		}
		if reasons == nil {
			reasons = make([]string, len(servers))
		}
		var parts []string
		for n, text := range shown[i] {
			if text != "" && (n == ofPerson || len(texts[place{server.Ref(), n}]) > 1) {
				parts = append(parts, text)
			}
		}
		reasons[i] = strings.Join(parts, ", ")
	}
	return reasons
}

// ofPerson is the aspect that is told of a single copy as well.
const ofPerson = 0

// aspects are the properties by which copies of a server differ, in the order shown.
var aspects = []func(control.Why) string{
	func(w control.Why) string { return labelled("person", w.Person) },
	func(w control.Why) string { return labelled("folder", w.Folder) },
	func(w control.Why) string {
		if w.Roots != nil && len(w.Roots) == 0 {
			return "no roots"
		}
		return labelled("roots", strings.Join(w.Roots, " "))
	},
	func(w control.Why) string {
		if len(w.Capabilities) == 0 {
			return "no capabilities"
		}
		return labelled("capabilities", strings.Join(w.Capabilities, " "))
	},
	func(w control.Why) string { return labelled("command", w.Command) },
	func(w control.Why) string { return labelled("environment", strings.Join(w.Environment, " ")) },
	func(w control.Why) string { return labelled("era", w.Era) },
	func(w control.Why) string {
		if w.Behind == 0 {
			return ""
		}
		return labelled("behind", toolbox.Count(w.Behind, "workbench", "workbenches"))
	},
	func(w control.Why) string {
		if w.Client == "" {
			return ""
		}
		return "one client"
	},
}

func labelled(what, value string) string {
	if value == "" {
		return ""
	}
	return what + " " + value
}
