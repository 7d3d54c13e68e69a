package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	maxNotes      = 5000            // notes in a store; a further one is refused
	maxNotesBytes = 8 << 20         // size of all notes; a further one is refused
	lockWait      = 5 * time.Second // for another process that writes the notes; then an error
)

// note is one stored note.
type note struct {
	ID      int       `json:"id" jsonschema:"Number of the note"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text"`
	Tags    []string  `json:"tags,omitempty"`
	Created time.Time `json:"created" jsonschema:"When it was remembered, RFC 3339"`
}

// notebook is the content of the file. Ids increase and are never reused, so that an id from an old conversation cannot
// name another note.
type notebook struct {
	Version int    `json:"version"`
	NextID  int    `json:"next_id"`
	Notes   []note `json:"notes"`
}

// store keeps a notebook in a file that several processes may use. The file is replaced as a whole, never written in
// place. The lock is a file beside it, because replacing the file would drop a lock on it.
type store struct {
	path string
	most int           // size limit of the file, in bytes
	wait time.Duration // for the lock
}

// read returns the notebook. Without a file it returns an empty one and creates nothing.
func (s *store) read(ctx context.Context) (*notebook, error) {
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return s.load()
	}
	release, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.load()
}

// update changes the notebook. If change fails, nothing is written.
func (s *store) update(ctx context.Context, change func(*notebook) error) error {
	if err := makePrivate(filepath.Dir(s.path)); err != nil {
		return s.explain("prepare the folder of", err)
	}
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	book, err := s.load()
	if err != nil {
		return err
	}
	if err := change(book); err != nil {
		return err
	}
	return s.save(book)
}

func (s *store) load() (*notebook, error) {
	file, _, err := safefile.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &notebook{Version: stored.Notebook.Format, NextID: 1}, nil
	}
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(s.most)+1))
	if err != nil {
		return nil, s.explain("read", err)
	}
	if len(data) > s.most {
		return nil, s.damaged(fmt.Errorf("it is larger than %d KiB", s.most>>10))
	}
	if err := stored.Notebook.Check(s.path, data); err != nil {
		return nil, err
	}
	book, err := parseNotebook(data)
	if err != nil {
		return nil, s.damaged(err)
	}
	return book, nil
}

// parseNotebook is strict: unknown content would be lost when the file is written again.
func parseNotebook(data []byte) (*notebook, error) {
	var version struct{ Version int }
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Version != stored.Notebook.Format {
		return nil, fmt.Errorf("there is no format %d", version.Version)
	}
	book := new(notebook)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(book); err != nil {
		return nil, err
	}
	last := 0
	for _, n := range book.Notes {
		if n.ID <= last {
			return nil, fmt.Errorf("note %d is out of order", n.ID)
		}
		last = n.ID
	}
	if book.NextID <= last {
		return nil, fmt.Errorf("the next note would be %d again", book.NextID)
	}
	return book, nil
}

// save replaces the file, so that readers see either the old or the new one.
func (s *store) save(book *notebook) error {
	data, err := json.MarshalIndent(book, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding notes: %w", err)
	}
	if len(data) > s.most {
		return refuse("Use forget for notes that are no longer needed.",
			"The notes would take more than %d KiB together.", s.most>>10)
	}
	if err := safefile.Replace(s.path, ".notes-*.tmp", data); err != nil {
		return s.explain("write", err)
	}
	syncFolder(filepath.Dir(s.path))
	return nil
}

// lock waits until no other process uses the file.
func (s *store) lock(ctx context.Context) (release func(), err error) {
	release, err = safefile.Lock(ctx, s.path+".lock", s.wait)
	if err != nil {
		return nil, s.explain("lock", err)
	}
	return release, nil
}

func (s *store) explain(what string, err error) error {
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner // the message names the path already
	}
	return &toolbox.Error{
		Message: fmt.Sprintf("Cannot %s the notes file %s: %v.", what, s.path, reason),
		Hint:    "Nothing was changed. If it happens again, tell the user, naming the file.",
		Cause:   err,
	}
}

func (s *store) damaged(err error) error {
	return &toolbox.Error{
		Message: fmt.Sprintf("The notes file %s is damaged: %v.", s.path, err),
		Hint:    "It was left as it is. Tell the user to repair it or move it away; notes work again after that.",
		Cause:   err,
	}
}

// makePrivate creates the folder if necessary, and makes it inaccessible to other users.
func makePrivate(dir string) error {
	if err := safefile.MakeFolder(dir); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}
