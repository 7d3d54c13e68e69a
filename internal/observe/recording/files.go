package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// Limits of the folder with recordings of running servers.
const (
	maxFiles    = 100       // recordings that are kept; the oldest are removed
	maxKept     = 512 << 20 // bytes of all recordings; the oldest are removed
	maxListed   = 10_000    // files of the folder that are looked at; others are ignored
	maxHeader   = 8 << 10   // bytes of the first line; of a longer one, nothing is known
	maxEnd      = 512       // bytes of the last line
	longestName = 200       // of a recording
	longestPart = 40        // of a toolbox or server in the name of a file; the rest is cut off
)

const suffix = ".jsonl"

// isName reports whether a text can be the name of a recording. No path can.
func isName(name string) bool {
	plain, ok := strings.CutSuffix(name, suffix)
	return ok && plain != "" && len(name) <= longestName && plain == plainName(plain) && plain[0] != '-'
}

// plainName returns a text with everything replaced that could mean something in the name of a file.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, text)
}

func shortName(text string) string {
	text = plainName(text)
	return text[:min(len(text), longestPart)]
}

// create creates the file of a recording.
func create(folder string, header Header) (file *os.File, name string, err error) {
	if err := safefile.MakeFolder(folder); err != nil {
		return nil, "", err
	}
	server := strings.TrimPrefix(header.Server, header.Toolbox+"/")
	stem := fmt.Sprintf("%s-%s-%s-%d", header.At.Format("20060102T150405"), shortName(header.Toolbox), shortName(server), os.Getpid())
	for number := 1; ; number++ {
		name = stem + suffix
		if number > 1 {
			name = fmt.Sprintf("%s-%d%s", stem, number, suffix)
		}
		file, err = os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) || number == maxFiles {
			return file, name, err
		}
	}
}

// write writes the first line of a recording.
func (h Header) write(dst io.Writer) (int, error) {
	h.Format = stored.Recording.Format // the same as that of stored.ServerRecordings
	first, err := json.Marshal(h)
	if err != nil {
		return 0, err
	}
	return dst.Write(append(first, '\n'))
}

func notFound(name string) error {
	return &toolbox.Error{
		Code: toolbox.RecordingNotFound, Message: fmt.Sprintf("There is no recording '%s'", tty.CleanLine(name)),
		Hint: "It may have been removed to make room for newer ones.",
	}
}

// open opens a recording of the folder. Links are not followed.
func (b *Book) open(name string) (*os.File, error) {
	if !isName(name) || b.options.Folder == "" {
		return nil, notFound(name)
	}
	root, err := os.OpenRoot(b.options.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(name)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is lost
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, notFound(name)
	}
	if err := stored.ServerRecordings.CheckFile(filepath.Join(b.options.Folder, name)); err != nil {
		return nil, err
	}
	return root.Open(name)
}

// list returns the recordings of a folder, the newest first. Files that are none, or of a newer format, are left out.
func list(folder string) (all []Info, err error) {
	if folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries[max(0, len(entries)-maxListed):] {
		if !isName(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		file, err := os.Open(filepath.Join(folder, entry.Name()))
		if err != nil {
			continue // it was just removed
		}
		if info, err := describe(file, entry.Name()); err == nil {
			all = append(all, info)
		}
		_ = file.Close()
	}
	slices.SortFunc(all, newestFirst)
	return all, nil
}

// describe describes the recording in a file by its first and its last line.
func describe(file *os.File, name string) (info Info, err error) {
	status, err := file.Stat()
	if err != nil {
		return info, err
	}
	head := make([]byte, min(status.Size(), maxHeader))
	if _, err := io.ReadFull(file, head); err != nil {
		return info, err
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var header Header
	if err := json.Unmarshal(first, &header); err != nil {
		return info, err
	}
	if err := stored.ServerRecordings.Check(file.Name(), first); err != nil {
		return info, err
	}
	info = Info{
		Name: name, Path: file.Name(), Toolbox: header.Toolbox, Server: strings.TrimPrefix(header.Server, header.Toolbox+"/"),
		At: header.At, Until: header.Until, Size: status.Size(),
	}
	end := make([]byte, min(status.Size(), maxEnd))
	if _, err := file.ReadAt(end, status.Size()-int64(len(end))); err != nil {
		return info, err
	}
	lines := bytes.Split(bytes.TrimSuffix(end, []byte("\n")), []byte("\n"))
	var last line
	if json.Unmarshal(lines[len(lines)-1], &last) == nil && last.Ended != "" {
		info.Messages, info.Lost, info.Ended, info.Until = last.Messages, last.Lost, last.Ended, time.Time{}
		return info, nil
	}
	info.Messages, err = countLines(file)
	return info, err
}

// countLines counts the messages of a recording whose end is missing, roughly.
func countLines(file *os.File) (n int, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	part := make([]byte, 64<<10)
	for {
		read, err := file.Read(part)
		n += bytes.Count(part[:read], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return max(n-1, 0), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// makeRoom removes the oldest recordings that have ended, so that there is room for those that run and the next one.
// Another workbench may be making one that is younger than it can be long.
func makeRoom(folder string, running int, now time.Time) error {
	all, err := list(folder)
	if err != nil {
		return err
	}
	total := int64(running) * maxFile
	for _, info := range all {
		total += info.Size
	}
	for n := len(all); n > 0 && (len(all) >= maxFiles || total > maxKept); n-- {
		info := all[n-1]
		if info.Ended == "" && now.Before(info.Until) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, info.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		all = slices.Delete(all, n-1, n)
		total -= info.Size
	}
	if len(all) >= maxFiles || total > maxKept {
		return fmt.Errorf("there are %d recordings of running servers, which is the limit, and others are making them", len(all))
	}
	return nil
}
