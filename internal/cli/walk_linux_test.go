package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
)

// walkedWidths are the widths of terminals that everything is looked at in.
var walkedWidths = []int{60, 80, 140}

// walkedCommands returns all commands, from the tree itself.
func walkedCommands() (all []*cobra.Command) {
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(newRoot())
	return all
}

func pathOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// Every command fits a terminal of any width, has no colours in a pipe, keeps references whole, and follows the rule for JSON: its
// help, what it shows, and its errors.
func TestWalkOverAllCommands(t *testing.T) {
	w := newWalk(t)
	var paths []string
	for _, cmd := range walkedCommands() {
		path := pathOf(cmd)
		paths = append(paths, path)
		_, isExempt := withoutJSON[path]
		if hasJSON := cmd.Flags().Lookup("json") != nil; hasJSON == isExempt {
			t.Errorf("'%s': --json is %v, and withoutJSON says otherwise", path, hasJSON)
		}
		runs, reason := walkRuns[path], notRun[path]
		if (len(runs) == 0) == (reason == "") {
			t.Errorf("'%s' needs runs in walkRuns, or a reason in notRun why it has none", path)
		}
		t.Run(strings.ReplaceAll("mcp-workbench "+path, " ", "-"), func(t *testing.T) {
			t.Parallel()
			w.checkHelp(t, path)
			w.steady.checkUnwritable(t, append(strings.Fields(path), "--help"))
			w.checkWrongFlag(t, path)
			w.checkWrongCount(t, path)
			for _, run := range runs {
				w.checkRun(t, path, run, !isExempt)
			}
		})
	}
	for path := range walkRuns {
		if !slices.Contains(paths, path) {
			t.Errorf("walkRuns has '%s', which is no command", path)
		}
	}
}

// walk has the places in which commands run.
type walk struct{ template, steady, running *walkPlace }

func newWalk(t *testing.T) *walk {
	t.Helper()
	w := &walk{template: newWalkPlace(t)}
	w.steady, w.running = w.template.copied(t), w.template.copied(t)
	w.running.start(t)
	return w
}

// at returns the place for one run of a command.
func (w *walk) at(t *testing.T, where place) *walkPlace {
	t.Helper()
	switch where {
	case fresh:
		return w.template.copied(t)
	case running:
		return w.running
	case ending:
		own := w.template.copied(t)
		own.start(t)
		return own
	case empty:
		return &walkPlace{home: shortFolder(t)}
	}
	return w.steady
}

