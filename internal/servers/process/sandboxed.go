package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
)

// Sandbox limits what a child can do.
type Sandbox struct {
	Policy sandbox.Policy
	// Name tells servers apart: what a child downloads is kept in a folder of this name, and no other server can write
	// to it. Default: it is removed when the child has stopped.
	Name string
	// OwnFolder says that Spec.Dir was chosen for the child, so that it can read it.
	OwnFolder bool
}

// Folders below the state folder.
const (
	boxTempFolder  = "sandbox-temp"  // has a folder for each run, with one for each child in it
	boxCacheFolder = "sandbox-cache" // has a folder for each server
)

// box is the sandbox of one child. A nil box is none.
type box struct {
	executable string
	plan       *sandbox.Plan
	line       *sandbox.Line
	warden     *sandbox.Warden
	gaps       []string
	temp       string // removed at the end
}

// openBox prepares the sandbox of a child; nil if it has none.
func (h *Host) openBox(spec Spec, path string) (opened *box, err error) {
	if spec.Sandbox == nil {
		return nil, nil
	}
	if err := sandbox.Supported(); err != nil {
		return nil, err
	}
	b := &box{executable: h.options.Executable}
	if b.executable == "" {
		b.executable = "/proc/self/exe" // the running binary, even after an update replaced the file
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	cache, err := h.boxFolders(b, spec.Sandbox.Name)
	if err != nil {
		return nil, fmt.Errorf("the folders of the sandbox: %w", err)
	}
	dir, err := filepath.Abs(spec.Dir)
	if err != nil {
		return nil, err
	}
	b.plan, err = sandbox.NewPlan(spec.Sandbox.Policy, sandbox.Program{
		Path: path, Args: append([]string{spec.Command}, spec.Args...), Env: spec.Env,
		Dir: dir, Own: spec.Sandbox.OwnFolder, Temp: b.temp, Cache: cache,
	})
	if err != nil {
		return nil, err
	}
	if b.line, err = sandbox.Open(b.plan); err != nil {
		return nil, err
	}
	return b, nil
}

// boxFolders makes the folder for temporary files of a child, and returns the one for what it keeps.
func (h *Host) boxFolders(b *box, name string) (cache string, err error) {
	parent := ""
	if h.options.StateDir != "" {
		parent = boxTemp(h.options.StateDir, h.platform.runName())
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", err
		}
	}
	if b.temp, err = os.MkdirTemp(parent, "mcp-"); err != nil {
		return "", err
	}
	if parent == "" || name == "" {
		return b.temp, nil
	}
	all, err := filepath.Abs(filepath.Join(h.options.StateDir, boxCacheFolder))
	if err != nil {
		return "", err
	}
	cache = filepath.Join(all, name)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	now := time.Now()
	_ = os.Chtimes(cache, now, now) // if it fails, it is removed earlier
	h.tidyBoxes.Do(func() { removeOldCaches(all, now.Add(-boxCacheAge)) })
	return cache, nil
}

// boxCacheAge is how long what a sandboxed server downloaded is kept after its last start.
const boxCacheAge = 90 * 24 * time.Hour

// removeOldCaches removes the caches of servers that were not started since a time.
func removeOldCaches(folder string, since time.Time) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // the next start tries again
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && info.ModTime().Before(since) {
			removeTree(filepath.Join(folder, entry.Name()))
		}
	}
}

// boxTemp returns the folder for temporary files of sandboxed children of a run.
func boxTemp(stateDir, run string) string {
	dir, err := filepath.Abs(filepath.Join(stateDir, boxTempFolder, run))
	if err != nil {
		return filepath.Join(stateDir, boxTempFolder, run)
	}
	return dir
}

// wrap makes a command that of the launcher.
func (b *box) wrap(cmd *exec.Cmd) {
	if b == nil {
		return
	}
	cmd.Path, cmd.Args, cmd.Env, cmd.ExtraFiles = b.executable, []string{sandbox.LauncherName}, []string{}, b.line.Files()
}

// await waits until the launcher has become the child.
func (b *box) await(spec Spec, path string) (err error) {
	if b == nil {
		return nil
	}
	defer b.line.Close()
	b.warden, b.gaps, err = b.line.Await()
	errno, isExec := errors.AsType[syscall.Errno](err)
	switch {
	case isExec && errno == syscall.EACCES:
		return &sandbox.Error{
			Message: fmt.Sprintf("cannot start %q: permission denied: %s is not executable, or the sandbox does not let it read the interpreter that the first line names", spec.Command, path),
			Fix:     "Add the folder of the interpreter to 'sandbox.read'.",
		}
	case isExec:
		return startError(spec, path, errno)
	}
	if wrong, ok := errors.AsType[*sandbox.Error](err); ok && wrong.Fix == "" && b.plan.Memory > 0 {
		wrong.Fix = fmt.Sprintf("Raise 'sandbox.memory', which is %d MiB: the launcher may have run out of it.", b.plan.Memory>>20)
	}
	return err
}

// close ends what belongs to the sandbox, once the child has ended.
func (b *box) close() {
	if b == nil {
		return
	}
	b.warden.Close()
	if b.line != nil {
		b.line.Close()
	}
	if b.temp != "" {
		removeTree(b.temp)
	}
}

// removeTree removes a folder, even if there are folders in it that nobody may change. What cannot be removed is left to the
// next start.
func removeTree(folder string) {
	if os.RemoveAll(folder) == nil {
		return
	}
	if root, err := os.OpenRoot(folder); err == nil { // a link leads nowhere else
		_ = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				_ = root.Chmod(path, 0o700)
			}
			return nil
		})
		_ = root.Close()
	}
	_ = os.RemoveAll(folder)
}

// Gaps returns what the system cannot keep a sandboxed child from; none if its sandbox is complete, or if it has none.
func (p *Process) Gaps() []string {
	if p.box == nil {
		return nil
	}
	return p.box.gaps
}

// Denied explains lines of a sandboxed child's stderr that tell of something the sandbox refused.
func (p *Process) Denied(lines []string) []sandbox.Denial {
	if p.box == nil {
		return nil
	}
	return p.box.plan.Explain(lines)
}

// IsShortOfMemory reports whether a child with sandbox.memory seems to have run into it, by lines of its stderr.
func (p *Process) IsShortOfMemory(lines []string) bool {
	return p.box != nil && p.box.plan.IsShortOfMemory(lines)
}

// MayLackMemory reports whether a child with sandbox.memory has ended as one that runs into it.
func (p *Process) MayLackMemory() bool { return p.box != nil && p.box.plan.MayLackMemory(p.Exit()) }
