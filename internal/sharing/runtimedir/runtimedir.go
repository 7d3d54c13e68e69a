// Package runtimedir manages the folder with the sockets of a user's running workbenches, which no
// other user can reach or create.
package runtimedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// Dir is the folder. It exists and belongs to the user.
type Dir struct{ path string }

// ErrInUse is the error if another program listens on a socket.
var ErrInUse = errors.New("another program listens on this socket")

// longestName is the length of a socket's name, in bytes.
const longestName = 32

// Open returns the folder and creates it if needed: $XDG_RUNTIME_DIR/mcp-workbench, else a folder
// beside the state, else, if that path is too long for a socket, one for this user in the folder for
// temporary files. A folder that another user created or can change is refused.
func Open(getenv func(string) string, stateDir string) (Dir, error) {
	var problems error
	for _, path := range candidates(getenv, stateDir) {
		if len(path)+1+longestName > longestPath() {
			problems = errors.Join(problems, fmt.Errorf("the name of %s is too long for a socket in it", path))
			continue
		}
		err := secure(path)
		if err == nil {
			return Dir{path}, nil
		}
		problems = errors.Join(problems, err)
	}
	return Dir{}, fmt.Errorf("there is no folder for sockets: %w", problems)
}

func candidates(getenv func(string) string, stateDir string) (paths []string) {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		// Whoever sets the variable creates the folder, so a missing one is not created here.
		if _, err := os.Stat(dir); err == nil {
			paths = append(paths, filepath.Join(dir, "mcp-workbench"))
		}
	}
	if stateDir != "" {
		paths = append(paths, filepath.Join(stateDir, "run"))
	}
	if runtime.GOOS != "windows" { // where that folder may be open to all
		paths = append(paths, filepath.Join("/tmp", "mcp-workbench-"+strconv.Itoa(os.Geteuid())))
	}
	return paths
}

// Existing returns the folders of this user that Open may have returned at some time, and that exist.
func Existing(getenv func(string) string, stateDir string) (paths []string) {
	for _, path := range candidates(getenv, stateDir) {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && foreignAccess(info) == "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// longestPath is the length of a socket's address, in bytes.
func longestPath() int {
	if runtime.GOOS == "darwin" {
		return 103
	}
	return 107
}

// secure creates the folder, and refuses one that other users can change.
func secure(path string) error {
	if err := safefile.MakeFolder(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path) // a link could lead anywhere
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", path)
	}
	if reason := foreignAccess(info); reason != "" {
		return fmt.Errorf("%s %s", path, reason)
	}
	return nil
}

// Path returns the path of a file in the folder.
func (d Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Listen listens on a socket in the folder, for this user alone. It replaces the socket of a killed
// program; callers must prevent concurrent calls. Closing the listener removes the socket.
func (d Dir) Listen(name string) (net.Listener, error) {
	path := d.Path(name)
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
		return nil, ErrInUse
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil && runtime.GOOS != "windows" {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Dial connects to a socket, which need not be in the folder, of a program of this user.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// IsAbsent reports whether an error of Dial means that no program listens there.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isRefused(err)
}

// CheckPeer checks that the program at the other end of a socket belongs to this user, if the system provides that.
// Elsewhere the permissions of the folder have to suffice.
func CheckPeer(conn net.Conn) error {
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("the connection is not a socket")
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return err
	}
	uid, known := -1, false
	if err := control.Control(func(fd uintptr) { uid, known, err = peerUser(int(fd)) }); err != nil {
		return err
	}
	switch {
	case err != nil:
		return fmt.Errorf("the system does not report the owner of the program at the other end of the socket: %w", err)
	case known && uid != os.Geteuid():
		return fmt.Errorf("the program at the other end of the socket belongs to another user (%d)", uid)
	}
	return nil
}
