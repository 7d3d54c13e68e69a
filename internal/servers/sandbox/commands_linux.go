//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// This file has the rules for ioctl. Landlock checks commands to devices only. Those to file systems need no right to write, and
// change files and folders that the program can only read.

// fileCommands are the types of commands to file systems: the second byte of the command. Those that are common to all, which ext4 and
// others extend; versions; XFS, and what others took from it; btrfs, which can put whole folders anywhere; F2FS.
var fileCommands = []uint32{'f', 'v', 'X', 0x94, 0xf5}

// harmlessCommands are those among them that only tell something, or that write to a file which is open for writing.
var harmlessCommands = []uint32{
	unix.FICLONE, unix.FICLONERANGE, unix.FIDEDUPERANGE,
	unix.FS_IOC_GETFLAGS, getFlags32, getVersion, getVersion32, getAttributes, fileExtents,
	unix.FS_IOC_GET_ENCRYPTION_POLICY, unix.FS_IOC_GET_ENCRYPTION_POLICY_EX, unix.FS_IOC_MEASURE_VERITY,
}

const (
	getFlags32    = 0x80046601
	getVersion    = 0x80087601
	getVersion32  = 0x80047601
	getAttributes = 0x801c581f
	fileExtents   = 0xc020660b
	tiocLinux     = 0x541c
	commandType   = 0xff00
)

// ioctlRules refuse what types into a terminal, and what changes files that can only be read. Programs expect of commands to
// file systems that one does not have them.
func ioctlRules() []instruction {
	toFiles := slices.Concat(loadArg(1), whenAny(harmlessCommands, allow()), refuse(unix.EOPNOTSUPP))
	rules := slices.Concat(loadArg(1),
		whenAny([]uint32{unix.TIOCSTI, tiocLinux, unix.TIOCSETD}, refuse(unix.EPERM)),
		mask(commandType))
	for _, kind := range fileCommands {
		rules = append(rules, whenEqual(kind<<8, toFiles)...)
	}
	return append(rules, allow()...)
}
