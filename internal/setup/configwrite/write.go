package configwrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

const (
	lockWait = 5 * time.Second // for another command that writes the configuration; then an error
	pattern  = ".workbench-*"  // of temporary files
)

// Write replaces both files, the variables first: a running workbench reloads the configuration as soon as it changes.
func (r *Revision) Write(ctx context.Context, next Content) error {
	release, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if !r.isSame() {
		return r.errChanged()
	}
	wasTrusted, wasFree := r.wasTrusted(), !r.IsNew && !needsTrust(r.source)
	err = r.writeFiles(next)
	if errors.Is(err, safefile.ErrChanged) {
		return r.errChanged()
	}
	if err != nil {
		return &toolbox.Error{
			Code:    toolbox.FileNotWritten,
			Message: fmt.Sprintf("%s was not written: %v", r.Path, err),
			Hint:    "Check that the folder is yours, or name another file with --config.",
			Cause:   err,
		}
	}
	if wasTrusted || wasFree {
		return r.recordTrust(next, wasTrusted && !r.IsNew)
	}
	return nil
}

func (r *Revision) writeFiles(next Content) error {
	if !bytes.Equal(next.Env, r.source.Env) {
		if err := safefile.MakeFolder(filepath.Dir(r.Path)); err != nil {
			return err
		}
		if err := safefile.Replace(resolveLink(config.EnvPath(r.Path)), pattern, next.Env); err != nil {
			return err
		}
	}
	return safefile.Edit(r.Path, pattern, r.source.Data, next.Data, 0o600)
}

// resolveLink resolves a link, so that the link itself is not replaced.
func resolveLink(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// lock excludes other revisions of the file. The lock is in the state folder, since the file may be
// in a project's folder.
func (r *Revision) lock(ctx context.Context) (release func(), err error) {
	path := r.Path + ".lock"
	if r.options.StateDir != "" {
		folder := filepath.Join(r.options.StateDir, "locks")
		if err := safefile.MakeFolder(folder); err != nil {
			return nil, fmt.Errorf("the folder for locks could not be created: %w", err)
		}
		path = filepath.Join(folder, fmt.Sprintf("%x.lock", sha256.Sum256([]byte(resolveLink(r.Path)))))
	} else if err := safefile.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	release, err = safefile.Lock(ctx, path, lockWait)
	if errors.Is(err, safefile.ErrLocked) {
		return nil, &toolbox.Error{
			Code:    toolbox.ConfigBusy,
			Message: fmt.Sprintf("%s is being changed by another command", r.Path),
			Hint:    "Try again when that is done.",
			Cause:   err,
		}
	}
	return release, err
}

// wasTrusted reports whether the content that was read is trusted or did not exist: content that users write themselves
// needs no consent.
func (r *Revision) wasTrusted() bool {
	if r.IsNew {
		return r.source.EnvInfo == nil
	}
	verdict, err := trust.NewStore(r.options.StateDir).Check(trust.FileOf(r.source))
	return err == nil && verdict == trust.Trusted
}

// recordTrust records the trust of the new content if it needs trust, or always.
func (r *Revision) recordTrust(next Content, always bool) error {
	written, err := config.Read(r.Path)
	if err != nil {
		return err
	}
	if !always && (r.options.StateDir == "" || !needsTrust(written)) {
		return nil
	}
	if !bytes.Equal(written.Data, next.Data) || !bytes.Equal(written.Env, next.Env) {
		return r.errChanged()
	}
	return trust.NewStore(r.options.StateDir).Add(trust.FileOf(written))
}

// needsTrust reports whether a file, if it is only found, needs trust.
func needsTrust(source *config.Source) bool {
	if source.Path == config.UserPath(os.Getenv) && trust.Doubt(trust.FileOf(source)) == "" {
		return false
	}
	return trust.Doubt(trust.FileOf(source)) != "" || len(source.Forms()) > 0
}

// servers returns the definitions of all servers as written.
func servers(data []byte) [][]byte {
	root, err := hujson.Parse(append(bytes.TrimPrefix(bytes.Clone(data), []byte("\uFEFF")), '\n'))
	if err != nil {
		return nil
	}
	var found [][]byte
	for _, box := range members(root.Find("/toolboxes")) {
		for _, server := range members(box.Value.Find("/mcpServers")) {
			found = append(found, server.Value.Pack())
		}
	}
	return found
}

func members(value *hujson.Value) []hujson.ObjectMember {
	if value == nil {
		return nil
	}
	if object, ok := value.Value.(*hujson.Object); ok {
		return object.Members
	}
	return nil
}
