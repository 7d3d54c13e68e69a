package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

// isWine reports whether this is not Windows: Wine keeps an access list as the mode of a file, so that most of it is lost
// when it is changed later, and nothing is inherited.
func isWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// tempDir is t.TempDir without its end, which Wine does not know.
func tempDir(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "safefile-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && !entry.IsDir() {
				_ = os.Remove(path)
			}
			return nil
		})
	})
	return folder
}

// setList replaces the access list of a file by one in the language of Windows.
func setList(t *testing.T, path, text string) {
	t.Helper()
	descriptor, err := windows.SecurityDescriptorFromString(text)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil); err != nil {
		t.Fatal(err)
	}
}

func problem(t *testing.T, path string, forbidden fs.FileMode) string {
	t.Helper()
	_, info, err := Read(path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return AccessProblem(info, forbidden)
}

func TestAccessLists(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	mine := "(A;;FA;;;" + user.User.Sid.String() + ")"
	for _, test := range []struct{ name, list, change, read string }{
		{"mine", "D:P" + mine, "", ""},
		{"the system's as well", "D:P" + mine + "(A;;FA;;;SY)(A;;FA;;;BA)", "", ""},
		{"everyone reads", "D:P" + mine + "(A;;FR;;;WD)", "", "can be read by other users"},
		{"everyone writes", "D:P" + mine + "(A;;FA;;;WD)", "can be changed by every user of this machine", "can be changed by every user of this machine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if isWine() && test.change == "" && test.read == "" {
				t.Skip("Wine does not take rights away")
			}
			path := filepath.Join(tempDir(t), "file")
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			setList(t, path, test.list)
			if got := problem(t, path, Change); got != test.change {
				t.Errorf("change: %q", got)
			}
			if got := problem(t, path, ReadOrChange); got != test.read {
				t.Errorf("read: %q", got)
			}
		})
	}
}

func TestReplaceMakesPrivateFiles(t *testing.T) {
	folder := tempDir(t)
	setList(t, folder, "D:P(A;OICI;FA;;;WD)")
	path := filepath.Join(folder, "file")
	if err := Replace(path, ".new-*", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := problem(t, path, ReadOrChange); got != "" {
		t.Errorf("the file %s", got)
	}
	if got := ReplaceProblem(path); got == "" {
		t.Error("the folder is not noticed")
	}
	if err := Replace(path, ".new-*", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if got := problem(t, path, ReadOrChange); got != "" {
		t.Errorf("the replaced file %s", got)
	}
}

// An edited file keeps who has access to it.
func TestEditKeepsTheAccessList(t *testing.T) {
	folder := tempDir(t)
	private, shared := filepath.Join(folder, "private"), filepath.Join(folder, "shared")
	for _, path := range []string{private, shared} {
		if err := Edit(path, ".new-*", nil, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	setList(t, shared, "D:P(A;;FA;;;WD)")
	setList(t, folder, "D:P(A;OICI;FA;;;WD)")
	for path, isPrivate := range map[string]bool{private: true, shared: false} {
		if err := Edit(path, ".new-*", []byte("x"), []byte("y"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := problem(t, path, ReadOrChange); (got == "") != isPrivate {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestMakeFolder(t *testing.T) {
	top := tempDir(t)
	setList(t, top, "D:P(A;OICI;FA;;;WD)")
	folder := filepath.Join(top, "a", "b")
	for range 2 {
		if err := MakeFolder(folder); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(top, "a"), folder} {
		info, err := Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := AccessProblem(info, ReadOrChange); got != "" {
			t.Errorf("%s %s", path, got)
		}
	}
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := problem(t, path, ReadOrChange); got != "" && !isWine() {
		t.Errorf("a file in it %s", got)
	}
	if err := MakeFolder(path); err == nil {
		t.Error("a file is taken for a folder")
	}
	first, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := Read(path, 10)
	if err != nil || !SameFile(first, second) {
		t.Error("one file is taken for two", err)
	}
}
