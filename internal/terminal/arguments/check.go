package arguments

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	maxProblems = 20 // problems reported for one call
	maxDepth    = 50 // nesting of values that the checker examines itself
	shownEnum   = 10 // values of an enum in a message
	shownNames  = 50 // names of parameters in a message

	maxCheckWork = 256 << 20 // bytes of a schema that the checker reads itself, counted each time; the rest is left to the server
	weightEnum   = 8         // how much more than to read a value it is to compare it
)

// Check checks a JSON object of arguments against the tool's schema. Notes are about what the schema
// permits but is probably a mistake. If the schema itself is unusable, the check is left to the
// server.
func Check(arguments []byte, inputSchema wire.Payload) (problems, notes []string) {
	work := maxCheckWork
	c := checker{work: &work}
	c.check("", wire.Raw(arguments), schema{inputSchema, inputSchema, &work}.follow(), 0)
	if len(c.problems) == 0 && work >= 0 {
		if problem := checkAll(arguments, inputSchema); problem != "" {
			c.problems = append(c.problems, problem)
		}
	}
	if more := len(c.problems) - maxProblems; more > 0 {
		c.problems = append(c.problems[:maxProblems], fmt.Sprintf("and %d more problems", more))
	}
	return c.problems, c.notes[:min(len(c.notes), maxProblems)]
}

// checker finds the usual problems and describes them; all others are left to checkAll. What it finds after it has read too
// much of the schema does not count, since it did not see all of it.
type checker struct {
	problems, notes []string
	work            *int
}

func (c *checker) problem(path, format string, args ...any) {
	if *c.work < 0 {
		return
	}
	if path != "" {
		format = "Parameter '" + strings.ReplaceAll(path, "%", "%%") + "' " + format
	}
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) check(path string, value wire.Payload, s schema, depth int) {
	if depth > maxDepth || !s.afford(weightEnum*len(s.Bytes())) {
		return
	}
	if types := s.types(); !permits(types, value) {
		c.problem(path, "takes %s, not %s", describeTypes(types), describeTypes([]string{value.Kind()}))
		return
	}
	if values := s.values(); len(values) > 0 && !slices.ContainsFunc(values, func(v wire.Payload) bool { return equal(v, value) }) {
		c.problem(path, "takes one of %s, not %s", listed(values), brief(value))
		return
	}
	switch value.Kind() {
	case "object":
		c.members(path, value, s, depth)
	case "array":
		c.elements(path, value, s, depth)
	case "number":
		c.number(path, value, s)
	case "string":
		text, _ := value.Text()
		c.length(path, utf8.RuneCountInString(text), s, "Length", "characters")
	}
}

func (c *checker) members(path string, value wire.Payload, s schema, depth int) {
	given := make(map[string]bool)
	for key, member := range value.Members() {
		name := string(key)
		given[name] = true
		if !s.afford(len(s.Bytes())) {
			return
		}
		// The type of a property may depend on the chosen alternative, so only the properties common to all are
		// checked.
		if property := s.Member("properties").Member(name); !property.IsAbsent() {
			c.check(joinPath(path, name), member, s.part(property).follow(), depth+1)
		} else if _, ok := s.property(name); !ok {
			c.unknownMember(joinPath(path, name), name, s)
		}
	}
	for element := range s.Member("required").Elements() {
		if name, _ := element.Text(); !given[name] {
			property, _ := s.property(name)
			if *c.work < 0 {
				return
			}
			what := ""
			if types := property.types(); len(types) > 0 {
				what = ": it takes " + describeTypes(types)
			}
			c.problem(joinPath(path, name), "is missing%s", what)
		}
	}
}

// unknownMember handles a member that the schema does not name.
func (c *checker) unknownMember(path, name string, s schema) {
	names := s.names()
	if !s.afford(len(s.Bytes()) * len(name)) {
		return
	}
	if len(names) == 0 && string(s.Member("additionalProperties").Bytes()) != "false" {
		return
	}
	suggestion := ""
	switch near := toolbox.Nearest(name, names, 1); {
	case len(near) > 0:
		suggestion = fmt.Sprintf("; did you mean '%s'?", near[0])
	case len(names) > 0:
		suggestion = "; it has " + strings.Join(names[:min(len(names), shownNames)], ", ")
		if more := len(names) - shownNames; more > 0 {
			suggestion += fmt.Sprintf(" and %d more", more)
		}
	}
	if string(s.Member("additionalProperties").Bytes()) == "false" {
		c.problem("", "The tool has no parameter '%s'%s", path, suggestion)
		return
	}
	if s.Member("additionalProperties").Kind() == "object" || !s.Member("patternProperties").IsAbsent() {
		return // it expects members that it does not name
	}
	c.notes = append(c.notes, fmt.Sprintf("The tool names no parameter '%s'%s", path, suggestion))
}

