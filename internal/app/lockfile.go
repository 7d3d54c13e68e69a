package app

import (
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// ReadLock returns the lock of a configuration file as it is on the disk, or nil without one.
func ReadLock(file config.File) (*catalog.Lock, error) {
	data, err := file.ReadLock()
	if data == nil || err != nil {
		return nil, err
	}
	return ParseLock(file.LockPath(), data)
}

// WriteLock replaces the lock of a configuration file, and returns its content. Running workbenches watch it.
func WriteLock(file config.File, lock *catalog.Lock) ([]byte, error) {
	path, data := file.LockPath(), lock.Encode()
	if err := safefile.Replace(path, ".workbench-lock-*", data); err != nil {
		return nil, &toolbox.Error{
			Code:    toolbox.LockNotWritten,
			Message: fmt.Sprintf("%s was not written: %v", path, err),
			Hint:    "The lock is beside the configuration; you must be able to write to its folder.",
			Cause:   err,
		}
	}
	return data, nil
}
