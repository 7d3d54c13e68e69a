package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Store keeps the trust records: one file per configuration, replaced atomically, so that concurrent
// processes need no lock.
type Store struct {
	folder string // "" without a place for records
}

// NewStore makes a store in the user's state folder. Without a folder, nothing is trusted and nothing can be recorded.
func NewStore(stateDir string) *Store {
	if stateDir == "" {
		return &Store{}
	}
	return &Store{folder: filepath.Join(stateDir, "trust")}
}

// Record is one trusted configuration.
type Record struct {
	Version int `json:"version"` // of the format; see stored.Trust

	Path   string    `json:"path"`
	SHA256 string    `json:"sha256"` // of the file and its variables
	Time   time.Time `json:"time"`
	Shown  []string  `json:"shown,omitempty"` // the review that its user saw
}

// Verdict is the result of looking a file up in the records.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // never trusted
	Changed                // trusted with other content
	Trusted
)

const (
	recordSuffix = ".json"
	maxRecord    = 1 << 20 // size of a trust record; a larger one counts as damaged
)

// Check looks a file up. If its record is unusable, the verdict is Unknown and the error is the reason.
func (s *Store) Check(f File) (Verdict, error) {
	if s.folder == "" {
		return Unknown, nil
	}
	path, err := identity(f.Path)
	if err != nil {
		return Unknown, err
	}
	record, err := s.read(recordName(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Unknown, nil
	case err != nil:
		return Unknown, err
	case record.SHA256 != f.digest():
		return Changed, nil
	}
	return Trusted, nil
}

// Shown returns the review that a person saw when the file was trusted; nil if it is unknown.
func (s *Store) Shown(path string) []string {
	path, err := identity(path)
	if err != nil || s.folder == "" {
		return nil
	}
	record, err := s.read(recordName(path))
	if err != nil {
		return nil
	}
	return record.Shown
}

// Await returns the path of a file's record, and creates its folder so that it can be watched.
func (s *Store) Await(path string) (record string, err error) {
	if s.folder == "" {
		return "", errNoFolder
	}
	if path, err = identity(path); err != nil {
		return "", err
	}
	if err := safefile.MakeFolder(s.folder); err != nil {
		return "", err
	}
	return filepath.Join(s.folder, recordName(path)), nil
}

var errNoFolder = &toolbox.Error{
	Code:    toolbox.NoStateFolder,
	Message: "There is no folder to record trust in: HOME and XDG_STATE_HOME are not set",
	Hint:    "Set one of them to a folder that only you can use.",
}

// Add records that a file is trusted as it was read.
func (s *Store) Add(f File) error {
	if s.folder == "" {
		return errNoFolder
	}
	path, err := identity(f.Path)
	if err != nil {
		return err
	}
	if _, err := s.read(recordName(path)); stored.IsNewer(err) {
		return err
	}
	record := Record{Version: stored.Trust.Format, Path: path, SHA256: f.digest(), Time: time.Now().UTC().Truncate(time.Second), Shown: f.Shown}
	content, err := json.Marshal(record)
	if err == nil && len(content) >= maxRecord {
		record.Shown = nil // the record has to stay readable
		content, err = json.Marshal(record)
	}
	if err != nil {
		return err
	}
	err = safefile.MakeFolder(s.folder)
	if err == nil {
		err = s.write(recordName(path), append(content, '\n'))
	}
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.TrustNotRecorded,
			Message: fmt.Sprintf("Trust could not be recorded: %v", err),
			Hint:    "The folder " + s.folder + " must be yours to write.",
			Cause:   err,
		}
	}
	_, err = s.read(recordName(path)) // a folder that others can change would not count
	return err
}

// write replaces a record atomically.
func (s *Store) write(name string, content []byte) error {
	if err := safefile.Replace(filepath.Join(s.folder, name), ".new-*", content); err != nil {
		return err
	}
	return syncFolder(s.folder)
}

// Revoke removes the record of a file. known reports whether there was one.
func (s *Store) Revoke(path string) (known bool, err error) {
	if s.folder == "" {
		return false, nil
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return false, err
	}
	if actual, err := identity(path); err == nil { // else its folder is gone
		path = actual
	}
	err = os.Remove(filepath.Join(s.folder, recordName(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, syncFolder(s.folder)
}

// List returns all records by path. The error names those that cannot be used.
func (s *Store) List() ([]Record, error) {
	if s.folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var records []Record
	var errs []error
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), recordSuffix) {
			continue
		}
		record, err := s.read(entry.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // just revoked
		case err != nil:
			errs = append(errs, err)
		default:
			records = append(records, record)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return records, errors.Join(errs...)
}

// read returns a record that is complete and that nobody else can have written.
func (s *Store) read(name string) (Record, error) {
	path := filepath.Join(s.folder, name)
	content, info, err := safefile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, err
	}
	if err != nil {
		return Record{}, damaged(path, errors.Unwrap(err).Error()) // the error names the path already
	}
	if reason := s.unsafe(info); reason != "" {
		return Record{}, damaged(path, reason)
	}
	if err := stored.Trust.Check(path, content); err != nil {
		return Record{}, err
	}
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return Record{}, damaged(path, "it is not a valid record")
	}
	sum, err := hex.DecodeString(record.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return Record{}, damaged(path, "its 'sha256' is none")
	}
	if recordName(record.Path) != name {
		return Record{}, damaged(path, "its 'path' is that of another record")
	}
	return record, nil
}

func (s *Store) unsafe(record fs.FileInfo) string {
	folder, err := safefile.Stat(s.folder)
	if err != nil {
		return err.Error()
	}
	if reason := safefile.AccessProblem(folder, safefile.Change); reason != "" {
		return "its folder " + reason
	}
	if reason := safefile.AccessProblem(record, safefile.Change); reason != "" {
		return "it " + reason
	}
	return ""
}

// recordName converts a path into a file name.
func recordName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16]) + recordSuffix
}

// damaged returns the error of an unusable record.
func damaged(file, reason string) error {
	return &toolbox.Error{
		Code:    toolbox.TrustDamaged,
		Message: fmt.Sprintf("The record of trust %s does not count: %s", display(file), reason),
	}
}
