package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// maxLog is the size at which a log is rotated; the previous one is kept.
const maxLog = 1 << 20

// keptLogs is the age at which an unused log is removed.
const keptLogs = 14 * 24 * time.Hour

// LogPath returns the path of the log of the workbench with that key.
func LogPath(stateDir, key string) string {
	return filepath.Join(stateDir, "logs", "daemon-"+key[:16]+".log")
}

// Log is a file of limited size. It is safe for concurrent use.
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLog opens or creates a log, and removes old ones beside it.
func OpenLog(path string) (*Log, error) {
	file, err := openLog(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file}
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
	removeOld(filepath.Dir(path))
	return l, nil
}

// openLog opens the file, readable by this user only.
func openLog(path string) (*os.File, error) {
	if err := safefile.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

func removeOld(dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, "daemon-*.log*")) // the pattern is valid
	for _, path := range logs {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > keptLogs {
			_ = os.Remove(path) // the next start tries again
		}
	}
}

// Write implements io.Writer.
func (l *Log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(data)) > maxLog && l.size > 0 {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(data)
	l.size += int64(n)
	return n, err
}

// rotate starts a new log. It is called with mu held.
func (l *Log) rotate() error {
	before := l.path + ".1"
	if err := os.Remove(before); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = l.file.Close() // Windows cannot rename an open file
	if err := os.Rename(l.path, before); err != nil {
		return err
	}
	file, err := openLog(l.path)
	if err != nil {
		return err
	}
	l.file, l.size = file, 0
	return nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
