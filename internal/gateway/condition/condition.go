// Package condition judges the arguments of a call: whether a path is inside a folder, an address at a host, a statement
// only reads, and the like. What it cannot judge does not hold, and what servers may read in several ways must hold in
// each of them.
package condition

import (
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
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

// Unmet returns why a call does not meet the requirement, phrased to follow the name of the argument, such as
// "must be within /project: '/etc/passwd' is outside"; "" if it does.
// A relative path starts at folder; without one it cannot be judged. Where the server may start it at other folders
// instead, it must hold there as well.
func (r *Requirement) Unmet(arguments wire.Payload, folder string, others ...string) string {
	j := judge{condition: &r.Condition, places: places{roots: r.Within, folder: folder, others: others}}
	why := "it is absent"
	if arguments.Kind() == "object" {
		why = j.find(arguments, r.Argument)
	}
	if why == "" {
		return ""
	}
	if must := r.String(); must != "" {
		return must + ": " + why
	}
	return "must be given: " + why
}

const (
	maxValues = 1_000 // the values of lists that are judged in a call; an argument with more does not hold
	// maxText is the bytes of text that are matched or read as SQL, of all values of an argument together; an argument
	// with more does not hold. Other calls of the client wait meanwhile.
	maxText        = 256 << 10
	maxShown       = 80 // the bytes of a value, pattern or folder in a reason; the rest is left out
	maxShownChoice = 5  // the choices of a condition that a reason names; of more, it says how many
)

// String returns what a value must be, to follow the name of the argument; "" for the zero value.
func (c *Condition) String() string {
	var all []string
	if c.Within != nil {
		all = append(all, "be within "+list(c.Within, show))
	}
	if c.Hosts != nil {
		all = append(all, "be an http address at "+list(c.Hosts, func(host Host) string { return show(host.text) }))
	}
	if c.ReadsOnly {
		all = append(all, "be one SQL statement that only reads")
	}
	if c.Matches != nil {
		all = append(all, "match "+show(patternText(c.Matches)))
	}
	if c.OneOf != nil {
		all = append(all, "be "+list(c.OneOf, func(value wire.Payload) string { return show(string(value.Bytes())) }))
	}
	if c.AtMost != nil {
		all = append(all, "be at most "+show(c.AtMost.text))
	}
	if all == nil {
		return ""
	}
	return "must " + strings.Join(all, " and ")
}

// list names the choices of a condition.
func list[T any](choices []T, text func(T) string) string {
	var names []string
	for _, choice := range choices[:min(len(choices), maxShownChoice)] {
		names = append(names, text(choice))
	}
	if more := len(choices) - len(names); more > 0 {
		names = append(names, toolbox.Count(more, "other", "others"))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}

// show shortens a text, and makes characters visible that are not.
func show(text string) string { return hidden.Show(toolbox.Clip(text, maxShown)) }

// judge judges one call.
type judge struct {
	condition *Condition
	places    places
	count     int // values so far
	text      int // bytes of text so far, where that matters
}

// find judges what a name leads to inside of a value, and returns why it does not hold.
//
// Servers differ in which member they read, so every candidate must hold: of members with the same name each one, also
// those that differ in case, hyphens and underscores only, since some decoders ignore them; of "a.b" also a member whose
// name contains the dot.
func (j *judge) find(value wire.Payload, name string) string {
	switch value.Kind() {
	case "array":
		return j.each(value, func(element wire.Payload) string { return j.find(element, name) })
	case "object":
	default:
		return "it is looked for inside of a value that is not an object"
	}
	isPresent := false
	for key, member := range value.Members() {
		rest, isExact, ok := follow(name, string(key))
		if !ok {
			continue
		}
		isPresent = isPresent || isExact
		why := ""
		if rest == "" {
			why = j.judge(member)
		} else {
			why = j.find(member, rest)
		}
		if why != "" {
			return why
		}
	}
	if !isPresent {
		return "it is absent"
	}
	return ""
}

// follow takes a key off the beginning of a name. What follows a NUL in a key is not seen by some decoders.
func follow(name, key string) (rest string, isExact, ok bool) {
	seen, _, _ := strings.Cut(key, "\x00")
	for end := 0; end < len(name); end++ {
		dot := strings.IndexByte(name[end:], '.')
		if dot < 0 {
			break
		}
		end += dot
		if isAlike(seen, name[:end]) {
			return name[end+1:], key == name[:end], true
		}
	}
	return "", key == name, isAlike(seen, name)
}

// joints are what separates the words of a name.
var joints = strings.NewReplacer("_", "", "-", "")

func isAlike(a, b string) bool {
	return strings.EqualFold(a, b) || (strings.ContainsAny(a, "_-") || strings.ContainsAny(b, "_-")) && strings.EqualFold(joints.Replace(a), joints.Replace(b))
}

// each judges the elements of a list, all of which must hold.
func (j *judge) each(list wire.Payload, judge func(wire.Payload) string) string {
	isEmpty := true
	for element := range list.Elements() {
		isEmpty = false
		if j.count++; j.count > maxValues {
			return "it has too many values to judge"
		}
		if why := judge(element); why != "" {
			return why
		}
	}
	if isEmpty {
		return "it is an empty list"
	}
	return ""
}

// judge judges a value, or all values of a list.
func (j *judge) judge(value wire.Payload) string {
	if value.Kind() == "array" {
		return j.each(value, j.judge)
	}
	c := j.condition
	if len(c.OneOf) > 0 && !isOneOf(value, c.OneOf) {
		return "it is another value"
	}
	if c.AtMost != nil {
		if why := c.AtMost.below(value); why != "" {
			return why
		}
	}
	if len(c.Within) == 0 && len(c.Hosts) == 0 && !c.ReadsOnly && c.Matches == nil {
		return ""
	}
	text, ok := value.Text()
	if c.Matches != nil || c.ReadsOnly {
		j.text += len(text)
	}
	switch {
	case !ok:
		return "it is not a string"
	case j.text > maxText:
		return "it is too long"
	case strings.ContainsRune(text, '\uFFFD'): // also of half a surrogate pair, which decoders replace or keep
		return "it is not valid text"
	case c.Matches != nil && !c.Matches.MatchString(text):
		return "it does not"
	}
	return j.judgeText(text)
}

func (j *judge) judgeText(text string) (why string) {
	c := j.condition
	if len(c.Within) > 0 {
		why = j.places.within(text)
	}
	if why == "" && len(c.Hosts) > 0 {
		why = atHosts(text, c.Hosts)
	}
	if why == "" && c.ReadsOnly {
		why = writes(text)
	}
	return why
}

// isOneOf reports whether a value equals one of several scalars, as JSON values: 1 equals 1.0.
func isOneOf(value wire.Payload, choices []wire.Payload) bool {
	for _, choice := range choices {
		if value.Kind() != choice.Kind() {
			continue
		}
		switch value.Kind() {
		case "string":
			a, _ := value.Text()
			if b, _ := choice.Text(); a == b {
				return true
			}
		case "number":
			a, err := ParseNumber(string(value.Bytes()))
			b, otherErr := ParseNumber(string(choice.Bytes()))
			if err == nil && otherErr == nil && a.value.Cmp(b.value) == 0 {
				return true
			}
		case "boolean", "null":
			if string(value.Bytes()) == string(choice.Bytes()) {
				return true
			}
		}
	}
	return false
}

const patternStart, patternEnd = `\A(?:`, `)\z`

// ParsePattern compiles a regular expression that has to match a whole value.
func ParsePattern(text string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(text); err != nil { // alone, so that it cannot close the group below
		return nil, err
	}
	return regexp.Compile(patternStart + text + patternEnd)
}

// patternText returns the text that ParsePattern compiled.
func patternText(pattern *regexp.Regexp) string {
	return strings.TrimSuffix(strings.TrimPrefix(pattern.String(), patternStart), patternEnd)
}
