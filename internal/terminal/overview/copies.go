package overview

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// ReasonsOf returns how each of several copies of a server differs from the others; nil with one copy of each server.
func ReasonsOf(servers []control.Server) []string {
	var reasons []string
	for i, server := range servers {
		var copies []control.Why
		for _, other := range servers {
			if other.Ref() == server.Ref() {
				copies = append(copies, other.Why)
			}
		}
		if len(copies) < 2 {
			continue
		}
		if reasons == nil {
			reasons = make([]string, len(servers))
		}
		reasons[i] = difference(server.Why, copies)
	}
	return reasons
}

// aspects are the properties by which copies of a server differ, in the order shown.
var aspects = []func(control.Why) string{
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

// difference names the aspects of a copy that are not common to all copies.
func difference(one control.Why, copies []control.Why) string {
	var parts []string
	for _, aspect := range aspects {
		text := aspect(one)
		if text != "" && slices.ContainsFunc(copies, func(w control.Why) bool { return aspect(w) != text }) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
