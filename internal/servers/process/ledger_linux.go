package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ledgerFolder = "runs"
	bootIDFile   = "/proc/sys/kernel/random/boot_id"

	// A ledger file is renamed to its final name once it is locked. An older unfinished one was left by a crash.
	unfinished    = ".new"
	unfinishedAge = time.Hour // after which an unfinished ledger file is deleted

	// ledgerMode lets nobody read a ledger file: a lock needs an open file, and a sandboxed server that reads everything would take
	// the lock once the workbench and its guard are killed. The next start would think that they live, and leave the server alone.
	ledgerMode = 0o200

	// leftoverLimit bounds the time that a start spends on ending leftovers of earlier runs; the rest is for the next
	// start.
	leftoverLimit = 5 * time.Second
)

// ledger records that a run exists. Its file is named after the run, contains the boot id of the machine, and is locked
// while the workbench or its guard lives: both share the open file description. Nothing is written per child.
type ledger struct {
	file *os.File
	path string
}

func openLedger(stateDir string, r run) (*ledger, error) {
	dir, err := filepath.Abs(filepath.Join(stateDir, ledgerFolder)) // the guard has another working directory
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, r.String())
	file, err := os.OpenFile(path+unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ledgerMode)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = file.WriteString(bootID())
	}
	if err == nil {
		err = os.Rename(path+unfinished, path)
	}
	if err != nil {
		_ = file.Close()
		_ = os.Remove(path + unfinished) // best effort: the next runs do it, too
		return nil, err
	}
	return &ledger{file: file, path: path}, nil
}

// finish deletes the record of a run without remaining processes.
func (l *ledger) finish() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the guard was faster
	}
	return errors.Join(err, l.file.Close())
}

// bootID identifies the boot of the machine. No process survives a reboot.
func bootID() string {
	id, err := os.ReadFile(bootIDFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// endLeftovers ends the processes of runs whose workbench and guard are both gone.
func endLeftovers(stateDir string, log *slog.Logger) {
	dir := filepath.Join(stateDir, ledgerFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // no folder means no runs; openLedger reports other errors
	}
	ctx, cancel := context.WithTimeout(context.Background(), leftoverLimit)
	defer cancel()
	for _, entry := range entries {
		if ctx.Err() != nil {
			return // the rest is for the next start
		}
		path := filepath.Join(dir, entry.Name())
		if strings.HasSuffix(entry.Name(), unfinished) {
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > unfinishedAge {
				_ = os.Remove(path) // another start may have done it
			}
			continue
		}
		if r, err := parseRun(entry.Name()); err == nil {
			if err := endLeftover(ctx, path, r); err != nil {
				log.Warn("could not end all processes of an earlier run", "run", r, "error", err)
			}
		}
	}
}

// endLeftover ends one run unless its file is locked.
func endLeftover(ctx context.Context, path string, r run) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // NFS locks only writable files
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	if noted, err := readLedger(file); err == nil && noted == bootID() { // an unreadable id counts as different
		if err := (target{run: r}).sweep(ctx, guardGrace, killLimit); err != nil {
			return err
		}
	}
	removeBoxes(filepath.Dir(filepath.Dir(path)), r.String())
	return os.Remove(path)
}

// readLedger returns what is in a ledger file, which has to be locked, and cannot be read otherwise.
func readLedger(file *os.File) (string, error) {
	if err := file.Chmod(ledgerMode | 0o400); err != nil {
		return "", err
	}
	defer func() { _ = file.Chmod(ledgerMode) }() // it is removed soon
	readable, err := os.Open(file.Name())
	if err != nil {
		return "", err
	}
	defer readable.Close()
	text := make([]byte, 64)
	n, err := readable.Read(text)
	return string(text[:n]), err
}
