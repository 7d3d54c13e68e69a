package console

import (
	"context"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/arguments"
)

// field is one value of a form.
type field struct {
	name     string
	schema   wire.Payload
	required bool
	options  []option // to choose from; nil: any value
	several  bool     // several options may be chosen
}

// option is a value to choose.
type option struct {
	value wire.Payload
	title string
}

// fillIn asks for the values of a form and returns the response.
func (r *activeCall) fillIn(ctx context.Context, form wire.Payload) ([]byte, error) {
	fields := fieldsOf(form)
	if len(fields) > 0 {
		fmt.Fprintf(r.Err, "  It wants to know: %s\n", tty.CleanLine(names(fields)))
	}
	answer, err := r.Err.Ask(ctx, "Answer it? (y)es, (n)o, (c)ancel", "y")
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
	case "c", "cancel":
		return nil, errCancel
	default:
		return nil, errDecline
	}
	content := []byte("{")
	for _, f := range fields {
		value, err := r.ask(ctx, f)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(wire.AppendString(content, f.name), ':'), value...)
	}
	return append(append([]byte(`{"action":"accept","content":`), content...), "}}"...), nil
}

func names(fields []field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.label()
	}
	return strings.Join(all, ", ")
}

func fieldsOf(form wire.Payload) (fields []field) {
	var required []string
	for name := range form.Member("required").Elements() {
		required = append(required, text(name))
	}
	for key, property := range form.Member("properties").Members() {
		f := field{name: string(key), schema: property, required: slices.Contains(required, string(key))}
		f.options = optionsOf(property)
		if items := property.Member("items"); !items.IsAbsent() {
			f.options, f.several = optionsOf(items), true
		}
		fields = append(fields, f)
	}
	return fields
}

func optionsOf(schema wire.Payload) (options []option) {
	titles := slices.Collect(schema.Member("enumNames").Elements())
	for value := range schema.Member("enum").Elements() {
		title := shown(value)
		if at := len(options); at < len(titles) {
			title = text(titles[at])
		}
		options = append(options, option{value, title})
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for choice := range schema.Member(key).Elements() {
			value := choice.Member("const")
			if value.IsAbsent() {
				continue
			}
			title := text(choice.Member("title"))
			if title == "" {
				title = shown(value)
			}
			options = append(options, option{value, title})
		}
	}
	return options
}

// shown formats a value as a person would type it.
func shown(value wire.Payload) string {
	if text, ok := value.Text(); ok {
		return text
	}
	return string(value.Bytes())
}

func (f field) label() string {
	if title := text(f.schema.Member("title")); title != "" {
		return title
	}
	return f.name
}

func (f field) isSecret() bool {
	return text(f.schema.Member("format")) == "password" || string(f.schema.Member("writeOnly").Bytes()) == "true"
}

// ask asks for one value until it is valid; nil is none.
func (r *activeCall) ask(ctx context.Context, f field) ([]byte, error) {
	if description := tty.CleanLine(text(f.schema.Member("description"))); description != "" {
		fmt.Fprintln(r.Err, r.Err.Paint(tty.Faint, "  "+description))
	}
	for i, o := range f.options {
		fmt.Fprintf(r.Err, "  %d. %s\n", i+1, tty.CleanLine(o.title))
	}
	for {
		typed, err := r.readField(ctx, f)
		if err != nil {
			return nil, err
		}
		if typed == "" {
			if value := f.schema.Member("default"); !value.IsAbsent() {
				return value.Bytes(), nil
			}
			if !f.required {
				return nil, nil
			}
			fmt.Fprintln(r.Err, "  An answer is needed.")
			continue
		}
		value, problem := f.parse(typed)
		if problem == "" {
			return value, nil
		}
		fmt.Fprintln(r.Err, "  "+tty.Clean(problem))
	}
}

