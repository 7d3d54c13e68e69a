package clients

import "strings"

// A script of the user's is not understood, only added to: what is ours stands between
// two marks.

func shellMarks(name string) (begin, end string) {
	return "# mcp-workbench begin: " + name, "# mcp-workbench end: " + name
}

func putShell(data []byte, e Entry) []byte {
	begin, end := shellMarks(e.Name)
	command := "mcp add " + shellQuote(e.Name) + " --command " + shellQuote(e.Command)
	for _, arg := range e.Args {
		command += " --args " + shellQuote(arg)
	}
	block := begin + "\n" + command + " --timeout 30\n" + end + "\n"
	if strings.Contains(strings.ReplaceAll(string(data), "\r\n", "\n"), block) {
		return data
	}
	return appendBlock(takeShell(data, e.Name), block)
}

func takeShell(data []byte, name string) []byte {
	lines := textLines(data)
	if block, ok := shellLines(lines, name); ok {
		return joinWithout(lines, block.from, block.to)
	}
	return data
}

// shellBlock returns the block of an entry with its marks; "" if there is none.
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

func shellQuote(word string) string {
	if isPlain(word, "@%+=:,./-_") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports a word of letters, digits and some other characters, which needs no
// quotes.
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
