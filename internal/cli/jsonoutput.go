package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// jsonForm is what stdout holds with --json.
type jsonForm string

const (
	jsonDocument jsonForm = "document" // one object
	jsonLines    jsonForm = "lines"    // one object a line, as it comes
	jsonForeign  jsonForm = "foreign"  // one object of somebody else, which is not changed
)

// jsonFormKey is the annotation of a command whose form is not jsonDocument.
const jsonFormKey = "json-form"

// addJSONFlag adds --json to a command that writes one object.
func addJSONFlag(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
}

// addJSONFormFlag adds --json to a command that writes another form than one object.
func addJSONFormFlag(cmd *cobra.Command, asJSON *bool, form jsonForm, usage string) {
	addJSONFlag(cmd, asJSON, usage)
	cmd.Annotations = map[string]string{jsonFormKey: string(form)}
}

// jsonOutput is the stdout of a command with --json. It keeps the document until the command has ended, because an error becomes a part
// of it.
type jsonOutput struct {
	out       io.Writer
	form      jsonForm
	document  bytes.Buffer
	isWritten bool // something of the form lines or foreign

	edits []*edit // of a command that changes the configuration, and whose document is about that
}

// useJSONOutput gives a command its output. It is the first thing that runs of every command.
func useJSONOutput(cmd *cobra.Command, _ []string) {
	if wanted, err := cmd.Flags().GetBool("json"); err == nil && wanted {
		cmd.SetOut(newJSONOutput(cmd))
	}
}

func newJSONOutput(cmd *cobra.Command) *jsonOutput {
	o := &jsonOutput{out: cmd.OutOrStdout(), form: jsonDocument}
	if form := cmd.Annotations[jsonFormKey]; form != "" {
		o.form = jsonForm(form)
	}
	return o
}

func (o *jsonOutput) Write(text []byte) (int, error) {
	if o.form == jsonDocument {
		return o.document.Write(text)
	}
	o.isWritten = true
	return o.out.Write(text)
}

// finish writes what is left: the document, with the error that ended the command.
func (o *jsonOutput) finish(failed error) error {
	switch {
	case o.form == jsonLines && failed != nil:
		return writeJSONLine(o.out, failureDocument{describeFailure(failed)})
	case o.form == jsonForeign && failed != nil && !o.isWritten, o.form == jsonDocument && failed != nil && o.document.Len() == 0:
		return tty.WriteJSON(o.out, failureDocument{describeFailure(failed)})
	case o.form != jsonDocument:
		return nil
	}
	if o.edits != nil && o.document.Len() == 0 {
		return tty.WriteJSON(o.out, changeReport{changedFiles(o.edits)})
	}
	document := o.document.Bytes()
	if failed != nil {
		document = addFailure(document, describeFailure(failed))
	}
	_, err := o.out.Write(document)
	return err
}

// addFailure adds the member 'error' to a document.
func addFailure(document []byte, failed failure) []byte {
	var text bytes.Buffer
	_ = tty.WriteJSON(&text, failureDocument{failed}) // texts and numbers only, to a buffer
	open, isObject := bytes.CutSuffix(bytes.TrimSpace(document), []byte("}"))
	if open = bytes.TrimSpace(open); !isObject || bytes.Equal(open, []byte("{")) {
		return text.Bytes()
	}
	return slices.Concat(open, []byte(","), bytes.TrimPrefix(text.Bytes(), []byte("{")))
}

// finishJSON writes the rest of the document of a command that was run with --json.
func finishJSON(cmd *cobra.Command, args []string, failed error) error {
	if o, ok := cmd.OutOrStdout().(*jsonOutput); ok {
		return o.finish(failed)
	}
	if failed == nil || !asksForJSON(args) {
		return nil
	}
	return newJSONOutput(cmd).finish(failed) // it failed before it began
}

// asksForJSON reports whether a command line that may be wrong wants JSON.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// failureDocument is the document of a command that failed with nothing else to report.
type failureDocument struct {
	Error failure `json:"error"`
}

// failure is an error for scripts.
type failure struct {
	Code     toolbox.Code `json:"code"`
	Message  string       `json:"message"`
	Hint     string       `json:"hint"`
	Problems []problem    `json:"problems,omitempty"` // of a configuration
}

// problem is a mistake in a configuration, for scripts.
type problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"` // of the value in the file
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func describeFailure(err error) failure {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return joinFailures(several.Unwrap())
	}
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		return failure{Code: wrong.Code, Message: err.Error(), Hint: hintOf(wrong.Problems), Problems: describeProblems(wrong.File, wrong.Problems)}
	}
	described := failure{Code: toolbox.Unexpected, Message: err.Error()}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		if described.Message == known.Error() {
			described.Message, described.Hint = known.Message, known.Hint
		}
		if known.Code != "" {
			described.Code = known.Code
		}
	}
	if errors.Is(err, context.Canceled) {
		described.Code = toolbox.Interrupted
	}
	return described
}

// joinFailures describes several errors as one, with the code and the hint of the first.
func joinFailures(errs []error) failure {
	var joined failure
	for _, err := range errs {
		one := describeFailure(err)
		if joined.Message == "" {
			joined = one
			continue
		}
		joined.Message += "\n" + one.Message
		joined.Problems = append(joined.Problems, one.Problems...)
	}
	return joined
}

func describeProblems(file string, problems []config.Problem) []problem {
	described := make([]problem, len(problems))
	for i, p := range problems {
		described[i] = problem{File: p.File, Line: p.Line, Column: p.Column, Path: p.Path, Message: p.Message, Hint: p.Hint}
		if p.File == "" {
			described[i].File = file
		}
	}
	return described
}

func hintOf(problems []config.Problem) string {
	for _, p := range problems {
		if p.Hint != "" {
			return p.Hint
		}
	}
	return ""
}

// writeJSON writes the document of a command.
func writeJSON(cmd *cobra.Command, value any) error { return tty.WriteJSON(cmd.OutOrStdout(), value) }

// writeJSONLine writes one object of a stream.
func writeJSONLine(out io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(append(tty.EscapeJSON(text), '\n'))
	return err
}

// isJSON reports whether a command runs with --json.
func isJSON(cmd *cobra.Command) bool {
	_, ok := cmd.OutOrStdout().(*jsonOutput)
	return ok
}

// screenOf returns the screen of a command. With --json nobody reads it: what is written there is dropped, and nothing can be asked.
func screenOf(cmd *cobra.Command) *tty.Screen {
	if isJSON(cmd) {
		return tty.New(io.Discard, nil, os.Getenv)
	}
	return tty.New(cmd.OutOrStdout(), cmd.InOrStdin(), os.Getenv)
}

// textOf returns where a command writes text for people, which is dropped with --json.
func textOf(cmd *cobra.Command) io.Writer {
	if isJSON(cmd) {
		return io.Discard
	}
	return cmd.OutOrStdout()
}
