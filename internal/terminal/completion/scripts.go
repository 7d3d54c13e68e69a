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
	completionOf(root, "").Long = `Print a script that completes commands, names and the arguments of tools in a shell. Put the
command of the example for your shell into its startup file. Bash needs the package
bash-completion.`
	for shell, write := range map[string]func(root *cobra.Command, out io.Writer, described bool) error{
		"bash": writeBash, "zsh": writeZsh, "fish": (*cobra.Command).GenFishCompletion, "powershell": writePowerShell,
	} {
		// Cobra's own functions write past the output of the command, whose errors are reported.
		completionOf(root, shell).RunE = func(cmd *cobra.Command, _ []string) error {
			isPlain, _ := cmd.Flags().GetBool("no-descriptions") // every shell has it
			return write(cmd.Root(), cmd.OutOrStdout(), !isPlain)
		}
	}
	return completionOf(root, "")
}

func writeBash(root *cobra.Command, out io.Writer, described bool) error {
	if err := root.GenBashCompletionV2(out, described); err != nil {
		return err
	}
	_, err := io.WriteString(out, bashWords)
	return err
}

func writeZsh(root *cobra.Command, out io.Writer, described bool) error {
	if !described {
		return root.GenZshCompletionNoDesc(out)
	}
	return root.GenZshCompletion(out)
}

func writePowerShell(root *cobra.Command, out io.Writer, described bool) error {
	if !described {
		return root.GenPowerShellCompletion(out)
	}
	return root.GenPowerShellCompletionWithDesc(out)
}

// completionOf returns cobra's command for a shell; "": the parent of all.
func completionOf(root *cobra.Command, shell string) *cobra.Command {
	command, _, err := root.Find(strings.Fields("completion " + shell))
	if err != nil {
		panic(err) // cobra always has it: a bug
	}
	return command
}
