//go:build unix

package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// checks look at the last message, and can be negated with "!".
var checks = map[string]struct {
	least int // arguments
	run   func(s *state, args []string) error
}{
	"isError":  {0, (*state).isError},
	"ok":       {0, (*state).isOK},
	"rpcError": {1, (*state).rpcError},
	"blocks":   {1, (*state).blocks},
	"text":     {2, (*state).textIs},
	"contains": {2, (*state).contains},
	"is":       {2, (*state).is},
	"same":     {2, (*state).same},
	"has":      {1, func(s *state, args []string) error { _, err := s.pick(args[0]); return err }},
	"string":   {2, (*state).stringIs},
	"holds":    {2, (*state).holds},
	"line":     {1, (*state).lineIs},
	"before":   {2, (*state).before},
	"answered": {1, (*state).answered},
	"stderr":   {1, (*state).stderrHolds},
}

func (s *state) isError([]string) error {
	value, err := s.pick("result.isError")
	if err == nil && string(value) != "true" {
		err = errors.New("isError is not true")
	}
	return err
}

func (s *state) isOK([]string) error {
	if _, err := s.pick("result"); err != nil {
		return err
	}
	if value, err := s.pick("result.isError"); err == nil && string(value) != "false" {
		return errors.New("the result is an error")
	}
	return nil
}

// rpcError expects a JSON-RPC error: CODE [TEXT-IN-IT].
func (s *state) rpcError(args []string) error {
	if s.last.Error == nil {
		return errors.New("this is no JSON-RPC error")
	}
	if got := strconv.Itoa(s.last.Error.Code); got != args[0] {
		return fmt.Errorf("the code is %s; want %s", got, args[0])
	}
	if text := second(args, 1); !strings.Contains(s.last.Error.Message, text) {
		return fmt.Errorf("the message %q lacks %q", s.last.Error.Message, text)
	}
	return nil
}

// texts returns the text of each block of the result.
func (s *state) texts() ([]string, error) {
	var result struct {
		Content []struct {
			Type string
			Text *string
		}
	}
	if err := json.Unmarshal(s.last.Result, &result); err != nil {
		return nil, fmt.Errorf("there is no result: %w", err)
	}
	var texts []string
	for _, block := range result.Content {
		if block.Type == "text" && block.Text != nil {
			texts = append(texts, *block.Text)
		}
	}
	return texts, nil
}

func (s *state) block(number string) (string, error) {
	texts, err := s.texts()
	if err != nil {
		return "", err
	}
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(texts) {
		return "", fmt.Errorf("there is no text block %s; there are %d", number, len(texts))
	}
	return texts[i], nil
}

func (s *state) blocks(args []string) error {
	texts, err := s.texts()
	if err == nil && strconv.Itoa(len(texts)) != args[0] {
		err = fmt.Errorf("there are %d text blocks; want %s", len(texts), args[0])
	}
	return err
}

// textIs compares a whole block: N TEXT.
func (s *state) textIs(args []string) error {
	text, err := s.block(args[0])
	if err == nil && text != args[1] {
		err = fmt.Errorf("text block %s is\n%s\nwant\n%s", args[0], text, args[1])
	}
	return err
}

// contains looks for texts in a block, in that order: N TEXT…
func (s *state) contains(args []string) error {
	text, err := s.block(args[0])
	if err != nil {
		return err
	}
	return inOrder(text, args[1:])
}

func inOrder(text string, wanted []string) error {
	rest := text
	for _, want := range wanted {
		_, after, found := strings.Cut(rest, want)
		if !found {
			return fmt.Errorf("the text lacks %q (or has it too early):\n%s", want, text)
		}
		rest = after
	}
	return nil
}

// stringIs compares the text of a JSON string: PATH TEXT.
func (s *state) stringIs(args []string) error {
	text, err := s.stringAt(args[0])
	if err == nil && text != args[1] {
		err = fmt.Errorf("%s is\n%s\nwant\n%s", args[0], text, args[1])
	}
	return err
}

// holds looks for texts in a JSON string, in that order: PATH TEXT…
func (s *state) holds(args []string) error {
	text, err := s.stringAt(args[0])
	if err != nil {
		return err
	}
	return inOrder(text, args[1:])
}

func (s *state) stringAt(path string) (text string, err error) {
	raw, err := s.pick(path)
	if err != nil {
		return "", err
	}
	return text, json.Unmarshal(raw, &text)
}

// is compares bytes: PATH JSON.
func (s *state) is(args []string) error {
	got, err := s.pick(args[0])
	if err == nil && string(got) != args[1] {
		err = fmt.Errorf("%s is\n%s\nwant\n%s", args[0], got, args[1])
	}
	return err
}

// same compares values, whatever their spaces and order of keys: PATH JSON.
func (s *state) same(args []string) error {
	raw, err := s.pick(args[0])
	if err != nil {
		return err
	}
	got, err := decode(raw)
	if err != nil {
		return err
	}
	want, err := decode([]byte(args[1]))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s is\n%s\nwant the same as\n%s", args[0], raw, args[1])
	}
	return nil
}

func decode(raw []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return value, decoder.Decode(&value)
}

// lineIs compares the whole message, byte for byte.
func (s *state) lineIs(args []string) error {
	if string(s.last.Raw) != args[0] {
		return fmt.Errorf("the line is\n%s\nwant\n%s", s.last.Raw, args[0])
	}
	return nil
}

// before counts notifications that came after the request and before its response:
// METHOD N.
func (s *state) before(args []string) error {
	count := 0
	for _, message := range s.client.Received()[s.lastOut:s.lastIn] {
		if message.Method == args[0] {
			count++
		}
	}
	if strconv.Itoa(count) != args[1] {
		return fmt.Errorf("%d notifications '%s' came before the response; want %s", count, args[0], args[1])
	}
	return nil
}

// answered looks whether a response to a request has come already: LABEL.
func (s *state) answered(args []string) error {
	for _, message := range s.client.Received() {
		if message.Method == "" && string(message.ID) == s.begun[args[0]].id {
			return nil
		}
	}
	return errors.New("there is no answer")
}

// stderrHolds waits for a text on stderr; negated, it looks at what is there after the
// end of the workbench.
func (s *state) stderrHolds(args []string) error {
	if s.cmd == nil {
		if !bytes.Contains(s.stderr(), []byte(args[0])) {
			return fmt.Errorf("stderr lacks %q", args[0])
		}
		return nil
	}
	return mcptest.Eventually(replyTime, func() error {
		if !bytes.Contains(s.stderr(), []byte(args[0])) {
			return fmt.Errorf("stderr lacks %q", args[0])
		}
		return nil
	})
}
