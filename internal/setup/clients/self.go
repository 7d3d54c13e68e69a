package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// isSelf reports whether an entry starts a workbench that serves, directly or through a package runner, or was written to
// reach one over HTTP: importing it would make the workbench its own server.
func isSelf(entry value) bool {
	_, ok := WorkbenchArgs(commandWords(entry))
	return ok || isOwnRemote(entry)
}

// commandWords returns the command line of an entry; nil without one.
func commandWords(entry value) []string {
	if entry.kind == text {
		return shellCommand(entry.text)
	}
	if command := firstText(entry, "command", "cmd"); command != "" {
		return append([]string{command}, entry.get("args").strings()...)
	}
	return entry.get("command").strings()
}

// startsSame reports whether an entry still leads to the workbench that was written into it: by the same command, by any
// path to this program, or over HTTP.
func startsSame(wrote, now value) bool {
	if isOwnRemote(wrote) && addressOf(now) != "" {
		return isOwnRemote(now) || addressOf(wrote) == addressOf(now)
	}
	first, second := commandWords(wrote), commandWords(now)
	if len(first) == 0 || len(second) == 0 {
		return false
	}
	if slices.Contains(runners, programName(first[0])) {
		_, isWorkbench := WorkbenchArgs(second)
		return isWorkbench
	}
	return first[0] == second[0] || isThisProgram(second[0])
}

// withArgumentsOf returns the entry with the arguments that a person added to the entry it replaces. The configuration comes
// from the new entry alone, since it determines what is removed from the client's file.
func (e Entry) withArgumentsOf(words []string) Entry {
	had, ok := WorkbenchArgs(words)
	if !ok {
		return e
	}
	ours := splitFlags(e.Args)
	given := map[string]bool{"--config": true}
	for _, own := range ours {
		given[flagName(own)] = true
	}
	var args []string
	for _, flag := range splitFlags(had) {
		name := flagName(flag)
		if !given[name] {
			args = append(args, flag...)
		} else if i := slices.IndexFunc(ours, func(own []string) bool { return flagName(own) == name }); i >= 0 {
			args = append(args, ours[i]...) // in the old position, so that only its value changes
			ours = slices.Delete(ours, i, i+1)
		}
	}
	e.Args = slices.Concat(append(ours, args)...)
	return e
}

// splitFlags returns the flags before a command in the workbench's arguments, each with its value.
func splitFlags(args []string) (flags [][]string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if slices.Contains(valued, args[0]) {
			n = min(2, len(args))
		}
		flags = append(flags, args[:n])
		args = args[n:]
	}
	return flags
}

func flagName(flag []string) string {
	name, _, _ := strings.Cut(flag[0], "=")
	return name
}

// runners are programs that start another program named in their arguments.
var runners = []string{
	"npx", "bunx", "pnpm", "pnpx", "npm", "yarn", "bun", "node", "deno", "tsx", "go", "uvx",
	"env", "cmd", "sudo", "nice", "nohup", "mise", "volta", "doppler", "op",
}

var shells = []string{"sh", "bash", "zsh", "dash", "fish"}

// fillers are words of runners that precede the program's name.
var fillers = []string{"exec", "dlx", "run", "x", "tool", "/c", "--"}

// others are commands of the workbench that serve something else.
var others = []string{"builtin", "record", "replay"}

// WorkbenchArgs returns the arguments with which a command line starts the workbench; ok is false if it starts
// something else. The workbench is recognised by its name, or as the running program under another name.
func WorkbenchArgs(words []string) (args []string, ok bool) {
	for len(words) > 0 {
		if isWorkbench(words[0]) {
			command, _ := SplitCommand(words[1:])
			return words[1:], !slices.Contains(others, command)
		}
		name := programName(words[0])
		rest := words[1:]
		switch {
		case slices.Contains(shells, name):
			i := slices.IndexFunc(rest, func(word string) bool { return strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") })
			if i < 0 || i+1 == len(rest) {
				return nil, false
			}
			rest = strings.Fields(rest[i+1])
		case !slices.Contains(runners, name):
			return nil, false
		}
		words = withoutFlags(rest)
	}
	return nil, false
}

// withoutFlags drops the flags of a runner before the name of the program.
func withoutFlags(words []string) []string {
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") || slices.Contains(fillers, strings.ToLower(words[0]))) {
		words = words[1:]
	}
	return words
}

// valued are flags of the workbench whose value is the next word.
var valued = []string{"--config", "--toolbox", "--log-level"}

// SplitCommand returns the command in the workbench's arguments, and the rest; "" for the workbench itself.
func SplitCommand(args []string) (command string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(valued, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i], args[i+1:]
		}
	}
	return "", nil
}

func isWorkbench(word string) bool {
	name, _, _ := strings.Cut(programName(word), "@")
	return name == "mcp-workbench" || isThisProgram(word)
}

// isThisProgram reports whether a command is the executable of the running program.
func isThisProgram(word string) bool {
	found, err := exec.LookPath(word)
	if err != nil {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	first, err := os.Stat(found)
	if err != nil {
		return false
	}
	second, err := os.Stat(own)
	return err == nil && os.SameFile(first, second)
}

func programName(word string) string {
	base := strings.ToLower(filepath.Base(strings.ReplaceAll(word, `\`, "/")))
	return strings.TrimSuffix(strings.TrimSuffix(base, ".exe"), ".cmd")
}

// IsFile reports whether two paths lead to the same existing file.
func IsFile(a, b string) bool { return isSameFile(a, b) }

func isSameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
