package clients

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// syntax is how a client's entries refer to variables.
type syntax int

const (
	noVariables syntax = iota // text is text
	braces                    // ${VAR}, ${VAR:-default}
	dollar                    // also $VAR, and %VAR% on Windows; $(command) in some
	editor                    // ${env:VAR}, ${input:id}, ${userHome}, ${workspaceFolder}
	curly                     // {env:VAR}, {file:path}
	templates                 // ${{ secrets.VAR }}
)

// reference matches a possible reference in each syntax. Group 1 is its content.
var reference = map[syntax]*regexp.Regexp{
	braces:    regexp.MustCompile(`\$\{([^{}]*)\}`),
	dollar:    regexp.MustCompile(`\$(\{[^{}]*\}|\([^)]*\)|[A-Za-z_][A-Za-z0-9_]*)`),
	editor:    regexp.MustCompile(`\$\{([^{}]*)\}`),
	curly:     regexp.MustCompile(`\{((?:env|file):[^{}]*)\}`),
	templates: regexp.MustCompile(`\$\{\{\s*([^{}]*?)\s*\}\}`),
}

var (
	percent      = regexp.MustCompile(`%([A-Za-z_][A-Za-z0-9_()]*)%`)
	variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// translator converts a client's text into the workbench's. It never looks up variables: values that the user keeps out
// of the file stay out of the workbench's, too.
type translator struct {
	syntax  syntax
	windows bool
	wanted  map[string]bool // variables that only the client knew, such as ${input:id}
}

// text converts references into the workbench's form, and escapes everything else so that it stays unchanged.
func (t *translator) text(s string) (string, error) {
	pattern := reference[t.syntax]
	if pattern == nil {
		return escape(s), nil
	}
	if t.windows && t.syntax == dollar {
		s = percent.ReplaceAllString(s, "$${$1}")
	}
	var out strings.Builder
	for s != "" {
		at := pattern.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		out.WriteString(escape(s[:at[0]]))
		translated, err := t.reference(s[at[0]:at[1]], s[at[2]:at[3]])
		if err != nil {
			return "", err
		}
		out.WriteString(translated)
		s = s[at[1]:]
	}
	out.WriteString(escape(s))
	return out.String(), nil
}

// escape prevents text from being read as a reference.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

func (t *translator) reference(whole, says string) (string, error) {
	switch t.syntax {
	case braces:
		return plainReference(whole, says)
	case dollar:
		if strings.HasPrefix(says, "(") {
			return "", fmt.Errorf("it takes a value from the command %s", whole)
		}
		return plainReference(whole, strings.Trim(says, "{}"))
	case templates:
		name, ok := strings.CutPrefix(says, "secrets.")
		if !ok {
			return "", fmt.Errorf("it refers to %s, which only the client knows", whole)
		}
		return t.newVariable(name), nil
	}
	kind, name, _ := strings.Cut(says, ":")
	switch {
	case kind == "env":
		return plainReference(whole, name)
	case kind == "input":
		return t.newVariable(name), nil
	case kind == "userHome" && t.windows:
		return "${USERPROFILE}", nil
	case kind == "userHome":
		return "${HOME}", nil
	case strings.HasPrefix(kind, "workspace"):
		return "", fmt.Errorf("it depends on the folder that is open in the client (%s)", whole)
	case kind == "pathSeparator" || kind == "/":
		if t.windows {
			return `\`, nil
		}
		return "/", nil
	case kind == "file":
		return "", fmt.Errorf("it takes a value from a file (%s)", whole)
	}
	return escape(whole), nil
}

// plainReference converts an environment variable, possibly with a default. Anything that the client does not treat as
// one stays text.
func plainReference(whole, says string) (string, error) {
	name, fallback, hasFallback := strings.Cut(says, ":-")
	switch {
	case variableName.MatchString(name) && hasFallback:
		return "${" + name + ":-" + fallback + "}", nil
	case variableName.MatchString(name):
		return "${" + name + "}", nil
	case variableName.MatchString(strings.ToUpper(name)):
		return "", fmt.Errorf("its variable '%s' is not in capitals, which the workbench needs", name)
	}
	return escape(whole), nil
}

// newVariable creates a variable for a value that the client asks for or stores itself.
func (t *translator) newVariable(id string) string {
	name := VariableName(id)
	if t.wanted == nil {
		t.wanted = make(map[string]bool)
	}
	t.wanted[name] = true
	return "${" + name + "}"
}

// VariableName derives the name of a variable from any words.
func VariableName(words string) string {
	var out strings.Builder
	for _, r := range strings.ToUpper(words) {
		switch {
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' && out.Len() > 0:
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "_"):
			out.WriteByte('_')
		}
	}
	name := strings.Trim(out.String(), "_")
	if name == "" {
		return "VALUE"
	}
	return name
}

var errNoServer = errors.New("it names neither a command nor a url")
