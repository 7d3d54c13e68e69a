package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// State is what the end of a log says, without reading all of it.
type State struct {
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Seq    uint64 `json:"seq"`  // of the last line; 0: there is none
	Head   string `json:"head"` // hash of the last line
	Sealed bool   `json:"sealed"`
}

// ReadState reads the end of the log in a folder. A folder that does not exist has no lines.
func ReadState(folder string) (State, error) {
	numbers, err := listFiles(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, err
	}
	state := State{Files: len(numbers)}
	for i := len(numbers) - 1; i >= 0; i-- {
		path := filepath.Join(folder, fileName(numbers[i]))
		info, err := os.Stat(path)
		if err != nil {
			return state, err
		}
		state.Bytes += info.Size()
		if state.Seq > 0 {
			continue
		}
		last, err := tailOf(path)
		if err != nil {
			return state, err
		}
		if last.isSet {
			state.Seq, state.Head, state.Sealed = last.head.Seq, last.head.Hash.String(), last.seal
		}
	}
	return state, nil
}

func tailOf(path string) (tail, error) {
	opened, info, err := safefile.Open(path)
	if err != nil {
		return tail{}, err
	}
	defer opened.Close()
	return readTail(opened, info.Size())
}

// probeSize is how much a probe writes, so that a full disk shows.
const probeSize = 4 << 10

// Probe reports why a log cannot be written to a folder; nil if it can. What it writes is removed again; a folder that does not
// exist is not made.
func Probe(folder string) error {
	for {
		info, err := os.Stat(folder)
		if err == nil && !info.IsDir() {
			return &fs.PathError{Op: "open", Path: folder, Err: syscall.ENOTDIR}
		}
		if parent := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && parent != folder {
			folder = parent
			continue
		}
		break
	}
	probe, err := os.CreateTemp(folder, ".audit-probe-*")
	if err != nil {
		return err
	}
	_, err = probe.Write(make([]byte, probeSize))
	return errors.Join(err, probe.Close(), os.Remove(probe.Name()))
}
