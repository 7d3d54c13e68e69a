package elicitation

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file judges forms and their answers. A form is a flat object of strings, numbers, booleans and choices; whatever else a
// schema says is left to the server that asked.

const (
	maxFields = 100       // fields of a form that a person at the page is shown; one with more is refused
	maxAnswer = 256 << 10 // bytes of an answer at the page; a longer one is refused
	// maxMatching bounds the product of the lengths of a pattern and of the text that it is matched with, since repetitions make
	// a short pattern large; beyond it, the match is left to the server.
	maxMatching = 64 << 10
)

// checkForm says why a form cannot be shown; "" if it can.
func checkForm(schema wire.Payload) (problem string) {
	if schema.IsAbsent() || schema.Kind() != "object" {
		return "The question has no form, and no address to open"
	}
	count := 0
	for _, field := range schema.Member("properties").Members() {
		if count++; field.Kind() != "object" {
			return "The form has a field without a schema"
		}
		switch kind, _ := field.Member("type").Text(); kind {
		case "", "string", "number", "integer", "boolean", "array":
		default:
			return "The form has a field that is not a text, a number, yes or no, or a choice"
		}
	}
	if count > maxFields {
		return fmt.Sprintf("The form has more than %d fields", maxFields)
	}
	return ""
}

// WrongAnswerError says what is wrong with an answer. It names fields, and never what was entered.
type WrongAnswerError struct{ Problem string }

func (e *WrongAnswerError) Error() string { return e.Problem }

const maxName = 60 // bytes of the name of a field in an error; the rest is cut off

func shortName(name string) string { return hidden.Clean(toolbox.Clip(name, maxName)) }

func wrong(format string, values ...any) error {
	return &WrongAnswerError{fmt.Sprintf(format, values...)}
}

// check returns the result for the server.
func (e *entry) check(result []byte) ([]byte, error) {
	if len(result) > maxAnswer {
		return nil, wrong("The answer is longer than %d KiB", maxAnswer>>10)
	}
	var sent struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(result, &sent); err != nil {
		return nil, wrong("The answer is not an object with 'action' and 'content'")
	}
	switch {
	case sent.Action == "decline", sent.Action == "cancel":
		return []byte(`{"action":"` + sent.Action + `"}`), nil
	case sent.Action != "accept":
		return nil, wrong("'action' must be accept, decline or cancel")
	case e.URL != "":
		return []byte(`{"action":"accept"}`), nil
	}
	if err := checkContent(e.schema, sent.Content); err != nil {
		return nil, err
	}
	content, err := json.Marshal(sent.Content)
	if err != nil {
		return nil, err
	}
	if sent.Content == nil {
		content = []byte("{}")
	}
	return append(append([]byte(`{"action":"accept","content":`), content...), '}'), nil
}

// checkContent compares the content with the form.
func checkContent(schema wire.Payload, content map[string]json.RawMessage) error {
	known := make(map[string]wire.Payload)
	for name, field := range schema.Member("properties").Members() {
		known[string(name)] = field
	}
	for element := range schema.Member("required").Elements() {
		if name, _ := element.Text(); content[name] == nil {
			return wrong("'%s' is required", shortName(name))
		}
	}
	names := make([]string, 0, len(content))
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		field, ok := known[name]
		if !ok {
			return wrong("'%s' is not a field of the form", shortName(name))
		}
		if problem := checkValue(field, wire.Raw(content[name])); problem != "" {
			return wrong("'%s' %s", shortName(name), problem)
		}
	}
	return nil
}

// checkValue returns what is wrong with the value of a field; "" if nothing is.
func checkValue(field, value wire.Payload) (problem string) {
	switch kind, _ := field.Member("type").Text(); kind {
	case "boolean":
		if value.Kind() != "boolean" {
			return "must be true or false"
		}
	case "number", "integer":
		return checkNumber(field, value, kind == "integer")
	case "array":
		return checkChoices(field, value)
	default:
		text, ok := value.Text()
		if !ok {
			return "must be a text"
		}
		return checkText(field, text)
	}
	return ""
}

func checkNumber(field, value wire.Payload, whole bool) string {
	number, ok := numberOf(value)
	least, hasLeast := numberOf(field.Member("minimum"))
	most, hasMost := numberOf(field.Member("maximum"))
	switch {
	case !ok:
		return "must be a number"
	case whole && number != math.Trunc(number):
		return "must be a whole number"
	case hasLeast && number < least:
		return fmt.Sprintf("must be at least %v", least)
	case hasMost && number > most:
		return fmt.Sprintf("must be at most %v", most)
	}
	return ""
}

func numberOf(value wire.Payload) (number float64, ok bool) {
	return number, value.Kind() == "number" && json.Unmarshal(value.Bytes(), &number) == nil
}

// options returns the values that a text must be one of; nil: any.
func options(field wire.Payload) (values []string) {
	for element := range field.Member("enum").Elements() {
		text, _ := element.Text()
		values = append(values, text)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for choice := range field.Member(key).Elements() {
			if text, ok := choice.Member("const").Text(); ok {
				values = append(values, text)
			}
		}
	}
	return values
}

func checkChoices(field, value wire.Payload) string {
	if value.Kind() != "array" {
		return "must be a list"
	}
	allowed, count := options(field.Member("items")), 0.0
	for element := range value.Elements() {
		count++
		if text, ok := element.Text(); !ok || allowed != nil && !slices.Contains(allowed, text) {
			return "must have only values that are offered"
		}
	}
	if least, ok := numberOf(field.Member("minItems")); ok && count < least {
		return fmt.Sprintf("must have at least %v values", least)
	}
	if most, ok := numberOf(field.Member("maxItems")); ok && count > most {
		return fmt.Sprintf("must have at most %v values", most)
	}
	return ""
}

func checkText(field wire.Payload, text string) string {
	if allowed := options(field); allowed != nil && !slices.Contains(allowed, text) {
		return "must be one of the values that are offered"
	}
	length := float64(utf8.RuneCountInString(text))
	if least, ok := numberOf(field.Member("minLength")); ok && length < least {
		return fmt.Sprintf("must have at least %v characters", least)
	}
	if most, ok := numberOf(field.Member("maxLength")); ok && length > most {
		return fmt.Sprintf("must have at most %v characters", most)
	}
	if pattern, ok := field.Member("pattern").Text(); ok && len(pattern)*max(len(text), maxMatching>>10) <= maxMatching {
		if form, err := regexp.Compile(pattern); err == nil && !form.MatchString(text) { // another dialect is left to the server
			return "does not have the form that the server wants"
		}
	}
	format, _ := field.Member("format").Text()
	return checkFormat(format, text)
}

// checkFormat knows the formats of the protocol.
func checkFormat(format, text string) string {
	var err error
	switch format {
	case "email":
		var address *mail.Address
		if address, err = mail.ParseAddress(text); err == nil && address.Address != text {
			err = fmt.Errorf("it has a name, too")
		}
	case "uri":
		var address *url.URL
		if address, err = url.Parse(text); err == nil && address.Scheme == "" {
			err = fmt.Errorf("it has no scheme")
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, strings.ToUpper(text))
	}
	if err != nil {
		return map[string]string{
			"email": "must be an e-mail address", "uri": "must be an address with a scheme, such as https://example.com",
			"date": "must be a date, such as 2026-07-28", "date-time": "must be a time, such as 2026-07-28T12:00:00Z",
		}[format]
	}
	return ""
}
