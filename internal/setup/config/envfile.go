package config

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// EnvFileName is the name of the file with variables beside a configuration.
const EnvFileName = "workbench.env"

// variables returns the variables of workbench.env, which may be missing.
func (s *Source) variables() (map[string]string, []Problem, error) {
	if s.EnvInfo == nil {
		return map[string]string{}, nil, nil
	}
	vars, problems := parseEnvFile(s.Env)
	if problems != nil {
		return nil, nil, &Error{Code: toolbox.ConfigSyntax, File: s.envPath(), Problems: problems}
	}
	var warnings []Problem
	isOpen := s.EnvInfo.Mode().Perm()&0o077 != 0
	if runtime.GOOS == "windows" {
		isOpen = safefile.AccessProblem(s.EnvInfo, safefile.ReadOrChange) != ""
	}
	if isOpen {
		warnings = append(warnings, Problem{
			Message: s.envPath() + " is open to other users of this machine",
			Hint:    safefile.PrivateCommand(shellQuote(s.envPath()), false),
		})
	}
	return vars, warnings, nil
}

// parseEnvFile parses lines such as KEY=value, export KEY='value' or # comment. Quoted text is literal. Without quotes,
// a # after a space starts a comment, as in a shell. The last line of a key wins.
func parseEnvFile(data []byte) (map[string]string, []Problem) {
	vars := map[string]string{}
	var problems []Problem
	number := 0
	for line := range strings.Lines(string(bytes.TrimPrefix(data, byteOrderMark))) {
		number++
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, wrong := parseEnvLine(line)
		if wrong != "" {
			problems = append(problems, Problem{Line: number, Column: 1 + indent, Message: wrong, Hint: "write KEY=value, one on each line"})
			continue
		}
		vars[name] = value
	}
	return vars, problems
}

// parseEnvLine returns the mistake without showing the line, which may contain a secret.
func parseEnvLine(line string) (name, value, wrong string) {
	if rest, ok := strings.CutPrefix(line, "export"); ok && rest != strings.TrimLeft(rest, " \t") {
		line = strings.TrimLeft(rest, " \t")
	}
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		return "", "", "Line without '='"
	}
	if !isVariableName(strings.ToUpper(name)) || strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || !isNameByte(byte(r)) }) {
		return "", "", "The text before '=' is not a variable name"
	}
	if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return "", "", fmt.Sprintf("The value of %s is not valid UTF-8 text", name)
	}
	value = strings.TrimLeft(value, " \t")
	if value == "" || value[0] != '"' && value[0] != '\'' {
		for i := range value {
			if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
				value = value[:i]
				break
			}
		}
		return name, strings.TrimSpace(value), ""
	}
	quoted, rest, closed := strings.Cut(value[1:], value[:1])
	rest = strings.TrimSpace(rest)
	switch {
	case !closed:
		return "", "", fmt.Sprintf("The quotes around the value of %s are not closed", name)
	case rest != "" && rest[0] != '#':
		return "", "", fmt.Sprintf("There is text after the closing quote of %s", name)
	}
	return name, quoted, ""
}
