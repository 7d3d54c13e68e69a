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

// quoted writes a value as a workbench.env holds it: what stands in quotes is taken as it
// is, and there are no escapes.
func quoted(value string) string {
	switch {
	case value != "" && strings.TrimSpace(value) == value && !strings.ContainsAny(value, "\"'# \t"):
		return value
	case !strings.Contains(value, `"`):
		return `"` + value + `"`
	}
	return "'" + value + "'"
}

// fitsLine reports that a workbench.env can hold a value.
func fitsLine(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsAny(value, "\x00\r\n") &&
		(!strings.Contains(value, `"`) || !strings.Contains(value, "'"))
}
