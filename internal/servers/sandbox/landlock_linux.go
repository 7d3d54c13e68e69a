//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights of files, as Landlock has them.
const (
	readRights  = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSReadDir
	writeRights = landlock.AccessFSWriteFile | landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile | landlock.AccessFSMakeChar |
		landlock.AccessFSMakeDir | landlock.AccessFSMakeReg | landlock.AccessFSMakeSock | landlock.AccessFSMakeFifo |
		landlock.AccessFSMakeBlock | landlock.AccessFSMakeSym | landlock.AccessFSRefer | landlock.AccessFSTruncate
	deviceRights = landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate
	fileRights   = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate |
		landlock.AccessFSIoctlDev
)

// landlockVersions are the versions of Landlock from 1 on, with what each of them can restrict, and what is open without it.
var landlockVersions = []struct {
	files, network, scopes uint64
	gap                    string // what is open in the version before; "": nothing that the filter does not close
}{
	{files: readRights | writeRights&^(landlock.AccessFSRefer|landlock.AccessFSTruncate), gap: "the kernel has no Landlock, so that files cannot be protected"},
	{files: landlock.AccessFSRefer, gap: "files cannot be moved between folders (Landlock 2, Linux 5.19)"},
	{files: landlock.AccessFSTruncate, gap: "files cannot be protected from being cut off (Landlock 3, Linux 6.2)"},
	{network: landlock.AccessNetBindTCP | landlock.AccessNetConnectTCP},
	{files: landlock.AccessFSIoctlDev, gap: "commands to devices cannot be restricted (Landlock 5, Linux 6.10)"},
	{scopes: landlock.ScopeAbstractUnixSocket | landlock.ScopeSignal, gap: "other processes cannot be protected from signals (Landlock 6, Linux 6.12)"},
	{},
	{},
	{files: landlock.AccessFSResolveUnix},
	{network: landlock.AccessNetBindUDP | landlock.AccessNetConnectSendUDP},
}

// landlockVersion returns the newest version of Landlock that the kernel has, 0 for none.
func landlockVersion() int {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// gapsOf returns what is open with a version of Landlock.
func gapsOf(version int) (gaps []string) {
	for i := version; i < len(landlockVersions); i++ {
		if gap := landlockVersions[i].gap; gap != "" {
			gaps = append(gaps, gap)
		}
	}
	if version == 0 {
		return gaps[:1] // which says it all
	}
	return gaps
}

// restrictFiles gives up all rights to files, and to TCP, but those of the plan, for this thread and what it executes. It also
// keeps signals within the sandbox.
func restrictFiles(plan *Plan, version int) error {
	rules := landlock.RulesetAttr{}
	for _, v := range landlockVersions[:min(version, len(landlockVersions))] {
		rules.HandledAccessFS |= v.files
		rules.Scoped |= v.scopes
		if !plan.Network {
			rules.HandledAccessNet |= v.network
		}
	}
	set, err := landlock.LandlockCreateRuleset(&rules, 0)
	if err != nil {
		return fmt.Errorf("creating the rules of Landlock: %w", err)
	}
	defer func() { _ = unix.Close(set) }()
	add := func(path string, rights uint64) error {
		if err := addRule(set, path, rights&rules.HandledAccessFS); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("a rule of Landlock for %s: %w", path, err)
		}
		return nil
	}
	var all []error
	if plan.ReadAll {
		all = append(all, addEverything(add))
	}
	for _, path := range plan.Read {
		all = append(all, add(path, readRights))
	}
	for _, path := range plan.Write {
		rights := uint64(readRights | writeRights)
		if isWithin(path, "/dev") {
			rights |= landlock.AccessFSIoctlDev
		}
		all = append(all, add(path, rights))
	}
	for _, path := range devices {
		all = append(all, add(path, deviceRights))
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	if err := landlock.LandlockRestrictSelf(set, 0); err != nil {
		return fmt.Errorf("putting the rules of Landlock in force: %w", err)
	}
	return nil
}

// addEverything lets the program read all that there is, but devices: a disk or a camera is no file. Of the root folder itself
// it can only see what is in it.
func addEverything(add func(path string, rights uint64) error) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	all := []error{add("/", landlock.AccessFSReadDir)}
	for _, entry := range entries {
		if entry.Name() != "dev" {
			all = append(all, add(filepath.Join("/", entry.Name()), readRights))
		}
	}
	return errors.Join(all...)
}

// addRule allows rights for what is at a path and below. A file has none of the rights of a folder.
func addRule(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	if rights == 0 {
		return nil
	}
	return landlock.LandlockAddPathBeneathRule(set, &landlock.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights}, 0)
}
