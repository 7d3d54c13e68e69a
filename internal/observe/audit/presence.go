package audit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// presence shows other processes that this one writes to the log: a file with its name that it holds a lock of. The lock ends
// with the process, so that a file without one is of a process that was killed.
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
		if _, err := os.Stat(p.path); err == nil {
			return nil, nil
		}
		p.unlock() // the folder was removed
		p.unlock = nil
	}
	folder = filepath.Join(folder, writersDir)
	if err := safefile.MakeFolder(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries[:min(len(entries), maxPresences)] {
		path := filepath.Join(folder, entry.Name())
		switch stateOfPresence(path) {
		case writerKilled:
			killed = append(killed, item{
				at: time.Now(), body: newFields(eventLog, "killed").text("of", entry.Name()),
				then: func() { _ = os.Remove(path) }, // the next start tries again
			})
		case writerLeft:
			_ = os.Remove(path) // the next start tries again
		}
	}
	p.path = filepath.Join(folder, writer)
	if err := os.WriteFile(p.path, []byte(writer+"\n"+placeOf(folder)+"\n"), 0o600); err != nil { // before the lock, which excludes other handles on Windows
		_ = os.Remove(p.path) // the next attempt makes it anew
		return nil, err
	}
	p.unlock, err = safefile.Lock(context.Background(), p.path, lockWait)
	return killed, err
}

// writerState is what the file of a presence says of its process.
type writerState int

const (
	writerRuns   writerState = iota // or it cannot be determined
	writerKilled                    // it ended without a last line
	writerLeft                      // the file is empty: it ended with a last line, or has not written any; or the file is a copy
)

// stateOfPresence looks at the file of a presence.
func stateOfPresence(path string) writerState {
	if _, err := os.Stat(path); err != nil {
		return writerRuns // it has just ended
	}
	unlock, err := safefile.Lock(context.Background(), path, lockTry)
	if err != nil {
		return writerRuns
	}
	unlock() // it excludes other handles on Windows
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return writerLeft
	}
	if _, place, hasPlace := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n"); hasPlace && place != placeOf(filepath.Dir(path)) {
		return writerLeft // whether the process runs, only the original shows
	}
	return writerKilled
}

// placeOf names a folder of presences, so that a copy is told from the original.
func placeOf(folder string) string {
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return folder
}

// countKilled returns how many processes ended without a last line, which the log does not say yet.
func countKilled(folder string) (killed int) {
	entries, _ := os.ReadDir(filepath.Join(folder, writersDir)) // a copy of a log may have none
	for _, entry := range entries[:min(len(entries), maxPresences)] {
		if stateOfPresence(filepath.Join(folder, writersDir, entry.Name())) == writerKilled {
			killed++
		}
	}
	return killed
}

// isThere reports whether other processes can see this one.
func (p *presence) isThere() bool { return p.unlock != nil }

// leave ends the presence. Without a last line in the log, it stays as that of a process that was killed.
func (p *presence) leave(isRecorded bool) {
	if p.unlock == nil {
		return
	}
	if isRecorded {
		_ = os.Truncate(p.path, 0) // so that nobody takes this process for killed until the file is removed
	}
	p.unlock()
	p.unlock = nil
	if isRecorded {
		_ = os.Remove(p.path) // else the next start does
	}
}