var (
	moves   = regexp.MustCompile(`\x1b\[[0-9;]*H`) // to another line
	escapes = regexp.MustCompile(`\x1b\[[0-9;?<=>]*\$?[A-Za-z]|\x1b\][^\x07]*\x07`)
	colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// checkWidth reports lines that do not fit. A line may be wider only if it is nothing but what a person copies: a command, or one word,
// such as a path or a reference.
func checkWidth(t *testing.T, what, shown string, columns int, asItIs *regexp.Regexp) {
	t.Helper()
	for line := range strings.Lines(moves.ReplaceAllString(shown, "\n")) {
		line = escapes.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if at := strings.LastIndex(line, "\r"); at >= 0 {
			line = line[at+1:]
		}
		if runewidth.StringWidth(line) <= columns || asItIs != nil && asItIs.MatchString(line) {
			continue
		}
		copied := strings.TrimLeft(line, " '\"(!✗✓-/")
		if !strings.HasPrefix(copied, "mcp-workbench ") && len(strings.Fields(copied)) > 1 {
			t.Errorf("%s: over %d columns: %s", what, columns, line)
		}
	}
}

// checkTerminals looks at a command in all terminals.
func (w *walk) checkTerminals(t *testing.T, run walkRun, args []string, each func(columns int, shown string)) {
	t.Helper()
	for _, columns := range walkedWidths {
		shown := w.at(t, run.where).inTerminal(t, columns, run.keys, nil, args...)
		checkWidth(t, fmt.Sprintf("%q", args), shown, columns, run.asItIs)
		if plain := w.at(t, run.where).inTerminal(t, columns, run.keys, []string{"NO_COLOR=1"}, args...); colours.MatchString(plain) {
			t.Errorf("%q has colours in spite of NO_COLOR:\n%q", args, plain)
		}
		if each != nil {
			each(columns, escapes.ReplaceAllString(shown, ""))
		}
	}
}

func (w *walk) checkHelp(t *testing.T, path string) {
	t.Helper()
	args := append(strings.Fields(path), "--help")
	text, _, status := w.steady.inPipe(t, "", args...)
	if status != 0 || strings.Contains(text, "\x1b") {
		t.Errorf("%q ends with %d:\n%s", args, status, text)
	}
	isOwn := path != "" && path != "help" && !strings.HasPrefix(path, "completion")
	if isOwn && !strings.Contains(text, "Examples:\n  ") {
		t.Errorf("the help of '%s' has no example", path)
	}
	for line := range strings.Lines(text) {
		if runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > helpWidth {
			t.Errorf("the help of '%s' has a line over %d columns: %s", path, helpWidth, line)
		}
	}
	w.checkTerminals(t, walkRun{}, args, nil)
}

// passesOn are commands that pass their flags and arguments on.
var passesOn = []string{"help", "builtin", "completion", "completion bash", "completion zsh", "completion fish", "completion powershell"}

// checkWrongFlag runs a command with a flag that does not exist.
func (w *walk) checkWrongFlag(t *testing.T, path string) {
	t.Helper()
	if slices.Contains(passesOn, path) {
		return
	}
	args := append(strings.Fields(path), "--no-such-flag-of-any-command")
	w.checkTerminals(t, walkRun{}, args, nil)
	w.checkUsage(t, append(args, "--json"))
}

// takesMany are commands that take any number of arguments.
var takesMany = []string{"find", "call", "doctor", "describe", "connect", "disconnect", "remove", "enable", "disable", "move", "policy explain", "policy accept", "changes"}

// checkWrongCount runs a command with more arguments than it takes.
func (w *walk) checkWrongCount(t *testing.T, path string) {
	t.Helper()
	if slices.Contains(passesOn, path) || slices.Contains(takesMany, path) {
		return
	}
	args := append(strings.Fields(path), "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
	w.checkTerminals(t, walkRun{}, args, nil)
	w.checkUsage(t, append(args, "--json"))
}

// checkUsage runs a wrong command line.
func (w *walk) checkUsage(t *testing.T, args []string) {
	t.Helper()
	stdout, stderr, status := w.steady.inPipe(t, "", args...)
	var document failureDocument
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || document.Error.Code != "usage" || document.Error.Message == "" || document.Error.Hint == "" {
		t.Errorf("%q writes %q, which is not the error: %v", args, stdout, err)
	}
	if status != 2 || !strings.Contains(stderr, "\n  hint: See 'mcp-workbench") || !strings.Contains(stderr, "\n  code: usage\n") || strings.Contains(stderr, "\x1b") {
		t.Errorf("%q ends with %d and says %s", args, status, stderr)
	}
}

// wholeNames are names that no output cuts.
var wholeNames = []string{longTool, "dev/" + longServer, longServer, "工具箱/文件服务器", "文件服务器", "postgres-production", "some-other-server", "a-token-with-quite-a-long-name"}

func (w *walk) checkRun(t *testing.T, path string, run walkRun, hasJSON bool) {
	t.Helper()
	args := append(strings.Fields(path), run.args...)
	stdout, stderr, status := w.at(t, run.where).inPipe(t, run.input, args...)
	if strings.Contains(stdout+stderr, "\x1b") {
		t.Errorf("%q writes colours into a pipe:\n%q", args, stdout+stderr)
	}
	if (status != 0) != run.fails || !strings.Contains(stdout+stderr, run.says) || stdout+stderr == "" && !run.isQuiet {
		t.Errorf("%q ends with %d, and does not say '%s':\n%s%s", args, status, run.says, stdout, stderr)
	}
	if stdout != "" && !run.fails && run.where == steady {
		w.steady.checkUnwritable(t, args)
	}
	w.checkTerminals(t, run, args, func(columns int, shown string) {
		if strings.Contains(shown, "panic: ") {
			t.Errorf("%q: %s", args, shown)
		}
		for _, name := range wholeNames {
			if run.keys == "" && !run.drops && strings.Contains(stdout, name) && !strings.Contains(shown, name) {
				t.Errorf("%q does not show the whole name %s in %d columns:\n%s", args, name, columns, shown)
			}
		}
	})
	if hasJSON && run.noJSON == "" {
		w.checkJSON(t, path, run, slices.Insert(args, len(strings.Fields(path)), "--json"))
	}
}

func (w *walk) checkJSON(t *testing.T, path string, run walkRun, args []string) {
	t.Helper()
	stdout, stderr, status := w.at(t, run.where).inPipe(t, run.input, args...)
	cmd, _, err := newRoot().Find(strings.Fields(path))
	if err != nil {
		t.Fatal(err)
	}
	documents := []string{stdout}
	form := jsonForm(cmd.Annotations[jsonFormKey])
	if form == jsonLines {
		documents = slices.Collect(strings.Lines(stdout))
	}
	var document map[string]any
	for _, text := range documents {
		document = nil
		if err := json.Unmarshal([]byte(text), &document); err != nil || document == nil {
			t.Errorf("%q does not write one object: %v\n%s\n%s", args, err, text, stderr)
			return
		}
		if form != jsonForeign && path != "find" { // which writes what clients get from find_tools
			checkShape(t, fmt.Sprintf("%q", args), "", document)
		}
		if form == "" && len(document) > 0 && !strings.HasPrefix(text, "{\n  \"") {
			t.Errorf("%q is not indented:\n%s", args, text)
		}
	}
	failed, isFailed := document["error"].(map[string]any)
	if isFailed != (status != 0) || isFailed && (failed["code"] == "" || failed["code"] == "unexpected" || failed["message"] == "") {
		t.Errorf("%q ends with %d, but its error is %v", args, status, document["error"])
	}
	if strings.Contains(stderr, "\x1b") {
		t.Errorf("%q writes colours: %q", args, stderr)
	}
}

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// ofOthers are members whose value is not the workbench's, or has names for keys.
var ofOthers = []string{"definition", "inputSchema", "labels", "arguments"}

// checkShape reports names that are not in camelCase, and null.
func checkShape(t *testing.T, what, at string, value any) {
	t.Helper()
	switch value := value.(type) {
	case nil:
		t.Errorf("%s: %s is null", what, at)
	case []any:
		for _, one := range value {
			checkShape(t, what, at+"[]", one)
		}
	case map[string]any:
		for key, member := range value {
			if !camelCase.MatchString(key) {
				t.Errorf("%s: %s.%s is not in camelCase", what, at, key)
			}
			if !slices.Contains(ofOthers, key) {
				checkShape(t, what, at+"."+key, member)
			}
		}
	}
}
