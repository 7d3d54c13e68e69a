package condition

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPath     = 4 << 10 // the length of a path that is judged, which is what most systems allow; a longer one does not hold
	maxReadings = 64      // the ways to read a path that are judged; a path with more, encoded again and again, does not hold
)

// within returns why a path is not inside of one of the folders, or could be read as one that is not.
func (p *places) within(value string) string {
	path, isURL, why := plainPath(value)
	if why != "" {
		return why
	}
	readings, ok := readingsOf(path)
	if !ok {
		return "it is encoded too often to judge"
	}
	for _, reading := range readings {
		if why := p.judge(reading, isURL); why != "" {
			if why == outside {
				return "'" + show(value) + "' is outside"
			}
			return why
		}
	}
	return ""
}

// plainPath returns the path that a value means: itself, or the one of a file:// address, still encoded.
func plainPath(value string) (path string, isURL bool, why string) {
	if len(value) > maxPath {
		return "", false, "it is too long"
	}
	const scheme = "file://"
	if len(value) < len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) {
		return value, false, ""
	}
	host, rest, ok := strings.Cut(value[len(scheme):], "/")
	switch {
	case !ok || host != "" && !strings.EqualFold(host, "localhost"):
		return "", true, "it is a file of another machine"
	case strings.ContainsAny(rest, "?#"):
		return "", true, "its address has more than a path"
	}
	if runtime.GOOS == "windows" {
		return rest, true, "" // file:///C:/folder
	}
	return "/" + rest, true, ""
}

// lookalikes are characters that some systems take for those of paths, when they convert or normalize text.
var lookalikes = strings.NewReplacer(
	"\u2024", ".", "\u2025", "..", "\u2026", "...", "\uFE52", ".", "\uFF0E", ".", "\uFE19", "...", "\uFE30", "..",
	"\uFF0F", "/", "\u2044", "/", "\u2215", "/", "\u29F8", "/",
	"\uFF3C", "/", "\uFE68", "/", "\u2216", "/", "\u29F5", "/", "\u29F9", "/", "\u00A5", "/", "\u20A9", "/",
	"\uFF5E", "~", "\u02DC", "~", "\u223C", "~",
	"\uFF05", "%", "\uFF04", "$", "\uFE69", "$", "\uFF1A", ":", "\uFE55", ":",
)

// readingsOf returns a path and all that servers could make of it before they use it.
func readingsOf(path string) (readings []string, ok bool) {
	readings = []string{path}
	for i := 0; i < len(readings); i++ {
		reading := readings[i]
		others := []string{
			decodePercent(reading),
			strings.ReplaceAll(reading, `\`, "/"),
			strings.TrimPrefix(reading, "@"), // a mention of a file
			lookalikes.Replace(reading),
			withoutFormat(reading),
			withoutPlace(reading),
		}
		if runtime.GOOS != "windows" {
			others = append(others, strings.ReplaceAll(reading, `\`, "")) // as a shell does
		}
		for _, other := range others {
			if other != "" && !slices.Contains(readings, other) {
				readings = append(readings, other)
			}
		}
		if len(readings) > maxReadings {
			return nil, false
		}
	}
	return readings, true
}

// placeInFile is what some programs take for a place in a file, such as a line.
var placeInFile = regexp.MustCompile(`(?s)[#?].*$|(?::[0-9]+){1,2}$`)

func withoutPlace(path string) string { return placeInFile.ReplaceAllString(path, "") }

// decodePercent decodes what is encoded in the way of addresses, and leaves the rest.
func decodePercent(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
			if high >= 0 && low >= 0 {
				decoded = append(decoded, byte(high<<4|low))
				i += 2
				continue
			}
		}
		decoded = append(decoded, text[i])
	}
	return string(decoded)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// oddPath returns why a path may mean something else than it says.
func oddPath(path string) string {
	first, _ := utf8.DecodeRuneInString(path)
	last, _ := utf8.DecodeLastRuneInString(path)
	beginning, rest, _ := strings.Cut(path, "/")
	switch {
	case path == "":
		return "it is empty"
	case !utf8.ValidString(path):
		return "it is not valid text"
	case strings.ContainsFunc(path, isControl):
		return "it has control characters"
	case isBlank(first) || isBlank(last):
		return "it begins or ends with a space"
	case strings.ContainsRune("~$\"'`<|", first):
		return "it begins with '" + string(first) + "', which some programs replace"
	case strings.Contains(path, "${") || strings.Contains(path, "$("):
		return "it has a variable, which some programs replace"
	case strings.Contains(path, "{") && strings.Contains(path, ".."):
		return "it may be a pattern"
	case hasWideEscape(path):
		return "it is encoded in an unusual way"
	}
	if runtime.GOOS == "windows" {
		return oddWindowsPath(path)
	}
	if strings.HasSuffix(beginning, ":") && (rest != "" || len(beginning) < len(path)) || hasPrefixFold(path, "file:") || isDrive(path) {
		return "it is an address, or a path of another machine"
	}
	return ""
}

// isDrive reports whether a path begins as one of Windows with a drive.
func isDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && path[2] == '\\' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// hasWideEscape reports whether a text has an escape such as %u002e.
func hasWideEscape(text string) bool {
	for i := 0; i+5 < len(text); i++ {
		if text[i] == '%' && text[i+1]|0x20 == 'u' && !slices.ContainsFunc([]byte(text[i+2:i+6]), func(c byte) bool { return hexDigit(c) < 0 }) {
			return true
		}
	}
	return false
}

func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// withoutFormat removes characters that cannot be seen, which some file systems and programs ignore.
func withoutFormat(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) }

// oddWindowsPath returns why a path may mean something else than it says on Windows.
func oddWindowsPath(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	rest := path
	if len(path) > 1 && path[1] == ':' {
		if rest = path[2:]; !strings.HasPrefix(rest, `\`) || !isDrive(path+`\`) {
			return "it starts at a folder of a drive that is not known"
		}
	} else if strings.HasPrefix(path, `\`) {
		return "it has no drive, or is a path of a device or another machine"
	}
	if strings.HasPrefix(rest, `\\`) {
		return "it is a path of a device or another machine"
	}
	if strings.ContainsAny(rest, `:*?"<>|`) {
		return "it has characters that are special on Windows"
	}
	for part := range strings.SplitSeq(rest, `\`) {
		if part == "" || part == "." || part == ".." {
			continue
		}
		if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || isDevice(part) {
			return "it has a name that Windows changes"
		}
	}
	return ""
}

// isDevice reports whether Windows takes a file name for a device, whatever its folder and extension are.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	name = strings.ToUpper(strings.TrimRight(name, " "))
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}, name) {
		return true
	}
	number, ok := strings.CutPrefix(name, "COM")
	if !ok {
		number, ok = strings.CutPrefix(name, "LPT")
	}
	return ok && utf8.RuneCountInString(number) == 1 && slices.Contains(strings.Split("0123456789¹²³", ""), number)
}

// goesUp reports whether a path has a part "..".
func goesUp(path string) bool {
	return slices.Contains(strings.FieldsFunc(path, isSeparator), "..")
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }
