package process

import (
	"runtime"
	"slices"
	"strings"
)

// incidental are variables that describe where a program was started from, or where to find other programs, and that do
// not matter to a running server. Of clients that share a server, those of the first apply.
var incidental = []string{
	"TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "SHELL", "SHLVL", "PWD", "OLDPWD", "_",
	"XDG_SESSION_*", "XDG_SEAT*", "XDG_VTNR", "XDG_ACTIVATION_*", "XDG_CURRENT_DESKTOP", "XDG_MENU_PREFIX",
	"SSH_TTY", "SSH_CLIENT", "SSH_CONNECTION", "INVOCATION_ID", "JOURNAL_STREAM",
	"LANG", "LC_*", "USER", "LOGNAME",

	// The resolved executable of a command is compared by itself.
	"PATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
	"NVM_*", "FNM_*", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "ASDF_*", "MISE_*", "PYENV_*",
}

// IsIncidental reports whether clients that share a server may have different values of a variable.
func IsIncidental(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(incidental, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return isPrefix && strings.HasPrefix(name, prefix) || name == pattern
	})
}
