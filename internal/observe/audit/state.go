package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
