package configwrite

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// AppendVariables appends variables to the content of a workbench.env.
func AppendVariables(content []byte, variables []Variable) []byte {
	result := bytes.Clone(content)
	if len(result) > 0 && !bytes.HasSuffix(result, []byte("\n")) {
		result = append(result, '\n')
	}
	for _, variable := range variables {
		result = append(result, variable.Name+"="+quoted(variable.Value)+"\n"...)
	}
	return result
}

// quoted formats a value for workbench.env: quoted text is literal, without escapes.
func quoted(value string) string {
	switch {
	case value != "" && strings.TrimSpace(value) == value && !strings.ContainsAny(value, "\"'# \t"):
		return value
	case !strings.Contains(value, `"`):
		return `"` + value + `"`
	}
	return "'" + value + "'"
}

// fitsLine reports whether a value can be written to workbench.env.
func fitsLine(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsAny(value, "\x00\r\n") &&
		(!strings.Contains(value, `"`) || !strings.Contains(value, "'"))
}
