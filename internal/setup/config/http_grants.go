package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Bounds of keys of http.
const (
	maxDrain        = time.Hour // longest value of http.drain; a longer one is an error
	maxPersonCount  = 100_000   // highest value of http.limits.sessions and calls; a higher one is an error
	minPersonMemory = 1 << 20   // lowest value of http.limits.memory, in bytes; a lower one is an error
	maxPersonMemory = 1 << 40   // highest value of http.limits.memory, in bytes; a higher one is an error
)

const (
	allToolboxes   = "*" // in a list of toolboxes: every one
	missingToolbox = ", which is no toolbox that is configured"
)

var personLimitsObject = object{isStrict: true, keys: []key{
	{
		name: "sessions", kinds: []kind{kindInteger}, check: checkPersonCount, example: `50`,
		description: "The number of sessions. A further one replaces the one that was idle for longest, and is refused while all are in use.",
	},
	{
		name: "calls", kinds: []kind{kindInteger}, check: checkPersonCount, example: `32`,
		description: "The number of calls in flight. The next one is refused.",
	},
	{
		name: "memory", kinds: []kind{kindInteger, kindString}, check: checkPersonMemory, pattern: sizePattern, example: `"4GiB"`,
		description: "The memory of all processes that run for the person alone, in bytes or with a unit such as \"4GiB\"; from 1MiB to 1024GiB. While more is in use, no further process is started.",
	},
}}

func personLimits(n *node) PersonLimits {
	limits := PersonLimits{Sessions: n.get("sessions").integer(), Calls: n.get("calls").integer()}
	if memory := n.get("memory"); memory != nil {
		limits.Memory, _ = parseBytes(memory.text) // checked before
	}
	return limits
}

func checkPersonCount(text string) string {
	if count, err := strconv.Atoi(text); err != nil || count < 1 || count > maxPersonCount {
		return fmt.Sprintf("must be a whole number from 1 to %d", maxPersonCount)
	}
	return ""
}

func checkPersonMemory(text string) string {
	if size, ok := parseBytes(text); !ok || size < minPersonMemory || size > maxPersonMemory {
		return `must be a number of bytes or a size such as "4GiB", from 1MiB to 1024GiB`
	}
	return ""
}

func checkDrain(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 || d > maxDrain {
		return `must be a duration above zero and at most "1h", such as "30s"`
	}
	return ""
}

// parseProxy parses an address or a network. Addresses are compared in their IPv4 form where they have one.
func parseProxy(text string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), address.Zone() == ""
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil
}

func checkProxy(text string) string {
	prefix, ok := parseProxy(text)
	switch {
	case !ok:
		return `must be an IP address, or a network such as "10.0.0.0/8"`
	case prefix.Bits() == 0:
		return "would trust every address: anybody could claim to be anybody"
	case prefix.Addr().Is4In6():
		return "must have the form of IPv4, such as \"10.0.0.0/8\""
	case prefix.Masked() != prefix:
		return fmt.Sprintf("is no network: it begins at %s", prefix.Masked())
	}
	return ""
}

// toolboxGrants reads a table of what may use which toolboxes.
func toolboxGrants(n *node) (table []ToolboxGrant) {
	for _, m := range n.entries() {
		boxes := m.value.strings()
		if slices.Contains(boxes, allToolboxes) {
			boxes = nil
		} else if boxes == nil {
			boxes = []string{} // a mistake, which was reported
		}
		table = append(table, ToolboxGrant{Value: m.name, Toolboxes: boxes})
	}
	return table
}

func checkGrantName(name string) string {
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return "cannot be empty, and cannot begin or end with a blank"
	case !isPrintable(name):
		return "holds a control character"
	}
	return ""
}

// warnOfGrants warns about toolboxes in the tables of http that do not exist: a mistyped name would give nothing.
func (b *builder) warnOfGrants(root *node, boxes []Toolbox) {
	names := make([]string, len(boxes))
	for i, box := range boxes {
		names[i] = box.Name
	}
	settings, p := root.get("http"), rootPlace.member("http")
	for _, table := range []struct {
		n *node
		p place
	}{
		{settings.get("oauth").get("toolboxes"), p.member("oauth").member("toolboxes")},
		{settings.get("tls").get("clients"), p.member("tls").member("clients")},
	} {
		for _, m := range table.n.entries() {
			for i := range m.value.elements {
				one, below := &m.value.elements[i], table.p.member(m.raw).element(i)
				if one.unresolved || one.text == allToolboxes || one.text == "" || slices.Contains(names, one.text) {
					continue
				}
				hint := "it gives nothing until there is such a toolbox"
				if near := toolbox.Nearest(one.text, names, 1); len(near) > 0 {
					hint = "did you mean " + quote(near[0]) + "?"
				}
				b.report.warn(one.offset, below.at, below.describe("is "+quote(one.raw)+missingToolbox), hint)
			}
		}
	}
}

// grantWarningsBeside returns the warnings of a user's file without those about toolboxes that a project has.
func (c *Config) grantWarningsBeside(project *Config) []Problem {
	warnings := slices.Clone(c.Warnings)
	for _, box := range project.Toolboxes {
		warnings = slices.DeleteFunc(warnings, func(warning Problem) bool {
			return strings.HasSuffix(warning.Message, " is "+quote(box.Name)+missingToolbox)
		})
	}
	return warnings
}
