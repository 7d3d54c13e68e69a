package completion

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashWords follows the script for Bash. Bash treats the text after a '=' as a separate word, and would insert the
// whole 'key=value' there.
const bashWords = `
__mcp-workbench_words()
{
    __start_mcp-workbench "$@"
    local cur
    _get_comp_words_by_ref -n "=:" cur 2>/dev/null || return
    if [[ $cur == [!-]*=* && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*=}"}"}")
    fi
}

if [[ $(type -t compopt) = "builtin" ]]; then
    complete -o default -F __mcp-workbench_words mcp-workbench
else
    complete -o default -o nospace -F __mcp-workbench_words mcp-workbench
fi
`

// AddCommand adds the command that writes completion scripts for shells.
func AddCommand(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd()
	for shell, example := range map[string]string{
		"":           "source <(mcp-workbench completion bash)",
		"bash":       "source <(mcp-workbench completion bash)",
		"zsh":        "source <(mcp-workbench completion zsh)",
		"fish":       "mcp-workbench completion fish | source",
		"powershell": "mcp-workbench completion powershell | Out-String | Invoke-Expression",
	} {
		completionOf(root, shell).Example = "  " + example
	}
	bash := completionOf(root, "bash")
	write := bash.RunE
	bash.RunE = func(cmd *cobra.Command, args []string) error {
		if err := write(cmd, args); err != nil {
			return err
		}
		_, err := io.WriteString(cmd.OutOrStdout(), bashWords)
		return err
	}
	return completionOf(root, "")
}

// completionOf returns cobra's command for a shell; "": the parent of all.
func completionOf(root *cobra.Command, shell string) *cobra.Command {
	command, _, err := root.Find(strings.Fields("completion " + shell))
	if err != nil {
		panic(err) // cobra always has it: a bug
	}
	return command
}
