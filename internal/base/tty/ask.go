package tty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// ErrNobody is returned for a question where nobody can answer.
var ErrNobody = errors.New("there is nobody to ask: this is no terminal")

// endedError is an io.EOF: the input ended where an answer was expected, as with Ctrl-D.
type endedError struct{}

func (endedError) Error() string { return "the input ended before there was an answer" }
func (endedError) Unwrap() error { return io.EOF }

var sequences = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// Ask asks for a line; an empty one is the fallback.
func (s *Screen) Ask(ctx context.Context, question, fallback string) (string, error) {
	if fallback != "" {
		question += " [" + fallback + "]"
	}
	answer, err := s.read(ctx, question+" ", s.lines.next)
	if answer = strings.TrimSpace(answer); answer == "" {
		answer = fallback
	}
	return answer, err
}

// Secret asks for a line that is not shown while it is typed.
func (s *Screen) Secret(ctx context.Context, question string) (string, error) {
	if s.keyboard == nil {
		return "", ErrNobody
	}
	fd := int(s.keyboard.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	answer, err := s.read(ctx, question+" ", func() (string, error) {
		typed, err := term.ReadPassword(fd)
		fmt.Fprintln(s)
		return string(bytes.TrimSpace(typed)), err
	})
	if ctx.Err() != nil {
		_ = term.Restore(fd, before) // the read that would do it goes on
	}
	return answer, err
}

// Confirm asks for yes or no until one of them is typed; an empty line is the fallback.
func (s *Screen) Confirm(ctx context.Context, question string, fallback bool) (bool, error) {
	choice := "[y/N]"
	if fallback {
		choice = "[Y/n]"
	}
	for {
		answer, err := s.Ask(ctx, question+" "+choice, "")
		switch {
		case err != nil:
			return false, err
		case answer == "":
			return fallback, nil
		case slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)):
			return true, nil
		case slices.Contains([]string{"n", "no"}, strings.ToLower(answer)):
			return false, nil
		}
		fmt.Fprintln(s, "Type y or n.")
	}
}

// Choose asks for one of several, by number or by name, until one of them is meant.
func (s *Screen) Choose(ctx context.Context, question string, options []string) (int, error) {
	return s.choose(ctx, question, options, "")
}

// ChooseFirst is Choose, with the first option as the fallback for an empty line.
func (s *Screen) ChooseFirst(ctx context.Context, question string, options []string) (int, error) {
	return s.choose(ctx, question, options, "1")
}

func (s *Screen) choose(ctx context.Context, question string, options []string, fallback string) (int, error) {
	if s.keyboard == nil {
		return 0, ErrNobody
	}
	defer HoldLines()()
	for i, option := range options {
		fmt.Fprintf(s, "  %d. %s\n", i+1, CleanLine(option))
	}
	for {
		answer, err := s.Ask(ctx, fmt.Sprintf("%s (1-%d)", question, len(options)), fallback)
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
			return n - 1, nil
		}
		if i := slices.Index(options, answer); i >= 0 {
			return i, nil
		}
		fmt.Fprintf(s, "Type a number from 1 to %d.\n", len(options))
	}
}

// read waits for an answer. The end of the context ends the wait, but not the read, which ends with the program, or with
// the answer to the next question.
func (s *Screen) read(ctx context.Context, prompt string, read func() (string, error)) (string, error) {
	if s.keyboard == nil {
		return "", ErrNobody
	}
	defer HoldLines()()
	fmt.Fprint(s, prompt)
	text, err := s.lines.await(ctx, read)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(s)
		return "", ctx.Err()
	case errors.Is(err, io.EOF):
		fmt.Fprintln(s)
		err = endedError{}
	}
	return text, err
}
