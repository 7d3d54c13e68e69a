package config

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The patterns let editors detect mistakes. Values that contain a variable are left to the check.
const (
	durationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$|\$\{`
	sizePattern     = `^[0-9]+ ?([KkMmGg][Ii]?)?[Bb]?$|\$\{`
)

func checkDuration(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d < 0 {
		return `must be a duration such as "30s", "5m" or "1h30m", or "0"`
	}
	return ""
}

func checkPositiveDuration(text string) string {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return `must be a duration above zero, such as "30s", "5m" or "1h30m"`
	}
	return ""
}

func checkSize(text string) string {
	if size, ok := parseSize(text); !ok || size < 1<<10 || size > 1<<30 {
		return `must be a number of bytes or a size such as "64MiB", from 1KiB to 1GiB`
	}
	return ""
}

// parseSize parses a size that fits into an int.
func parseSize(text string) (int, bool) {
	size, ok := parseBytes(text)
	return int(size), ok && int64(int(size)) == size
}

// parseBytes parses bytes, or a number with a unit: KB is 1000, KiB is 1024.
func parseBytes(text string) (int64, bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := int64(1)
	switch strings.ToLower(strings.TrimPrefix(text[end:], " ")) {
	case "", "b":
	case "k", "kb":
		unit = 1e3
	case "m", "mb":
		unit = 1e6
	case "g", "gb":
		unit = 1e9
	case "ki", "kib":
		unit = 1 << 10
	case "mi", "mib":
		unit = 1 << 20
	case "gi", "gib":
		unit = 1 << 30
	default:
		return 0, false
	}
	return number * unit, number <= math.MaxInt64/unit
}

// checkURL omits the parser's message: it quotes the address, which may contain a password.
func checkURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a valid address"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must start with http:// or https://"
	case u.Hostname() == "":
		return "must name a host"
	}
	return ""
}

func checkEntryName(name string) string {
	if strings.TrimSpace(name) == "" {
		return "name cannot be empty"
	}
	return ""
}

func checkVariableName(name string) string {
	switch {
	case name == "":
		return "name cannot be empty"
	case strings.Contains(name, "="):
		return "name cannot hold '='"
	}
	return ""
}

func checkHeaderName(name string) string {
	if name == "" {
		return "name cannot be empty"
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return r >= utf8.RuneSelf || !isNameByte(byte(r)) && !strings.ContainsRune("!#$%&'*+-.^`|~", r)
	}) {
		return "name can hold only letters, digits and - _ . and the like"
	}
	return ""
}

func checkHeaderValue(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "holds a line break or another control character"
	}
	return ""
}
