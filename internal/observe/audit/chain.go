package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxFile    = 16 << 20           // bytes of a file, from which on the next one is begun
	maxFileAge = 7 * 24 * time.Hour // of a file, from which on the next one is begun
	maxLine    = 64 << 10           // bytes of a line; a longer one in a file is not the log's own
	tailWindow = 4 * maxLine        // bytes at the end of a file that are read to go on with it
	maxFiles   = 1_000_000          // number of the last file; further lines cannot be written
	lockWait   = 3 * time.Second    // for another process that writes; then writing has failed
	filePrefix = "audit-"
	fileSuffix = ".jsonl"
	lockName   = ".lock"
	writersDir = "writers"
)

// hash is the SHA-256 of a line, without its end.
type hash [sha256.Size]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

// head is the end of a chain: the last line.
type head struct {
	Seq  uint64
	Hash hash
}

func fileName(number int) string { return fmt.Sprintf("%s%06d%s", filePrefix, number, fileSuffix) }

// listFiles returns the numbers of the files of a log in order.
func listFiles(folder string) ([]int, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), filePrefix)
		if !ok {
			continue
		}
		if digits, ok = strings.CutSuffix(digits, fileSuffix); !ok {
			continue
		}
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < maxFiles && fileName(n) == entry.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// file is a file of the log that is written to.
type file interface {
	io.Writer
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

func openFile(path string, isNew bool) (file, error) {
	flags := os.O_RDWR | os.O_APPEND
	if isNew {
		flags |= os.O_CREATE | os.O_EXCL
	}
	opened, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// line is what is read of a line.
type line struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Outcome string    `json:"outcome"`
	Prev    string    `json:"prev"`

	Key       string `json:"key"`
	Signature string `json:"signature"`
	Count     uint64 `json:"count"`
	Through   uint64 `json:"through"`
	Head      string `json:"head"`
	Writer    string `json:"writer"`
	Call      string `json:"call"`
}

// parseLine reads a line; ok is false if it is not one of a log.
func parseLine(text []byte) (l line, ok bool) {
	if !bytes.HasPrefix(text, []byte(`{"seq":`)) || json.Unmarshal(text, &l) != nil {
		return line{}, false
	}
	return l, l.Seq > 0 && l.Event != ""
}

// tail is what the end of a file says.
type tail struct {
	head  head
	isSet bool // a line was found
	bad   int  // lines after the last one that can be read; the last of them may have no end
	open  bool // the last line has no end
	seal  bool // the last line is a seal
}

// readTail reads the end of a file.
func readTail(f io.ReaderAt, size int64) (tail, error) {
	var t tail
	from := max(0, size-tailWindow)
	data := make([]byte, size-from)
	if _, err := f.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
		return t, err
	}
	if from > 0 { // it begins in the middle of a line
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	for len(data) > 0 {
		text, rest, isWhole := bytes.Cut(data, []byte("\n"))
		found, ok := parseLine(text)
		switch {
		case ok: // also without its end: what parses is complete
			t.head, t.isSet, t.bad, t.seal = head{found.Seq, sha256.Sum256(text)}, true, 0, found.Event == eventSeal
		default:
			t.head.Hash, t.seal = sha256.Sum256(text), false
			t.bad++
		}
		t.open = !isWhole
		data = rest
	}
	if from > 0 && !t.isSet {
		return t, errors.New("its last lines are damaged; move it away to begin a new log")
	}
	return t, nil
}

// firstTime returns when a file was begun.
func firstTime(f io.ReaderAt) time.Time {
	found, _ := parseLine(firstLine(f))
	return found.Time
}

// firstLine returns the first line of a file.
func firstLine(f io.ReaderAt) []byte {
	data := make([]byte, maxLine)
	n, _ := f.ReadAt(data, 0) // a short file ends early
	text, _, _ := bytes.Cut(data[:n], []byte("\n"))
	return text
}

// path returns the path of a file of the log.
func (o *Options) path(number int) string { return filepath.Join(o.Folder, fileName(number)) }
