package clients

import (
	"slices"
	"strings"
)

// A user's script is not parsed, only extended: the workbench's block is between two marks.

func shellMarks(name string) (begin, end string) {
	return "# mcp-workbench begin: " + name, "# mcp-workbench end: " + name
}

func putShell(data []byte, e Entry) []byte {
	begin, end := shellMarks(e.Name)
	command := "mcp add " + shellQuote(e.Name) + " --command " + shellQuote(e.Command)
	for _, arg := range e.words() {
		command += " --args " + shellQuote(arg)
	}
	block := begin + "\n" + command + " --timeout 30\n" + end + "\n"
	if strings.Contains(strings.ReplaceAll(string(data), "\r\n", "\n"), block) {
		return data
	}
	return appendBlock(removeShell(data, e.Name), block)
}

func removeShell(data []byte, name string) []byte {
	lines := textLines(data)
	if block, ok := shellLines(lines, name); ok {
		return joinWithout(lines, block.from, block.to)
	}
	return data
}

// shellBlock returns the block of an entry with its marks, or "".
func shellBlock(data []byte, name string) string {
	lines := textLines(data)
	block, _ := shellLines(lines, name)
	return strings.ReplaceAll(strings.Join(lines[block.from:block.to], ""), "\r\n", "\n")
}

func shellLines(lines []string, name string) (block lineRange, ok bool) {
	begin, end := shellMarks(name)
	for from, line := range lines {
		if strings.TrimSpace(line) != begin {
			continue
		}
		for to := from + 1; to < len(lines); to++ {
			if strings.TrimSpace(lines[to]) == end {
				return lineRange{from, to + 1}, true
			}
		}
	}
	return block, false
}

// shellCommand returns the command line that a block adds as a server; nil if the block differs from the form that
// putShell writes.
func shellCommand(block string) []string {
	lines := textLines([]byte(block))
	if len(lines) != 3 {
		return nil
	}
	words := shellWords(lines[1])
	var command, args []string
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "--command":
			i++
			command = words[i : i+1]
		case "--args":
			i++
			args = append(args, words[i])
		}
	}
	if command == nil {
		return nil
	}
	return slices.Concat(command, args)
}

// shellWords splits a line into words quoted by shellQuote; nil if it contains anything else.
func shellWords(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t") {
		word := ""
		for line != "" && !strings.ContainsAny(line[:1], " \t") {
			switch {
			case strings.HasPrefix(line, `\'`):
				word, line = word+"'", line[2:]
			case line[0] == '\'':
				quoted, rest, ok := strings.Cut(line[1:], "'")
				if !ok {
					return nil
				}
				word, line = word+quoted, rest
			case isPlain(line[:1], plainMarks):
				word, line = word+line[:1], line[1:]
			default:
				return nil
			}
		}
		words = append(words, word)
	}
	return words
}

func shellEntries(data []byte) []string {
	var names []string
	mark, _ := shellMarks("")
	for _, line := range textLines(data) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			names = append(names, name)
		}
	}
	return names
}

// plainMarks are characters that need no quotes, besides letters and digits.
const plainMarks = "@%+=:,./-_"

func shellQuote(word string) string {
	if isPlain(word, plainMarks) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports whether a word needs no quotes: it consists of letters, digits and some other characters.
func isPlain(word, further string) bool {
	for _, r := range word {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		isDigit := '0' <= r && r <= '9'
		if !isLetter && !isDigit && !strings.ContainsRune(further, r) {
			return false
		}
	}
	return word != ""
}
