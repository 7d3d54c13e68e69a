package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// valueWords say what the value of a flag of some type is, for people.
var valueWords = map[string]string{
	"int":      "a whole number",
	"duration": "a time with its unit, such as 500ms, 30s or 5m",
	"bool":     "true or false, or no value",
}

// explainFlag says what is wrong with a flag: the libraries' texts are about their own types.
func explainFlag(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && valueWords[wrong.GetFlag().Value.Type()] != "" {
		err = fmt.Errorf("--%s takes %s, not '%s'", wrong.GetFlag().Name, valueWords[wrong.GetFlag().Value.Type()], wrong.GetValue())
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				names = append(names, flag.Name)
			}
		})
		if near := toolbox.Nearest(unknown.GetSpecifiedName(), names, maxNearFlags); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean '--%s'?", err, strings.Join(near, "' or '--"))
		}
	}
	return &usageError{err: err}
}

// maxNearFlags is the number of suggestions for an unknown flag.
const maxNearFlags = 2
