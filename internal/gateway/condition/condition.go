// Package condition judges the arguments of a call: whether a path is inside a folder, an address at a host, a statement
// only reads, and the like. What it cannot judge does not hold.
package condition

import (
	"regexp"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Requirement is a condition on one argument of a call.
type Requirement struct {
	// Argument is the name of the argument; "a.b" is b inside of a.
	Argument string
	Condition
}

// Condition is what a value must satisfy: everything that is set. The zero value is satisfied by any value.
type Condition struct {
	Within    []string       // absolute folders: a path inside of one of them
	Hosts     []Host         // an http address at one of them
	ReadsOnly bool           // a single SQL statement that only reads
	Matches   *regexp.Regexp // a string of which the whole matches; see ParsePattern
	OneOf     []wire.Payload // one of these scalars
	AtMost    *Number        // a number that is not larger
}

// Unmet returns why a call does not meet the requirement, phrased to follow the name of the argument; "" if it does.
// A relative path starts at folder; without one it cannot be judged.
func (r *Requirement) Unmet(arguments wire.Payload, folder string) string {
	return "cannot be judged"
}

// Host is a pattern for the host of an address, with an optional port.
type Host struct {
	text string
}

func (h Host) String() string { return h.text }

// ParseHost reads a pattern such as "example.com", "*.example.com" or "127.0.0.1:8080".
func ParseHost(text string) (Host, error) { return Host{text}, nil }

// ParsePattern compiles a regular expression that has to match a whole value.
func ParsePattern(text string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(text); err != nil { // alone, so that it cannot close the group below
		return nil, err
	}
	return regexp.Compile(`\A(?:` + text + `)\z`)
}
