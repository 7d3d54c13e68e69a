package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// textLine is one line of a file, as it stands there.
type textLine struct {
	text    []byte // without its end; valid until the next line is read
	file    string
	number  int // from 1
	isWhole bool
	isLong  bool // longer than any line of a log; text is its beginning
}

// filesAt returns the files of a log in order: those of a folder, or one file.
func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	numbers, err := listFiles(path)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(numbers))
	for i, number := range numbers {
		files[i] = filepath.Join(path, fileName(number))
	}
	return files, nil
}

// eachLine calls visit with every line of files, in order, until it returns false.
func eachLine(files []string, visit func(textLine) bool) error {
	for _, path := range files {
		goesOn, err := eachLineOf(path, visit)
		if err != nil || !goesOn {
			return err
		}
	}
	return nil
}

func eachLineOf(path string, visit func(textLine) bool) (goesOn bool, err error) {
	opened, _, err := safefile.Open(path)
	if err != nil {
		return false, err
	}
	defer opened.Close()
	in := bufio.NewReaderSize(opened, maxLine)
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		isLong := errors.Is(err, bufio.ErrBufferFull)
		if isLong {
			text = bytes.Clone(text)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return false, err
		case len(text) == 0:
			return true, nil
		}
		isWhole := err == nil
		if isWhole && !isLong {
			text = text[:len(text)-1]
		}
		if number == 1 {
			if err := stored.Audit.Check(path, text); err != nil {
				return false, err
			}
		}
		if !visit(textLine{text, path, number, isWhole, isLong}) {
			return false, nil
		}
		if !isWhole {
			return true, nil
		}
	}
}
