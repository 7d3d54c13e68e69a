package audit

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// presence shows other processes that this one writes to the log: a file that it holds a lock of. The lock ends with the
// process, so that a file without one is of a process that was killed.
type presence struct {
	path   string
	unlock func()
}

// lockTry is how long the lock of another process is tried.
const lockTry = time.Millisecond

// maxPresences is how many processes are looked for at once; the others are looked for by the next one.
const maxPresences = 1000

// enter shows the presence of a writer, once, and returns lines about writers that were killed. The caller holds the lock of
// the log.
func (p *presence) enter(folder, writer string) (killed []item, err error) {
	if p.unlock != nil {
		return nil, nil
	}
	folder = filepath.Join(folder, writersDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries[:min(len(entries), maxPresences)] {
		path := filepath.Join(folder, entry.Name())
		unlock, err := safefile.Lock(context.Background(), path, lockTry)
		if err != nil {
			continue // it runs
		}
		unlock()
		killed = append(killed, item{
			at: time.Now(), body: newFields(eventLog, "killed").text("of", entry.Name()),
			then: func() { _ = os.Remove(path) }, // the next start tries again
		})
	}
	p.path = filepath.Join(folder, writer)
	p.unlock, err = safefile.Lock(context.Background(), p.path, lockWait)
	return killed, err
}

// isThere reports whether other processes can see this one.
func (p *presence) isThere() bool { return p.unlock != nil }

// leave ends the presence. Without a last line in the log, it stays as that of a process that was killed.
func (p *presence) leave(isRecorded bool) {
	if p.unlock == nil {
		return
	}
	p.unlock()
	p.unlock = nil
	if isRecorded {
		_ = os.Remove(p.path) // else the next process takes this one for killed
	}
}
