package credentials

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

const (
	// FolderName is the name of the folder of logins in the state folder.
	FolderName = "logins"

	suffix     = ".json"
	lockSuffix = ".lock"
	tempSuffix = ".tmp"
	hashBytes  = 16 // of each hash in a file name
)

// Store keeps logins in a folder. Any number of processes may use the same one. It is safe for concurrent use.
type Store struct {
	folder string // "": there is none
	keys   *keySource
	log    *slog.Logger

	listing *listing
}

// Options are the options of a store.
type Options struct {
	Seal SealOptions
	Log  *slog.Logger // nil: none
}

// Open returns the store in a folder, which is created when the first login is saved. A store without folder ("") is
// empty, and refuses to save.
func Open(folder string, options Options) *Store {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{folder: folder, keys: newKeySource(folder, options.Seal), log: options.Log}
	s.listing = &listing{store: s}
	return s
}

// Folder returns the folder of logins in a state folder; "" if there is none.
func Folder(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, FolderName)
}

// Find returns the logins at all authorization servers for a server and account, the last changed first, dead ones
// included. Those that can be read are returned along with an error about the others.
func (s *Store) Find(server, account string) ([]*Credential, error) {
	return s.readAll(prefixOf(server, account))
}

// All returns all logins, the last changed first. Those that can be read are returned along with an error about the
// others.
func (s *Store) All() ([]*Credential, error) { return s.readAll("") }

// Load returns a login; nil if there is none.
func (s *Store) Load(key Key) (*Credential, error) {
	if s.folder == "" {
		return nil, nil
	}
	if err := s.checkFolder(); err != nil {
		return nil, err
	}
	return s.read(nameOf(key))
}

func (s *Store) readAll(prefix string) ([]*Credential, error) {
	if s.folder == "" {
		return nil, nil
	}
	if err := s.checkFolder(); err != nil {
		return nil, err
	}
	names, err := s.list(prefix)
	if err != nil {
		return nil, err
	}
	var found []*Credential
	var wrong []error
	for _, name := range names {
		credential, err := s.read(name)
		if err != nil {
			wrong = append(wrong, err)
		}
		if credential != nil {
			found = append(found, credential)
		}
	}
	slices.SortStableFunc(found, func(a, b *Credential) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.Generation, a.Generation))
	})
	return found, errors.Join(wrong...)
}

// list returns the names of the files of logins that begin with a prefix.
func (s *Store) list(prefix string) ([]string, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("list", s.folder, err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, prefix) && isName(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// read returns the login in a file; nil if there is no such file.
func (s *Store) read(name string) (*Credential, error) {
	path := filepath.Join(s.folder, name)
	data, info, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("read", path, err)
	}
	if err := checkAccess(path, info, safefile.ReadOrChange, "600"); err != nil {
		return nil, err
	}
	return s.decode(name, data)
}

// checkFolder refuses a folder that other users can change. A missing one is none.
func (s *Store) checkFolder() error {
	info, err := os.Stat(s.folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return failed("examine", s.folder, err)
	case !info.IsDir():
		return failed("examine", s.folder, errors.New("it is not a folder"))
	}
	return checkAccess(s.folder, info, safefile.Change, "700")
}

func checkAccess(path string, info fs.FileInfo, forbidden fs.FileMode, mode string) error {
	switch reason := safefile.AccessProblem(info, forbidden); {
	case reason == "":
		return nil
	case safefile.IsForeign(info):
		return foreign(path, info.IsDir())
	default:
		return exposed(path, info.IsDir(), reason, mode)
	}
}

// Stamp identifies a state of the logins for a server and account. Stamps are compared with ==.
type Stamp struct{ hash [sha256.Size]byte }

// Stamp returns the current state, from the entries of the folder alone. It is another one after any change of a login
// for the server and account by any process.
func (s *Store) Stamp(server, account string) Stamp {
	list := s.list
	if IsPersonal(account) {
		list = s.listing.of
	}
	names, err := list(prefixOf(server, account))
	if s.folder == "" || err != nil || len(names) == 0 {
		return Stamp{}
	}
	hash := sha256.New()
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(s.folder, name))
		if err != nil {
			continue // it went meanwhile
		}
		// The file's number and time tell versions of equal size apart: each is a new file with a later time.
		device, file := safefile.Identity(info)
		hash.Write([]byte(name))
		for _, number := range []uint64{device, file, uint64(info.Size()), uint64(info.Mode()), uint64(info.ModTime().UnixNano())} {
			_ = binary.Write(hash, binary.BigEndian, number) // a hash takes everything
		}
	}
	return Stamp{[sha256.Size]byte(hash.Sum(nil))}
}

// nameOf returns the name of a login's file.
func nameOf(key Key) string { return prefixOf(key.Server, key.Account) + hashOf(key.Issuer) + suffix }

// prefixOf returns how the names of the files for a server and account begin.
func prefixOf(server, account string) string { return hashOf(server, account) + "-" }

func hashOf(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		_ = binary.Write(hash, binary.BigEndian, uint64(len(part)))
		hash.Write([]byte(part))
	}
	return hex.EncodeToString(hash.Sum(nil)[:hashBytes])
}

// isName reports whether a file may be a login's.
func isName(name string) bool {
	hashes, ok := strings.CutSuffix(name, suffix)
	return ok && len(hashes) == 4*hashBytes+1 && hashes[2*hashBytes] == '-'
}
