package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// On Windows the mode of a file does not show who has access; its access list does. It is read with the info of a file that
// Open or Stat returns. The system and administrators count as root does on Unix: they have access to everything anyway.

// guarded is the info of a file with what its access list lets other users do.
type guarded struct {
	fs.FileInfo
	foreign             bool // another user owns it
	readable, writeable access
}

// access is who besides the owner can do something.
type access int

const (
	nobody access = iota
	others        // some users or groups
	everyone
)

// Rights in an access list.
const (
	readRights  = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL
	writeRights = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | fileDeleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER |
		windows.GENERIC_WRITE | windows.GENERIC_ALL
	fileDeleteChild = 0x40
)

// What an entry of an access list is, as far as it matters here.
const (
	allowsAccess         = 0
	allowsWithConditions = 9
	onlyInherited        = 0x8 // it is for what is in a folder, not for the folder
)

// withAccess adds to the info of an open file what its access list says.
func withAccess(file *os.File, info fs.FileInfo) (fs.FileInfo, error) {
	descriptor, err := windows.GetSecurityInfo(windows.Handle(file.Fd()), windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return info, &fs.PathError{Op: "read the access list of", Path: file.Name(), Err: err}
	}
	return judge(info, descriptor)
}

// Stat is os.Stat with what AccessProblem needs.
func Stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, &fs.PathError{Op: "read the access list of", Path: path, Err: err}
	}
	return judge(info, descriptor)
}

// SameFile is os.SameFile, also for infos of Open and Stat.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(plain(a), plain(b)) }

func plain(info fs.FileInfo) fs.FileInfo {
	if g, ok := info.(*guarded); ok {
		return g.FileInfo
	}
	return info
}

// judge finds out what users other than the present one can do.
func judge(info fs.FileInfo, descriptor *windows.SECURITY_DESCRIPTOR) (fs.FileInfo, error) {
	trusted, err := trustedUsers()
	if err != nil {
		return info, err
	}
	g := &guarded{FileInfo: info}
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil {
		return info, errors.Join(errors.New("the owner of a file is not known"), err)
	}
	g.foreign = !isTrusted(trusted, owner)
	list, _, err := descriptor.DACL()
	if err != nil && !errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) {
		return info, err
	}
	if list == nil { // everything is allowed
		g.readable, g.writeable = everyone, everyone
		return g, nil
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return info, err
		}
		if kind := entry.Header.AceType; kind != allowsAccess && kind != allowsWithConditions || entry.Header.AceFlags&onlyInherited != 0 {
			continue
		}
		user := (*windows.SID)(unsafe.Pointer(&entry.SidStart)) //nolint:gosec // an entry ends with the user that it is for
		if isTrusted(trusted, user) {
			continue
		}
		if entry.Mask&readRights != 0 {
			g.readable = max(g.readable, scopeOf(user))
		}
		if entry.Mask&writeRights != 0 {
			g.writeable = max(g.writeable, scopeOf(user))
		}
	}
	return g, nil
}

// trustedUsers returns who may have access: this user, the system, administrators, and whoever owns a file, which is checked.
func trustedUsers() ([]*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	users := []*windows.SID{user.User.Sid}
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{
		windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid, windows.WinCreatorOwnerSid, windows.WinCreatorOwnerRightsSid,
	} {
		known, err := windows.CreateWellKnownSid(kind)
		if err != nil {
			return nil, err
		}
		users = append(users, known)
	}
	return users, nil
}

func isTrusted(trusted []*windows.SID, user *windows.SID) bool {
	return slices.ContainsFunc(trusted, func(one *windows.SID) bool { return user.Equals(one) })
}

func scopeOf(user *windows.SID) access {
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{windows.WinWorldSid, windows.WinAuthenticatedUserSid, windows.WinBuiltinUsersSid, windows.WinInteractiveSid} {
		if user.IsWellKnown(kind) {
			return everyone
		}
	}
	return others
}

// AccessProblem returns how another user has forbidden access to a file or folder, as words that follow its name, or "". The
// info is one of Open, Read or Stat; of others it knows nothing.
func AccessProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	g, ok := info.(*guarded)
	switch {
	case !ok:
		return ""
	case g.foreign:
		return "belongs to another user"
	case g.writeable == everyone:
		return "can be changed by every user of this machine"
	case g.writeable == others:
		return "can be changed by other users"
	case forbidden&^Change != 0 && g.readable != nobody:
		return "can be read by other users"
	}
	return ""
}

// IsForeign reports whether a file belongs to another user.
func IsForeign(info fs.FileInfo) bool {
	g, ok := info.(*guarded)
	return ok && g.foreign
}

// StrangerProblem is AccessProblem: the system and administrators may own a file anyway.
func StrangerProblem(info fs.FileInfo, forbidden fs.FileMode) string {
	return AccessProblem(info, forbidden)
}

// changeProblem is for a path of which no access list was read.
func changeProblem(info fs.FileInfo) string { return AccessProblem(info, Change) }

// ReplaceProblem returns how a user other than this one can replace a file or link, or "": who can change its folder. The
// reason is a clause that names the folder.
func ReplaceProblem(path string) string {
	folder := filepath.Dir(path)
	info, err := Stat(folder)
	if err != nil {
		return "its folder cannot be examined: " + err.Error()
	}
	if reason := AccessProblem(info, Change); reason != "" {
		return "the folder " + folder + " " + reason
	}
	return ""
}

// Identity returns zeros here: the numbers of a file are not in its info.
func Identity(fs.FileInfo) (device, file uint64) { return 0, 0 }

// SyncFolder does nothing here: a folder cannot be synced.
func SyncFolder(string) error { return nil }
