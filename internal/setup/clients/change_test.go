package clients

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A file that gets a token is closed to others, and the record knows its mode even if another program wrote the file
// meanwhile. A file that does not get the token keeps its mode.
func TestModeOfFileWithToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mode says nothing there")
	}
	for _, test := range []struct {
		name   string
		writes int // how often the client writes in between
		mode   fs.FileMode
	}{{"undisturbed", 0, 0o600}, {"written once", 1, 0o600}, {"written all the time", 100, 0o640}} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mcp.json")
			count := 0
			write := func() {
				count++
				if err := os.WriteFile(file, []byte(strings.Repeat(" ", count)), 0o640); err != nil { // which keeps a mode
					t.Fatal(err)
				}
			}
			write()
			change, err := NewChange(file, 0o600, func([]byte) ([]byte, error) {
				if count <= test.writes {
					write()
				}
				return []byte("token"), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			change.HoldsToken = true
			store := Backups{Dir: t.TempDir()}
			err = change.Write(store, ByID("cursor"))
			if isWritten := test.mode == 0o600; isWritten != (err == nil) {
				t.Fatal(err)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != test.mode {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			last, err := store.Last("cursor", file)
			if err != nil || (last != nil) != (test.mode == 0o600) || last != nil && last.Mode != 0o640 {
				t.Errorf("%+v, %v", last, err)
			}
		})
	}
}
