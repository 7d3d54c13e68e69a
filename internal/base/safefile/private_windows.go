package safefile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// private returns the attributes of a file or folder for this user, the system and administrators alone, which inherits
// nothing. What is made in a folder with them has the same.
func private(isFolder bool) (*windows.SecurityAttributes, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	flags := ""
	if isFolder {
		flags = "OICI"
	}
	list := "D:P"
	for _, who := range []string{user.User.Sid.String(), "SY", "BA"} {
		list += "(A;" + flags + ";FA;;;" + who + ")"
	}
	descriptor, err := windows.SecurityDescriptorFromString(list)
	if err != nil {
		return nil, err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: descriptor}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	return attributes, nil
}

// PrivateCommand is the command that lets only this user use a file or folder, whose path is quoted for a shell.
func PrivateCommand(quoted string, _ bool) string {
	return "icacls " + quoted + ` /inheritance:r /grant:r "%USERNAME%:F"`
}

// createTemp is os.CreateTemp for a file with the access list of another one from its beginning, whatever its folder; "": it
// is private.
func createTemp(folder, pattern, like string) (*os.File, error) {
	attributes, err := private(false)
	if err != nil {
		return nil, err
	}
	if like != "" {
		if attributes.SecurityDescriptor, err = windows.GetNamedSecurityInfo(like, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION); err != nil {
			return nil, &fs.PathError{Op: "read the access list of", Path: like, Err: err}
		}
	}
	before, after, _ := strings.Cut(pattern, "*")
	path := filepath.Join(folder, before+rand.Text()+after)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		attributes, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// MakeFolder makes a folder that only this user can use, and the missing ones above it likewise. One that exists stays as it
// is.
func MakeFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MakeFolder(parent); err != nil {
			return err
		}
	}
	attributes, err := private(true)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	if err := windows.CreateDirectory(name, attributes); err != nil && !errors.Is(err, syscall.ERROR_ALREADY_EXISTS) {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}