// readField reads a line for a field; "" is the default, or nothing.
func (r *activeCall) readField(ctx context.Context, f field) (string, error) {
	question := tty.CleanLine(f.label())
	switch {
	case f.several && len(f.options) > 0:
		question += fmt.Sprintf(" (numbers from 1 to %d, with commas)", len(f.options))
	case f.several:
		question += " (with commas)"
	case len(f.options) > 0:
		question += fmt.Sprintf(" (1-%d)", len(f.options))
	case text(f.schema.Member("type")) == "boolean":
		question += " (y/n)"
	}
	fallback := f.schema.Member("default")
	switch {
	case !fallback.IsAbsent() && !f.isSecret():
		question += " [" + tty.CleanLine(f.defaultTitle(fallback)) + "]"
	case !f.required:
		question += " (optional)"
	}
	if f.isSecret() {
		return r.Err.Secret(ctx, question+":")
	}
	return r.Err.Ask(ctx, question+":", "")
}

func (f field) defaultTitle(fallback wire.Payload) string {
	if text(f.schema.Member("type")) == "boolean" {
		return map[string]string{"true": "y", "false": "n"}[string(fallback.Bytes())]
	}
	if fallback.Kind() == "array" {
		var titles []string
		for element := range fallback.Elements() {
			titles = append(titles, f.defaultTitle(element))
		}
		return strings.Join(titles, ", ")
	}
	for _, o := range f.options {
		if string(o.value.Bytes()) == string(fallback.Bytes()) {
			return o.title
		}
	}
	return shown(fallback)
}

// parse converts the typed text to a value, or returns the problem.
func (f field) parse(typed string) (value []byte, problem string) {
	if f.several {
		list := []byte("[")
		for part := range strings.SplitSeq(typed, ",") {
			element, problem := f.singleValue(strings.TrimSpace(part), f.schema.Member("items"))
			if problem != "" {
				return nil, problem
			}
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, element...)
		}
		list = append(list, ']')
		value = list
	} else if value, problem = f.singleValue(typed, f.schema); problem != "" {
		return nil, problem
	}
	// The server checks the whole form; here a person can still correct it.
	object := append(append(wire.AppendString([]byte("{"), f.label()), ':'), value...)
	schema := append(append(wire.AppendString([]byte(`{"properties":{`), f.label()), ':'), f.schema.Bytes()...)
	if problems, _ := arguments.Check(append(object, '}'), wire.Raw(append(schema, "}}"...))); len(problems) > 0 {
		return nil, strings.ReplaceAll(strings.Join(problems, "\n  "), "Parameter ", "")
	}
	return value, checkFormat(typed, text(f.schema.Member("format")))
}

// singleValue returns a single value: one of the options, by number or name, or a value of the schema's type.
func (f field) singleValue(typed string, schema wire.Payload) (value []byte, problem string) {
	if len(f.options) > 0 {
		for _, o := range f.options {
			if typed == o.title || typed == shown(o.value) {
				return o.value.Bytes(), ""
			}
		}
		if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(f.options) {
			return f.options[n-1].value.Bytes(), ""
		}
		return nil, fmt.Sprintf("Type a number from 1 to %d.", len(f.options))
	}
	if text(schema.Member("type")) == "boolean" {
		switch strings.ToLower(typed) {
		case "y", "yes", "true":
			return []byte("true"), ""
		case "n", "no", "false":
			return []byte("false"), ""
		}
		return nil, "Type y or n."
	}
	value, ok := arguments.Value(typed, schema)
	if !ok {
		return nil, fmt.Sprintf("That is no %s.", text(schema.Member("type")))
	}
	return value, ""
}

// checkFormat returns the mistake in a text with a format of the specification.
func checkFormat(typed, format string) (problem string) {
	switch format {
	case "email":
		if address, err := mail.ParseAddress(typed); err != nil || address.Address != typed {
			return "That is no e-mail address."
		}
	case "uri":
		if address, err := url.Parse(typed); err != nil || address.Scheme == "" {
			return "That is no address such as https://example.com."
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, typed); err != nil {
			return "Type a date such as 2026-01-31."
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, typed); err != nil {
			return "Type a time such as 2026-01-31T12:00:00Z."
		}
	}
	return ""
}
