//go:build unix

package mcptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// nobody is a user without rights.
const nobody = 65534

// AsNobody runs the tests of this program that a pattern names once more, as a user without rights, in a temporary folder
// of the test: root may do everything, which hides what fails. It does nothing for other users, whose tests show it anyway.
func AsNobody(folder, pattern string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for above := folder; above != os.TempDir() && above != filepath.Dir(above); above = filepath.Dir(above) {
		if err := os.Chmod(above, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chown(folder, nobody, nobody); err != nil {
		return err
	}
	executable := "/proc/self/exe" // which needs no right to the folders above it
	if _, err := os.Stat(executable); err != nil {
		executable = os.Args[0]
	}
	command := exec.Command(executable, "-test.run="+pattern)
	command.Env = append(os.Environ(), "HOME="+folder, "TMPDIR="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("as a user without rights: %w\n%s", err, output)
	}
	return nil
}
