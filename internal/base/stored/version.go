package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// HeadSize is how much of a file is enough for Check, in bytes: the format is at the beginning of what this program writes.
const HeadSize = 512

// first is the format of files from before formats were written to them.
const first = 1

var (
	// jsonHead is how JSON files begin: perhaps a line with a hash, or the number of a line in a chain, and the format.
	jsonHead = regexp.MustCompile(`^(?:[0-9a-f]{64}\n)?\s*\{\s*(?:"seq":\d+,)?"(?:version|format|recording)"\s*:\s*(\d+)\s*[,}]`)
	keyHead  = regexp.MustCompile(`^mcp-workbench [a-z ]+ (\d+)\n`)
)

// Check returns the error for people if a file has a format that this program does not know yet. content is the file, or its
// beginning. Whatever else is wrong with it is for its reader.
func (k *Kind) Check(path string, content []byte) error {
	found := formatOf(content)
	if found <= k.Format {
		return nil
	}
	return &toolbox.Error{
		Code:    toolbox.FormatNewer,
		Message: fmt.Sprintf("%s was written by a newer mcp-workbench (format %s, this one knows %d)", path, shown(found), k.Format),
		Hint:    "Upgrade mcp-workbench, or move the file away.",
	}
}

// IsNewer reports whether an error is one of Check.
func IsNewer(err error) bool {
	known, ok := errors.AsType[*toolbox.Error](err)
	return ok && known.Code == toolbox.FormatNewer
}

func shown(format int) string {
	if format == math.MaxInt {
		return "unknown"
	}
	return strconv.Itoa(format)
}

// formatOf returns the format of a file. Without one, it is the first.
func formatOf(content []byte) int {
	head := content[:min(len(content), HeadSize)]
	for _, pattern := range []*regexp.Regexp{jsonHead, keyHead} {
		if found := pattern.FindSubmatch(head); found != nil {
			return number(string(found[1]))
		}
	}
	// A file that another program has rewritten may have another order.
	var members struct{ Version, Format, Recording json.Number }
	if json.Unmarshal(content, &members) != nil {
		return first
	}
	for _, text := range []json.Number{members.Version, members.Format, members.Recording} {
		if text != "" {
			return number(string(text))
		}
	}
	return first
}

// number returns a format; what is not a number that fits is no format of ours.
func number(text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return math.MaxInt
	case err != nil:
		return 0
	}
	return n
}

// EncodeKey returns the content of a file with a key: a line with the format, and the key.
func (k *Kind) EncodeKey(text string) []byte {
	return fmt.Appendf(nil, "mcp-workbench %s %d\n%s\n", k.header, k.Format, text)
}

// KeyText returns the part of a key's file after the line with the format. Files of the first format have no such line.
func (k *Kind) KeyText(content []byte) []byte {
	if at := keyHead.FindIndex(content); at != nil {
		return content[at[1]:]
	}
	return content
}

// CheckFile is Check for a file on disk. One that does not exist, or cannot be read, is for whoever uses it.
func (k *Kind) CheckFile(path string) error {
	head, err := readHead(path)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return k.Check(path, head)
}

// readHead returns the beginning of a file.
func readHead(path string) ([]byte, error) {
	file, _, err := safefile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, HeadSize))
}
