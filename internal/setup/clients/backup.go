package clients

import (
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// keptBackups is the number of changes stored per client; older ones are removed, unless one is the only copy of a server.
const keptBackups = 20

// The files of a backup: the record, and the content before and after the change.
const (
	recordSuffix  = ".json"
	beforeSuffix  = ".backup"
	writtenSuffix = ".written"
)

// Backups stores the content of clients' files before and after each change, in a folder that only this user can read:
// it may contain secrets.
type Backups struct{ Dir string }

// Backup is one change of a file.
type Backup struct {
	Version int `json:"version"` // of the format; see stored.Backups

	Client string `json:"client"`
	File   string `json:"file"`
	Was    bool   `json:"was_there"` // false: the file was made
	// Mode is that of the file before, if the change took it from other users; 0 otherwise.
	Mode fs.FileMode `json:"mode,omitempty"`
	// PutBack means that the change put back servers which an earlier one had taken out.
	PutBack bool `json:"put_back,omitempty"`

	path string // of this record, without its ending
}

// Path is the file with the content before the change.
func (b *Backup) Path() string { return b.path + beforeSuffix }

// Written returns the content after the change.
func (b *Backup) Written() ([]byte, error) { return os.ReadFile(b.path + writtenSuffix) }

// Before returns the content before the change; nil if the file did not exist.
func (b *Backup) Before() ([]byte, error) {
	if !b.Was {
		return nil, nil
	}
	return os.ReadFile(b.Path())
}

// Store stores a change before it is made. before is nil if the file does not exist.
func (s Backups) Store(change Backup, before, after []byte, now time.Time) (*Backup, error) {
	if err := safefile.MakeFolder(s.Dir); err != nil {
		return nil, err
	}
	b := &change
	b.Version, b.Was = stored.Backups.Format, before != nil
	b.path = filepath.Join(s.Dir, now.UTC().Format("20060102T150405.000000000Z")+"-"+b.Client)
	record, err := json.Marshal(b)
	if err == nil && b.Was {
		err = safefile.Replace(b.Path(), ".backup-*", before)
	}
	if err == nil {
		err = safefile.Replace(b.path+writtenSuffix, ".backup-*", after)
	}
	if err == nil {
		err = safefile.Replace(b.path+recordSuffix, ".backup-*", record)
	}
	if err != nil {
		return nil, err
	}
	return b, s.prune(b.Client)
}

// Last returns the latest change of a client's files, or of one file if it is given; nil without one.
func (s Backups) Last(client, file string) (*Backup, error) {
	for b, err := range s.latestFirst(client) {
		if err != nil || file == "" || b.File == file {
			return b, err
		}
	}
	return nil, nil
}

// Changes returns all changes of a client's file, the latest first.
func (s Backups) Changes(client, file string) (found []*Backup, err error) {
	for b, err := range s.latestFirst(client) {
		if err != nil {
			return nil, err
		}
		if b.File == file {
			found = append(found, b)
		}
	}
	return found, nil
}

// latestFirst returns the changes of a client's files, and ends with the first that cannot be read.
func (s Backups) latestFirst(client string) iter.Seq2[*Backup, error] {
	return func(yield func(*Backup, error) bool) {
		all, err := s.all(client)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, path := range slices.Backward(all) {
			b, err := readBackup(path)
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// readBackup returns a record, given its path without the ending.
func readBackup(path string) (*Backup, error) {
	data, err := os.ReadFile(path + recordSuffix)
	if err == nil {
		err = stored.Backups.Check(path+recordSuffix, data)
	}
	b := &Backup{path: path}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Remove removes the record of a change that was undone.
func (s Backups) Remove(b *Backup) error {
	err := os.Remove(b.path + recordSuffix)
	for _, suffix := range []string{beforeSuffix, writtenSuffix} {
		if removed := os.Remove(b.path + suffix); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// all returns the records of a client without their endings, oldest first.
func (s Backups) all(client string) ([]string, error) {
	entries, err := os.ReadDir(s.Dir) // sorted, and names begin with the time
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found []string
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		if _, of, ok := strings.Cut(name, "-"); isRecord && ok && of == client {
			found = append(found, filepath.Join(s.Dir, name))
		}
	}
	return found, err
}

// prune removes the oldest changes beyond the limit. A change stays if it is the only one that has a server which was taken out
// of the client's file, or if it cannot be read.
func (s Backups) prune(client string) error {
	all, err := s.all(client)
	if len(all) <= keptBackups {
		return err
	}
	held := make(map[string]bool)
	var spare []string // the latest first
	for _, path := range slices.Backward(all) {
		taken, err := takenBy(path)
		isSpare := err == nil
		for _, key := range taken {
			isSpare = isSpare && held[key]
			held[key] = true
		}
		if isSpare {
			spare = append(spare, path)
		}
	}
	surplus := min(len(all)-keptBackups, len(spare))
	for _, path := range spare[len(spare)-surplus:] {
		err = errors.Join(err, s.Remove(&Backup{path: path}))
	}
	return err
}

// takenBy returns a key for each server, with its settings, that a change took out.
func takenBy(path string) (keys []string, err error) {
	b, err := readBackup(path)
	if err != nil {
		return nil, err
	}
	client := ByID(b.Client)
	if client == nil {
		return nil, nil
	}
	if b.Was {
		taken, err := client.takenOut(b.File, []*Backup{b}, nil)
		for _, one := range taken {
			keys = append(keys, b.File+"\x00"+placeOf(one.servers, one.Name)+"\x00"+canonical(one.value))
		}
		return keys, err
	}
	return nil, nil
}