func (c *checker) elements(path string, value wire.Payload, s schema, depth int) {
	count := 0
	for element := range value.Elements() {
		if items := s.items(); items.Kind() == "object" {
			c.check(fmt.Sprintf("%s[%d]", path, count), element, items, depth+1)
		}
		count++
	}
	c.length(path, count, s, "Items", "values")
}

func (c *checker) number(path string, value wire.Payload, s schema) {
	n, ok := new(big.Rat).SetString(limitNumber(value))
	if !ok {
		return
	}
	if types := s.types(); !slices.Contains(types, "number") && slices.Contains(types, "integer") && !n.IsInt() {
		c.problem(path, "takes a whole number, not %s", brief(value))
	}
	for _, bound := range []struct {
		key, words string
		broken     func(sign int) bool
	}{
		{"minimum", "is at least", func(sign int) bool { return sign < 0 }},
		{"maximum", "is at most", func(sign int) bool { return sign > 0 }},
		{"exclusiveMinimum", "is more than", func(sign int) bool { return sign <= 0 }},
		{"exclusiveMaximum", "is less than", func(sign int) bool { return sign >= 0 }},
	} {
		limit, ok := new(big.Rat).SetString(limitNumber(s.Member(bound.key)))
		if ok && bound.broken(n.Cmp(limit)) {
			c.problem(path, "%s %s, not %s", bound.words, s.Member(bound.key).Bytes(), brief(value))
		}
	}
}

// limitNumber returns the text of a number; "" if its exact value would be huge.
func limitNumber(value wire.Payload) string {
	text := string(value.Bytes())
	if value.Kind() != "number" || len(text) > 100 {
		return ""
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > 400 || n < -400 {
			return ""
		}
	}
	return text
}

// length checks minLength and maxLength, or minItems and maxItems.
func (c *checker) length(path string, n int, s schema, what, unit string) {
	if least, err := strconv.Atoi(string(s.Member("min" + what).Bytes())); err == nil && n < least {
		c.problem(path, "takes at least %d %s, not %d", least, unit, n)
	}
	if most, err := strconv.Atoi(string(s.Member("max" + what).Bytes())); err == nil && n > most {
		c.problem(path, "takes at most %d %s, not %d", most, unit, n)
	}
}

// checkAll checks against the whole schema.
func checkAll(arguments []byte, inputSchema wire.Payload) string {
	var whole jsonschema.Schema
	if !isAffordable(inputSchema, len(arguments)) || json.Unmarshal(inputSchema.Bytes(), &whole) != nil {
		return ""
	}
	resolved, err := whole.Resolve(nil)
	if err != nil {
		return ""
	}
	var instance any
	if json.Unmarshal(arguments, &instance) != nil {
		return ""
	}
	if err := resolved.Validate(instance); err != nil && !strings.HasPrefix(err.Error(), "cannot validate version") {
		return "The arguments do not fit the tool's schema: " + strings.ReplaceAll(err.Error(), "validating ", "")
	}
	return ""
}

func equal(a, b wire.Payload) bool {
	if text, ok := a.Text(); ok {
		other, same := b.Text()
		return same && text == other
	}
	if x, ok := new(big.Rat).SetString(limitNumber(a)); ok {
		y, same := new(big.Rat).SetString(limitNumber(b))
		return same && x.Cmp(y) == 0
	}
	return string(compact(a.Bytes())) == string(compact(b.Bytes()))
}

func listed(values []wire.Payload) string {
	var words []string
	for i, value := range values {
		if i == shownEnum {
			words = append(words, fmt.Sprintf("%d more", len(values)-i))
			break
		}
		words = append(words, brief(value))
	}
	return strings.Join(words, ", ")
}

// brief returns a value as written, cut if it is long.
func brief(value wire.Payload) string {
	text := []rune(string(value.Bytes()))
	if len(text) > 60 {
		return string(text[:59]) + "…"
	}
	return string(text)
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
